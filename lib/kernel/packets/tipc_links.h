// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <map>
#include <string>
#include <string_view>

namespace teamo {

/// The bearer in the name of a TIPC link: "eth1" of "1.1.1:eth1-1.1.2:eth1"; empty if it has another form.
std::string_view tipc_bearer_of(std::string_view link);

/// The working links of the TIPC network that this network namespace is in (net/tipc/topsrv.c).
class TipcLinks {
public:
    /// EAFNOSUPPORT: the kernel has no TIPC.
    static Result<TipcLinks> open();

    int fd() const { return socket_.get(); }
    /// Reads all events. The links that are there come as events too. False: the kernel has closed the
    /// connection.
    bool read();
    /// True if a link by this bearer works. `bearer`: the device's name, with or without "eth:".
    bool has_link(std::string_view bearer) const;

private:
    explicit TipcLinks(UniqueFd socket) : socket_(std::move(socket)) {}
    UniqueFd socket_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> bearers_; ///< by peer and bearer's number
};

} // namespace teamo
