// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Where our programs belong on one hook of a device, beside those of others (docs/adr/0034). Pure: what was
// read in, the next change out.
#pragma once

#include "kernel/bpf/device_hooks.h"
#include "kernel/netlink/traffic_control.h"
#include "model/programs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// A hook of a device; `netkit` is that of the primary device of a netkit pair.
enum class Hook : std::uint8_t { ingress, egress, netkit };
template <>
inline constexpr std::array<std::string_view, 3> enum_names<Hook>{"ingress", "egress", "netkit"};

/// What a program of ours does. A hook has at most one program of a duty.
enum class Duty : std::uint8_t {
    guard,
    receive,
    transmit,
    recheck,
    avoid_lost_link,
    meter,
    send_by_backup,
    hand_in,
    sift
};
/// As in the programs' source; the kernel cuts them to 15 letters, in which they must differ. That names
/// start with "teamo_" is frozen, as our_handle is: by them any version knows the programs of any other.
template <>
inline constexpr std::array<std::string_view, 9> enum_names<Duty>{
    "teamo_guard", "teamo_receive",        "teamo_transmit", "teamo_recheck", "teamo_avoid_lost_link",
    "teamo_meter", "teamo_send_by_backup", "teamo_hand_in",  "teamo_sift"};

/// True for a program on a port, which is a filter of clsact: when the port moves to another network
/// namespace, the kernel removes filters, but not programs of tcx, and the index in our tables would be that
/// of another device there.
constexpr bool is_of_port(Duty duty) {
    return duty == Duty::guard || duty == Duty::receive || duty == Duty::avoid_lost_link ||
           duty == Duty::sift;
}

/// True for a program with Order::late. It is on the device's own hook only while it is alone there: those of
/// others, and their filters, which come after that hook, must see what it redirects.
constexpr bool is_late(Duty duty) { return duty == Duty::send_by_backup || duty == Duty::hand_in; }

/// Where the program runs among those of others.
enum class Order : std::uint8_t {
    first, ///< it lets frames go on, so that all others see what it does not drop
    last,  ///< it redirects: what others drop, count or mirror, they do before
    late,  ///< it redirects or copies for a moment, and else lets frames go on: after others as well
};

/// How a program is attached.
enum class Attachment : std::uint8_t { device, filter }; ///< tcx or netkit; a filter of clsact

struct WantedProgram {
    Duty duty{};
    Order order{};
    ProgramId id{}; ///< 0: no program with that duty belongs there
};

/// A program on the device's own hook; `name` is empty if it is not known.
struct SeenProgram {
    ProgramId id{};
    std::string name{};
    bool operator==(const SeenProgram&) const = default;
};

/// One hook, as read.
struct HookView {
    bool by_device = false;              ///< the kernel has the device's own hook (tcx, netkit)
    std::vector<SeenProgram> programs{}; ///< on it, in order
    std::vector<TcFilter> filters{};     ///< of clsact, in order; they run after the programs
    bool operator==(const HookView&) const = default;
};

inline constexpr std::uint32_t our_handle = 0x7ea0;

/// The next change; a hook is right when there is none.
struct HookStep {
    enum class What : std::uint8_t { attach_program, detach_program, attach_filter, detach_filter } what{};
    Duty duty{};                ///< of what is attached
    ProgramId next{};           ///< attach_program: it goes before that one; 0: after all
    std::size_t place = 0;      ///< detach_program: in HookView::programs
    std::uint32_t priority = 0; ///< of a filter
    bool moves = false;         ///< detach_program: a program of ours that another one has displaced
    bool operator==(const HookStep&) const = default;
};

/// `wanted`: in the order in which they run. Programs of ours with other duties stay as they are: an earlier
/// daemon's carry until those of this one are there. Those with a duty that this version does not know go.
/// `may_move`: whether a displaced program gets its place back.
std::optional<HookStep> next_step(const HookView& view, const std::vector<WantedProgram>& wanted,
                                  bool may_move);

const WantedProgram* find_wanted(const std::vector<WantedProgram>& wanted, ProgramId id);

/// How a program with that duty is to be attached there.
Attachment wanted_attachment(const HookView& view, Duty duty);

/// How a program that is on the hook is attached; none: it is not there.
std::optional<Attachment> attachment_of(const HookView& view, ProgramId id);

/// True if an earlier daemon's program, or one of `wanted`, with that duty is on the hook.
bool has_duty(const HookView& view, Duty duty);

/// Those that run before the program and may keep frames from it.
std::vector<ForeignProgram> programs_before(const HookView& view, ProgramId id, std::string_view kind);

/// True for a name of ours, also one that the kernel or libbpf has changed.
bool is_name_of_ours(std::string_view name);
/// True for the filters that we attach.
bool is_ours(const TcFilter& filter);

} // namespace teamo
