// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The options of the kernel's team driver (drivers/net/team), through libteam, which keeps a copy of them and
// updates it by the driver's events.
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

struct team_handle;

namespace teamo {

/// An option of the team or of one of its ports, or one element of an array option.
struct TeamOption {
    std::string name;
    IfIndex port{};
    std::optional<std::uint32_t> place{};
};
/// The driver's types: NLA_U32, NLA_S32, NLA_FLAG, NLA_STRING, NLA_BINARY.
using TeamValue = std::variant<std::uint32_t, std::int32_t, bool, std::string, std::vector<std::byte>>;

class TeamDriver {
public:
    /// True if ports have the options rx_enabled and tx_enabled, as in new kernels. Read from the driver's
    /// BTF, because its options of ports can be asked only while there are ports.
    static bool has_rx_enabled();

    /// ENODEV and others: the device is not of the team driver, or the driver does not answer.
    static Result<TeamDriver> open(IfIndex team);

    /// The last known value; none if the driver has no such option now.
    std::optional<TeamValue> get(const TeamOption& option) const;
    /// Sets the option unless it has the value already. ENOENT: the driver has no such option.
    Result<> set(const TeamOption& option, const TeamValue& value);
    /// The same, also if the value is the last known one.
    Result<> write(const TeamOption& option, const TeamValue& value);

    /// Readable when there are events of the driver.
    int event_fd() const;
    /// Handles pending events without waiting. Reads all options again if events were lost. True: there were
    /// events.
    Result<bool> take_events();

private:
    explicit TeamDriver(team_handle* handle) : handle_(handle) {}
    struct Free {
        void operator()(team_handle* handle) const noexcept;
    };
    std::unique_ptr<team_handle, Free> handle_;
    bool stale_ = false; ///< events were lost, and the options could not be read since
};

} // namespace teamo
