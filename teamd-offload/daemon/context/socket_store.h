// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sockets of ports outlive the process: systemd keeps a descriptor of each and gives it to the next one
// (sd_pid_notify_with_fds(3), FDSTORE=1). What arrives meanwhile waits there, and neither the end of a
// process nor the next start closes a packet socket, for which the kernel waits some 10 ms each
// (net/packet/af_packet.c: packet_release). Without systemd they are as any others.
#pragma once

#include "kernel/packets/packet_socket.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace teamo {

class SocketStore {
public:
    /// Takes what was kept of an earlier process.
    SocketStore();

    struct Forget {
        SocketStore* store = nullptr;
        std::string name{};
        bool is_earlier = false; ///< what it receives first may have come before this process
        void operator()(PortSocket* socket) const;
    };
    /// When it ends, it is not kept any more, except before drop_rest(). The store must outlive it.
    using Socket = std::unique_ptr<PortSocket, Forget>;

    /// As PortSocket::open(). `use`: for what, one of a port; the earlier process's socket for it is taken.
    Result<Socket> open(IfIndex device, std::string_view use, const PortSocket::What& what);
    /// Forgets those of the earlier process that nobody has opened: what is tried again has been tried.
    void drop_rest();
    /// The process ends, and another one follows: what is open now stays in the store.
    void keep_all() { keeps_ = true; }

private:
    using Sockets = std::map<std::string, UniqueFd>; ///< by use and device
    /// Closes them in a thread, and when systemd has forgotten them, which would wait for the kernel
    /// otherwise.
    static void drop(Sockets sockets);

    Sockets earlier_;
    bool starts_ = true; ///< until drop_rest()
    bool keeps_ = false;
};

} // namespace teamo
