// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/programs/hook_plan.h"

#include <algorithm>

namespace teamo {
namespace {

// tc(8) numbers filters without a priority from 49152 down, so the last one runs after them. Of the first
// ones the priority 1 is left to others, which use it as their own and fail if it is taken (Cilium).
constexpr std::uint32_t first_priority = 2, last_priority = 50000;

constexpr std::size_t longest_name = 15; // BPF_OBJ_NAME_LEN without the NUL

bool has_name_of(std::string_view name, Duty duty) {
    // A filter of libbpf has ":[id]" after the name.
    return name.substr(0, longest_name).substr(0, name.find(':')) ==
           std::string_view(name_of(duty)).substr(0, longest_name);
}

/// None for a program of others, and for ours with a duty that is not named there.
const WantedProgram* find_duty(const std::vector<WantedProgram>& wanted, std::string_view name) {
    const auto found = std::ranges::find_if(
        wanted, [name](const WantedProgram& one) { return has_name_of(name, one.duty); });
    return found == wanted.end() ? nullptr : &*found;
}

/// Of a later version of this program, which went back to this one.
bool has_unknown_duty(std::string_view name) {
    for (std::size_t duty = 0; duty < enum_names<Duty>.size(); ++duty)
        if (has_name_of(name, static_cast<Duty>(duty))) return false;
    return is_name_of_ours(name);
}

using Places = std::vector<SeenProgram>;

std::size_t place_of(const Places& programs, ProgramId id) {
    return static_cast<std::size_t>(std::ranges::find(programs, id, &SeenProgram::id) - programs.begin());
}

/// The program before which one belongs that is not on the hook: an earlier daemon's with its duty, or the
/// first that does not run before it.
ProgramId next_of(const HookView& view, const std::vector<WantedProgram>& wanted, const WantedProgram& one) {
    const auto& programs = view.programs;
    for (const auto& seen : programs)
        if (has_name_of(seen.name, one.duty)) return seen.id;
    // After those of ours that run before it.
    std::size_t place = 0;
    for (const auto& other : wanted) {
        if (other.duty == one.duty) break;
        const auto at = place_of(programs, other.id);
        if (at < programs.size()) place = std::max(place, at + 1);
    }
    return place < programs.size() ? programs[place].id : ProgramId{};
}

/// True if a foreign program runs on the wrong side of it, or one of ours in the wrong order.
bool is_displaced(const HookView& view, const std::vector<WantedProgram>& wanted, std::size_t place) {
    const auto& programs = view.programs;
    const auto* one = find_wanted(wanted, programs[place].id);
    const auto is_foreign = [](const SeenProgram& seen) { return !is_name_of_ours(seen.name); };
    const auto here = programs.begin() + static_cast<std::ptrdiff_t>(place);
    return std::any_of(programs.begin(), here, [&](const SeenProgram& seen) {
        const auto* other = find_wanted(wanted, seen.id);
        return other == nullptr ? is_foreign(seen) : other > one;
    });
}

/// A priority at which only our filter is, in the order of `wanted`.
std::uint32_t priority_of(const HookView& view, const std::vector<WantedProgram>& wanted,
                          const WantedProgram& one) {
    std::uint32_t priority = one.order == Order::first ? first_priority : last_priority;
    const auto is_taken = [&] {
        return std::ranges::any_of(view.filters, [&](const TcFilter& filter) {
            return filter.priority == priority && !is_ours(filter);
        });
    };
    for (const auto& other : wanted) {
        if (other.order != one.order) continue;
        while (is_taken())
            ++priority;
        if (other.duty == one.duty) break;
        ++priority;
    }
    return priority;
}

std::optional<HookStep> missing_program(const HookView& view, const std::vector<WantedProgram>& wanted) {
    using enum HookStep::What;
    for (const auto& one : wanted) {
        if (!one.id) continue;
        if (wanted_attachment(view, one.duty) == Attachment::device) {
            if (place_of(view.programs, one.id) < view.programs.size()) continue;
            return HookStep{.what = attach_program, .duty = one.duty, .next = next_of(view, wanted, one)};
        }
        const auto priority = priority_of(view, wanted, one);
        const auto is_it = [&](const TcFilter& filter) {
            return is_ours(filter) && filter.priority == priority && filter.id == one.id.value;
        };
        if (std::ranges::none_of(view.filters, is_it))
            return HookStep{.what = attach_filter, .duty = one.duty, .priority = priority};
    }
    return std::nullopt;
}

/// Of another daemon, or ours where it does not belong any more.
std::optional<HookStep> needless_program(const HookView& view, const std::vector<WantedProgram>& wanted) {
    using enum HookStep::What;
    for (std::size_t place = 0; place < view.programs.size(); ++place) {
        const auto& seen = view.programs[place];
        if (has_unknown_duty(seen.name)) return HookStep{.what = detach_program, .place = place};
        const auto* one = find_duty(wanted, seen.name);
        if (one == nullptr) continue;
        const bool belongs = seen.id == one->id && wanted_attachment(view, one->duty) == Attachment::device;
        if (!belongs) return HookStep{.what = detach_program, .place = place};
    }
    for (const auto& filter : view.filters) {
        if (!is_ours(filter)) continue;
        if (has_unknown_duty(filter.name))
            return HookStep{.what = detach_filter, .priority = filter.priority};
        const auto* one = find_duty(wanted, filter.name);
        if (one == nullptr) continue;
        const bool belongs = filter.id == one->id.value &&
                             wanted_attachment(view, one->duty) == Attachment::filter &&
                             filter.priority == priority_of(view, wanted, *one);
        if (!belongs) return HookStep{.what = detach_filter, .priority = filter.priority};
    }
    return std::nullopt;
}

} // namespace

bool is_name_of_ours(std::string_view name) { return name.starts_with("teamo_"); }

bool is_ours(const TcFilter& filter) {
    return filter.handle == our_handle && filter.kind == "bpf" && is_name_of_ours(filter.name);
}

const WantedProgram* find_wanted(const std::vector<WantedProgram>& wanted, ProgramId id) {
    const auto found = std::ranges::find(wanted, id, &WantedProgram::id);
    return !id || found == wanted.end() ? nullptr : &*found;
}

Attachment wanted_attachment(const HookView& view, Duty duty) {
    const auto is_another = [duty](const SeenProgram& seen) { return !has_name_of(seen.name, duty); };
    const auto is_another_filter = [duty](const TcFilter& filter) {
        return !is_ours(filter) || !has_name_of(filter.name, duty);
    };
    const bool is_shared = std::ranges::any_of(view.programs, is_another) ||
                           std::ranges::any_of(view.filters, is_another_filter);
    return view.by_device && !is_of_port(duty) && !(is_late(duty) && is_shared) ? Attachment::device
                                                                                : Attachment::filter;
}

std::optional<HookStep> next_step(const HookView& view, const std::vector<WantedProgram>& wanted,
                                  bool may_move) {
    // What is new comes first: no frame passes without a program.
    if (auto step = missing_program(view, wanted)) return step;
    if (auto step = needless_program(view, wanted)) return step;
    if (!may_move) return std::nullopt;
    for (std::size_t place = 0; place < view.programs.size(); ++place)
        if (find_wanted(wanted, view.programs[place].id) != nullptr && is_displaced(view, wanted, place))
            return HookStep{.what = HookStep::What::detach_program, .place = place, .moves = true};
    return std::nullopt;
}

std::optional<Attachment> attachment_of(const HookView& view, ProgramId id) {
    if (place_of(view.programs, id) < view.programs.size()) return Attachment::device;
    const auto is_it = [id](const TcFilter& filter) { return is_ours(filter) && filter.id == id.value; };
    return std::ranges::any_of(view.filters, is_it) ? std::optional(Attachment::filter) : std::nullopt;
}

bool has_duty(const HookView& view, Duty duty) {
    return std::ranges::any_of(view.programs,
                               [duty](const auto& seen) { return has_name_of(seen.name, duty); }) ||
           std::ranges::any_of(view.filters, [duty](const TcFilter& filter) {
               return is_ours(filter) && has_name_of(filter.name, duty);
           });
}

std::vector<ForeignProgram> programs_before(const HookView& view, ProgramId id, std::string_view kind) {
    std::vector<ForeignProgram> list;
    for (const auto& seen : view.programs) {
        if (seen.id == id) return list;
        if (!is_name_of_ours(seen.name))
            list.push_back({.kind = std::string(kind), .name = seen.name, .id = seen.id.value});
    }
    for (const auto& filter : view.filters) {
        if (is_ours(filter) && filter.id == id.value) return list;
        if (is_ours(filter) || filter.verdict == TcVerdict::goes_on) continue;
        list.push_back({.kind = filter.kind,
                        .name = filter.name,
                        .id = filter.id,
                        .priority = filter.priority,
                        .takes = filter.verdict == TcVerdict::takes});
    }
    return list;
}

} // namespace teamo
