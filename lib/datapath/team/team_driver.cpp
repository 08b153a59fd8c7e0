// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team/team_driver.h"

#include "base/match.h"
#include "kernel/bpf/kernel_types.h"

#include <poll.h>
#include <team.h>

#include <algorithm>
#include <cstdarg>

namespace teamo {
namespace {

/// Discards libteam's messages: failures are returned as numbers, and our callers report them.
void discard_message(team_handle* /*handle*/, int /*priority*/, const char* /*file*/, int /*line*/,
                     const char* /*function*/, const char* /*format*/, va_list /*arguments*/) {}

/// Finds an option by libteam's format letters; "!" prevents that libteam creates an option that it does not
/// find.
team_option* find(team_handle* handle, const TeamOption& option) {
    const char* name = option.name.c_str();
    if (option.port && option.place)
        return team_get_option(handle, "npa!", name, option.port.value, *option.place);
    if (option.port) return team_get_option(handle, "np!", name, option.port.value);
    if (option.place) return team_get_option(handle, "na!", name, *option.place);
    return team_get_option(handle, "n!", name);
}

std::optional<TeamValue> value_of(team_option* option) {
    if (option == nullptr || !team_is_option_initialized(option)) return std::nullopt;
    switch (team_get_option_type(option)) {
    case TEAM_OPTION_TYPE_U32: return team_get_option_value_u32(option);
    case TEAM_OPTION_TYPE_S32: return team_get_option_value_s32(option);
    case TEAM_OPTION_TYPE_BOOL: return team_get_option_value_bool(option);
    case TEAM_OPTION_TYPE_STRING: return std::string(team_get_option_value_string(option));
    case TEAM_OPTION_TYPE_BINARY: {
        const auto* bytes = static_cast<const std::byte*>(team_get_option_value_binary(option));
        return std::vector<std::byte>(bytes, bytes + team_get_option_value_len(option));
    }
    }
    return std::nullopt;
}

std::string text_of(const TeamOption& option) {
    auto text = option.name;
    if (option.place) text += fmt::format("[{}]", *option.place);
    if (option.port) text += fmt::format(" of device {}", option.port.value);
    return text;
}

} // namespace

bool TeamDriver::has_rx_enabled() {
    const auto types = KernelTypes::with_module("team");
    return types && types->offset("team_port", "rx_enabled").has_value();
}

void TeamDriver::Free::operator()(team_handle* handle) const noexcept { team_free(handle); }

Result<TeamDriver> TeamDriver::open(IfIndex team) {
    TeamDriver driver(team_alloc());
    if (!driver.handle_) return fail_errno(ENOMEM, "cannot initialize libteam");
    team_set_log_fn(driver.handle_.get(), discard_message);
    if (const int error = team_init(driver.handle_.get(), team.value); error < 0)
        return fail_errno(-error, "cannot read the options of the team driver");
    return driver;
}

std::optional<TeamValue> TeamDriver::get(const TeamOption& option) const {
    return value_of(find(handle_.get(), option));
}

Result<> TeamDriver::set(const TeamOption& option, const TeamValue& value) {
    return get(option) == value ? Result<>() : write(option, value);
}

Result<> TeamDriver::write(const TeamOption& option, const TeamValue& value) {
    auto* found = find(handle_.get(), option);
    if (found == nullptr)
        return fail(ENOENT, fmt::format("the team driver has no option {}", text_of(option)));
    auto* handle = handle_.get();
    const int error = std::visit(
        Match{[&](std::uint32_t number) { return team_set_option_value_u32(handle, found, number); },
              [&](std::int32_t number) { return team_set_option_value_s32(handle, found, number); },
              [&](bool flag) { return team_set_option_value_bool(handle, found, flag); },
              [&](const std::string& text) {
                  return team_set_option_value_string(handle, found, text.c_str());
              },
              [&](const std::vector<std::byte>& bytes) {
                  return team_set_option_value_binary(handle, found, bytes.data(),
                                                      static_cast<unsigned>(bytes.size()));
              }},
        value);
    if (error < 0)
        return fail_errno(-error, fmt::format("cannot set team driver option {}", text_of(option)));
    return {};
}

int TeamDriver::event_fd() const { return team_get_event_fd(handle_.get()); }

Result<bool> TeamDriver::take_events() {
    bool any = stale_;
    // team_check_events() would block if there are no events (libteam 1.31).
    pollfd waiting{.fd = event_fd(), .events = POLLIN, .revents = 0};
    while (::poll(&waiting, 1, 0) > 0) {
        any = true;
        stale_ |= team_handle_events(handle_.get()) != 0;
    }
    if (!stale_) return any;
    if (const int error = team_refresh(handle_.get()); error < 0)
        return fail_errno(-error, "cannot read the options of the team driver");
    stale_ = false;
    return any;
}

} // namespace teamo
