// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's unix socket: SOCK_SEQPACKET, one request and one reply at a time for each client. The daemon never
// blocks on a client.
#pragma once

#include "control/usock_message.h"
#include "log.h"
#include "loop.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace teamo {

class ControlServer {
public:
    using Answer = std::function<control::Reply(const control::Request&)>;

    /// Listens at `path` (mode 0660, with the group of the daemon) and replaces a stale socket there. The
    /// destructor removes the path.
    static Result<std::unique_ptr<ControlServer>> listen(sd_event* loop, std::string path, const Log& log,
                                                         Answer answer);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

private:
    struct Client {
        UniqueFd socket;
        std::optional<Io> io;
        control::Permission permission = control::Permission::none;
        std::string unsent; ///< a reply that waits for buffer space; no request is read until it is sent
    };

    ControlServer(sd_event* loop, std::string path, UniqueFd socket, const Log& log, Answer answer)
        : loop_(loop),
          path_(std::move(path)),
          socket_(std::move(socket)),
          log_(log),
          answer_(std::move(answer)) {}
    void accept();
    void serve(int fd, std::uint32_t events);
    bool receive(Client& client);
    bool send(Client& client);

    sd_event* loop_;
    std::string path_;
    UniqueFd socket_;
    const Log& log_;
    Answer answer_;
    std::optional<Io> io_;
    std::map<int, Client> clients_;
};

} // namespace teamo
