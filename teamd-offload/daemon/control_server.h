// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's unix socket: SOCK_SEQPACKET, one request and one reply at a time for each client. The daemon never
// blocks on a client, and works for readers only within their limits (control/readers.h).
#pragma once

#include "control/readers.h"
#include "control/usock_message.h"
#include "daemon/context/log.h"
#include "daemon/context/loop.h"

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
    struct Peer {
        uid_t user = 0;
        control::Permission permission = control::Permission::none;
        bool is_reader() const { return permission == control::Permission::read; }
    };
    struct Client {
        UniqueFd socket;
        std::optional<Io> io;
        Peer peer;
        std::string unsent; ///< a reply that waits for buffer space; no request is read until it is sent
    };

    static constexpr control::CpuBudget::Limits limits_of_connecting{.at_once = std::chrono::milliseconds(50),
                                                                     .percent = 3};

    ControlServer(sd_event* loop, std::string path, UniqueFd socket, const Log& log, Answer answer)
        : loop_(loop),
          path_(std::move(path)),
          socket_(std::move(socket)),
          log_(log),
          answer_(std::move(answer)) {}
    static Peer peer_of(int socket);
    void accept();
    void admit(UniqueFd socket, const Peer& peer);
    bool has_place(const Peer& peer);
    void pause_listening(Clock::time_point until);
    void serve(int fd, std::uint32_t events);
    bool is_paused(const Client& client) const;
    void await_events(Client& client);
    void resume();
    bool receive(Client& client);
    bool send(Client& client);
    void warn(const std::string& text, std::string_view prefix = "");

    sd_event* loop_;
    std::string path_;
    UniqueFd socket_;
    const Log& log_;
    Answer answer_;
    std::optional<Io> io_;
    std::optional<Timer> listening_again_; ///< set while it does not listen
    std::map<int, Client> clients_;
    control::Readers readers_;
    /// Of all readers, for connections that come and go.
    control::CpuBudget connecting_{limits_of_connecting};
    std::optional<Timer> resume_; ///< for readers that are paused
    std::optional<Clock::time_point> resume_at_;
    std::map<std::string, LogOnce> warned_; ///< until `warned_until_`
    Clock::time_point warned_until_{};
};

} // namespace teamo
