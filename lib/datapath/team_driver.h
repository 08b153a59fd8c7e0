// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The options of the kernel's team driver (drivers/net/team), through libteam, which keeps a copy of them
// up to date by the driver's own events.
#pragma once

#include "base/handle.h"
#include "base/named.h"
#include "base/result.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

struct team_handle;

namespace teamo {

/// An option of the team, of one of its ports, or one place of an array of them.
struct TeamOption {
    std::string name;
    IfIndex port{};
    std::optional<std::uint32_t> place{};
};
/// As the driver types them: NLA_U32, NLA_S32, NLA_FLAG, NLA_STRING, NLA_BINARY.
using TeamValue = std::variant<std::uint32_t, std::int32_t, bool, std::string, std::vector<std::byte>>;

class TeamDriver {
public:
    /// ENODEV and others: the device is none of the driver's, or the driver cannot be asked.
    static Result<TeamDriver> open(IfIndex team);

    TeamDriver(TeamDriver&&) noexcept;
    TeamDriver& operator=(TeamDriver&&) noexcept;
    ~TeamDriver();

    /// As last told; none where the driver has no such option now.
    std::optional<TeamValue> get(const TeamOption& option) const;
    /// Tells the driver, unless it is so already. ENOENT: it has no such option.
    Result<> set(const TeamOption& option, const TeamValue& value);

    /// Readable when the driver has news.
    int event_fd() const;
    /// Takes in the news that wait; does not wait for any. What was lost is read anew. True: there were some.
    Result<bool> take_events();

private:
    explicit TeamDriver(team_handle* handle);
    struct Free {
        void operator()(team_handle* handle) const noexcept;
    };
    std::unique_ptr<team_handle, Free> handle_;
};

} // namespace teamo
