// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/programs/device_programs.h"

#include <fcntl.h>

#include <algorithm>

namespace teamo {
namespace {

/// A displaced program gets its place back so often; then another one insists on it too.
constexpr unsigned most_displacements = 3;

/// More steps than a hook ever needs: somebody else changes it all the time.
constexpr int most_steps = 32;

DeviceHook device_hook(Hook hook) {
    constexpr std::array hooks{DeviceHook::tcx_ingress, DeviceHook::tcx_egress, DeviceHook::netkit_primary};
    return hooks[static_cast<std::size_t>(hook)];
}

constexpr auto duty_of = [](const auto& program) { return program.wanted.duty; };

TcHook tc_hook(Hook hook) { return hook == Hook::ingress ? TcHook::ingress : TcHook::egress; }

} // namespace

bool Rounds::begin(Clock::time_point now) {
    count_ = count(now);
    if (count_ >= at_once) {
        const auto pause =
            std::min(longest, std::chrono::seconds(1) * (1U << std::min(count_ - at_once, 5U)));
        if (now - last_ < pause) return false;
    }
    ++count_;
    last_ = now;
    return true;
}

Result<std::unique_ptr<DevicePrograms>> DevicePrograms::open(ProgramNames& names) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return std::unique_ptr<DevicePrograms>(new DevicePrograms(std::move(socket), names));
}

std::vector<WantedProgram> DevicePrograms::wanted_of(const Place& place) {
    std::vector<WantedProgram> wanted;
    for (const auto& program : place.programs)
        wanted.push_back(program.wanted);
    return wanted;
}

Result<HookView> DevicePrograms::read(Key key) {
    const auto [device, hook] = key;
    HookView view;
    auto list = read_device_programs(device, device_hook(hook));
    // Without names an earlier daemon's programs cannot be told from those of others.
    if (list && hook != Hook::netkit && !TEAMO_TRY(names_.are_known()))
        list = fail_errno(EINVAL, "the names of BPF programs are not known");
    if (!list && (list.error().number != EINVAL || hook == Hook::netkit)) return tl::unexpected(list.error());
    if (list) {
        view.by_device = true;
        for (const auto id : list->ids)
            view.programs.push_back({.id = id, .name = TEAMO_TRY(names_.of(id))});
    }
    if (hook != Hook::netkit) view.filters = TEAMO_TRY(read_filters(socket_, device, tc_hook(hook)));
    return view;
}

/// Makes sure that the device has the hook.
Result<> DevicePrograms::prepare_clsact(Key key) {
    const auto [device, hook] = key;
    const auto kind = TEAMO_TRY(read_hook_qdisc(socket_, device));
    if (kind == "ingress" && hook == Hook::egress) {
        if (!TEAMO_TRY(read_filters(socket_, device, TcHook::ingress)).empty())
            return fail(
                EEXIST,
                "has an ingress qdisc with filters of another program, so no egress program can be attached; "
                "put these filters on a clsact qdisc instead: tc qdisc add dev DEVICE clsact");
        TEAMO_TRY(remove_hook_qdisc(socket_, device));
    } else if (!kind.empty()) {
        return {};
    }
    if (note_clsact_) TEAMO_TRY(note_clsact_(device));
    return create_clsact(device);
}

Result<> DevicePrograms::apply(Key key, const Place& place, const HookStep& step) {
    const auto [device, hook] = key;
    const auto fd_of = [&place](Duty duty) {
        return std::ranges::find(place.programs, duty, duty_of)->fd.get();
    };
    using What = HookStep::What;
    switch (step.what) {
    case What::attach_program:
        return attach_device_program(device, device_hook(hook), fd_of(step.duty), step.next);
    case What::detach_program: {
        const auto now = TEAMO_TRY(read_device_programs(device, device_hook(hook)));
        if (step.place >= now.ids.size() || now.ids[step.place] != place.view.programs[step.place].id)
            return {};
        return detach_device_program(device, device_hook(hook), now, step.place);
    }
    case What::attach_filter:
        TEAMO_TRY(prepare_clsact(key));
        return attach_filter(device, tc_hook(hook), step.priority, our_handle, fd_of(step.duty));
    case What::detach_filter: return detach_filter(device, tc_hook(hook), step.priority, our_handle);
    }
    return {};
}

/// Until the hook is as wanted. Another program may change it at the same time.
Result<> DevicePrograms::settle(Key key, Place& place, bool may_move) {
    const auto wanted = wanted_of(place);
    const bool only_removes =
        std::ranges::none_of(wanted, [](const WantedProgram& one) { return bool{one.id}; });
    for (int count = 0; count < most_steps; ++count) {
        place.view = TEAMO_TRY(read(key));
        const auto step = next_step(place.view, wanted, may_move);
        if (!step) return {};
        // Asked after the reading: what another team has attached before it is known to be its own.
        if (only_removes && is_of_another_ && is_of_another_(key.first)) return {};
        if (auto done = apply(key, place, *step); !done && done.error().number != ESTALE) return done;
    }
    return fail(EAGAIN, "another program changes the BPF programs of this device all the time");
}

Result<> DevicePrograms::attach(IfIndex device, Hook hook, Duty duty, Order order, int program) {
    const auto id = TEAMO_TRY(id_of_program(program));
    const Key key{device, hook};
    Program added{.wanted = {.duty = duty, .order = order, .id = id},
                  .fd = UniqueFd(::fcntl(program, F_DUPFD_CLOEXEC, 0))};
    if (!added.fd) return fail_errno(errno, "cannot keep a BPF program open");
    auto& place = places_[key];
    std::optional<Program> former;
    if (const auto found = std::ranges::find(place.programs, duty, duty_of); found != place.programs.end()) {
        former = std::move(*found);
        place.programs.erase(found);
    }
    const auto after = std::ranges::find_if(place.programs, [&](const Program& one) {
        return one.wanted.order > order || (one.wanted.order == order && one.wanted.duty > duty);
    });
    const auto here = place.programs.insert(after, std::move(added));
    auto settled = settle(key, place, /*may_move=*/true);
    if (settled) return settled;
    if (former)
        *here = std::move(*former);
    else
        place.programs.erase(here);
    if (place.programs.empty()) places_.erase(key);
    return settled;
}

Result<> DevicePrograms::detach(IfIndex device, Hook hook, Duty duty) {
    if (const auto place = places_.find({device, hook}); place != places_.end()) {
        std::erase_if(place->second.programs, [duty](const Program& one) { return one.wanted.duty == duty; });
        if (place->second.programs.empty()) places_.erase(place);
    }
    Place nothing;
    nothing.programs.push_back({.wanted = {.duty = duty}});
    auto settled = settle({device, hook}, nothing, /*may_move=*/false);
    return !settled && settled.error().number == ENODEV ? Result<>() : settled;
}

Result<> DevicePrograms::detach_all(IfIndex device, bool remove_clsact) {
    forget(device);
    bool others = false;
    for (const auto hook : {Hook::ingress, Hook::egress}) {
        Place nothing;
        for (std::size_t duty = 0; duty < enum_names<Duty>.size(); ++duty)
            nothing.programs.push_back({.wanted = {.duty = static_cast<Duty>(duty)}});
        if (auto settled = settle({device, hook}, nothing, /*may_move=*/false); !settled) {
            if (settled.error().number == ENODEV) return {};
            return within("BPF programs", std::move(settled.error()));
        }
        others = others || !nothing.view.filters.empty();
    }
    // Removed by somebody else: then there is nothing to remove.
    if (!remove_clsact || others || TEAMO_TRY(read_hook_qdisc(socket_, device)) != "clsact") return {};
    return remove_hook_qdisc(socket_, device);
}

void DevicePrograms::forget(IfIndex device) {
    std::erase_if(places_, [device](const auto& entry) { return entry.first.first == device; });
}

Result<bool> DevicePrograms::has(IfIndex device, Hook hook, Duty duty) {
    return has_duty(TEAMO_TRY(read({device, hook})), duty);
}

Result<bool> DevicePrograms::makes_clsact(IfIndex device, Hook hook, Duty duty) {
    const auto view = TEAMO_TRY(read({device, hook}));
    if (wanted_attachment(view, duty) == Attachment::device || !view.filters.empty()) return false;
    return TEAMO_TRY(read_hook_qdisc(socket_, device)).empty();
}

std::set<IfIndex> DevicePrograms::devices() const {
    std::set<IfIndex> devices;
    for (const auto& [key, place] : places_)
        devices.insert(key.first);
    return devices;
}

bool DevicePrograms::has_any(IfIndex device) const {
    const auto first = places_.lower_bound({device, Hook{}});
    return first != places_.end() && first->first.first == device;
}

std::set<IfIndex> DevicePrograms::shadowed() const {
    std::set<IfIndex> devices;
    for (const auto& [key, place] : places_)
        for (const auto& program : place.programs) {
            if (program.wanted.order != Order::last) continue;
            const auto before = programs_before(place.view, program.wanted.id, {});
            if (std::ranges::any_of(before, [](const ForeignProgram& one) { return !one.takes; }))
                devices.insert(key.first);
        }
    return devices;
}

std::vector<LostProgram> DevicePrograms::check_place(Key key, Place& place, Clock::time_point now) {
    const auto wanted = wanted_of(place);
    auto view = read(key);
    if (!view) return {}; // the device is gone, or its reading is tried again by the next check
    place.view = std::move(*view);
    std::vector<Duty> missing;
    for (const auto& one : wanted)
        if (!attachment_of(place.view, one.id)) missing.push_back(one.duty);
    const auto step = next_step(place.view, wanted, /*may_move=*/true);
    if (!step) return {};
    if (!missing.empty() && !place.removals.begin(now)) return {};
    std::optional<Duty> displaced; // and gets its place back
    if (step->moves && place.displacements.count(now) < most_displacements) {
        displaced = find_wanted(wanted, place.view.programs[step->place].id)->duty;
        place.displacements.begin(now);
    }
    const auto settled = settle(key, place, displaced.has_value());
    std::vector<LostProgram> lost;
    const auto report = [&](Duty duty, bool is_displaced) {
        auto& program = *std::ranges::find(place.programs, duty, duty_of);
        ++program.lost;
        program.failure = settled ? std::string() : settled.error().text;
        lost.push_back({.device = key.first,
                        .hook = key.second,
                        .duty = duty,
                        .displaced = is_displaced,
                        .is_left = is_displaced && place.displacements.count(now) >= most_displacements,
                        .failure = program.failure});
    };
    for (const auto duty : missing)
        report(duty, false);
    if (displaced) report(*displaced, true);
    return lost;
}

std::vector<LostProgram> DevicePrograms::check(IfIndex device, Clock::time_point now) {
    std::vector<LostProgram> all;
    for (auto& [key, place] : places_)
        if (key.first == device) std::ranges::move(check_place(key, place, now), std::back_inserter(all));
    return all;
}

namespace {

/// By another program, without an event. False also for a hook that cannot be read now.
bool has_changed(const std::pair<IfIndex, Hook>& key, const HookView& view) {
    if (!view.by_device) return false; // filters have events
    const auto list = read_device_programs(key.first, device_hook(key.second));
    return list && !std::ranges::equal(list->ids, view.programs, {}, {}, &SeenProgram::id);
}

} // namespace

std::set<IfIndex> DevicePrograms::suspects() const {
    std::set<IfIndex> devices;
    for (const auto& [key, place] : places_) {
        const bool is_whole = std::ranges::all_of(place.programs, [&view = place.view](const Program& one) {
            return attachment_of(view, one.wanted.id).has_value();
        });
        if (!is_whole || has_changed(key, place.view)) devices.insert(key.first);
    }
    return devices;
}

/// It runs on the wrong side of another program, and does not get its place back.
bool DevicePrograms::is_left(const Place& place, ProgramId id, Clock::time_point now) {
    const auto step = next_step(place.view, wanted_of(place), /*may_move=*/true);
    return step && step->moves && place.view.programs[step->place].id == id &&
           place.displacements.count(now) >= most_displacements;
}

std::vector<ProgramStatus> DevicePrograms::status(Clock::time_point now) const {
    std::vector<ProgramStatus> list;
    for (const auto& [key, place] : places_) {
        const std::string_view own_hook = key.second == Hook::netkit ? "netkit" : "tcx";
        for (const auto& program : place.programs) {
            const auto id = program.wanted.id;
            const auto attachment = attachment_of(place.view, id);
            const auto by = !attachment                         ? std::string_view()
                            : *attachment == Attachment::device ? own_hook
                                                                : "clsact";
            list.push_back({.ifindex = key.first,
                            .hook = name_of(key.second),
                            .name = name_of(program.wanted.duty),
                            .id = id.value,
                            .by = std::string(by),
                            .lost = program.lost,
                            .is_left = is_left(place, id, now),
                            .failure = program.failure,
                            .redirects = program.wanted.order == Order::last,
                            .before = programs_before(place.view, id, own_hook)});
        }
    }
    return list;
}

} // namespace teamo
