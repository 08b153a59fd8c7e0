// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/program_watch.h"

#include <linux/netfilter/nfnetlink.h>
#include <sys/epoll.h>

#include <iterator>

namespace teamo {

Result<std::unique_ptr<ProgramWatch>> ProgramWatch::make(TeamContext& context) {
    std::unique_ptr<ProgramWatch> watch(new ProgramWatch(context));
    auto* self = watch.get();
    watch->check_soon_ =
        TEAMO_TRY(Deferred::make(context.loop, Priority::link, [self] { self->check_changed(); }));
    watch->listener_ = context.shared.hooks.listen([self](const SeenHooks& seen) { self->note(seen); });
    return watch;
}

void ProgramWatch::note(const SeenHooks& seen) {
    if (seen.lost) changed_ = context_.programs->devices();
    for (const auto device : seen.devices)
        if (context_.programs->has_any(device)) changed_.insert(device);
    if (!changed_.empty()) check_soon_->soon();
}

/// Not a device that has the index of a port and is none.
bool ProgramWatch::is_to_check(IfIndex device) const {
    const bool is_own = device == context_.device.team || device == context_.device.inner;
    return context_.link(device) != nullptr && (is_own || !context_.is_replaced(device));
}

void ProgramWatch::check_changed() {
    for (const auto device : std::exchange(changed_, {}))
        if (is_to_check(device)) report(context_.programs->check(device, Clock::now()));
    catch_accepted();
    report_others();
}

/// Without an event of nftables nobody would see that another program has removed our table.
void ProgramWatch::watch_rules(bool on) {
    if (on == rule_events_.has_value()) return;
    rule_io_.reset();
    rule_events_.reset();
    if (!on) return;
    auto events = NetlinkSocket::listen(NETLINK_NETFILTER, {NFNLGRP_NFTABLES});
    if (!events) return; // no nftables: what catch_accepted() asks for is refused
    rule_events_ = std::move(*events);
    auto io = Io::make(context_.loop, rule_events_->fd(), EPOLLIN, Priority::link, [this](std::uint32_t) {
        static_cast<void>(rule_events_->receive([](const nlmsghdr*) {}));
        shadowed_.reset(); // also after an event of our own: then nothing is written
        check_soon_->soon();
    });
    if (io) rule_io_ = std::move(*io);
}

void ProgramWatch::catch_accepted() {
    std::map<IfIndex, std::string> ports;
    for (const auto device : context_.programs->shadowed())
        if (const auto* link = context_.link(device); link != nullptr && is_to_check(device))
            ports.emplace(device, link->name);
    const bool tries_again = patience_ && patience_->is_over(Clock::now());
    if (ports == shadowed_ && !tries_again) return;
    shadowed_ = ports;
    const auto caught = context_.datapath->catch_accepted(ports);
    await_passing(patience_, !caught, Clock::now());
    watch_rules(!ports.empty());
    refusal_(context_.log, Level::error, "",
             caught ? std::string()
                    : fmt::format("frames that other programs accept on a port do not reach the team, "
                                  "because nftables refuses the team's table: {}",
                                  caught.error().text));
}

std::vector<ProgramStatus> ProgramWatch::status() const {
    auto list = context_.programs->status(Clock::now());
    for (auto& program : list) {
        if (const auto* link = context_.link(program.ifindex)) program.device = link->name;
        program.catches_accepted = program.redirects && context_.datapath->catches_accepted(program.ifindex);
    }
    return list;
}

/// Each of them once, as long as it stays.
void ProgramWatch::report_others() {
    std::set<std::string> now;
    for (const auto& program : status())
        for (const auto& other : program.before)
            now.insert(fmt::format("{}: {}", program.device, effect_of(program, other)));
    for (const auto& text : now)
        if (!others_.contains(text)) context_.log(Level::warning, text, message_id::program_before);
    others_ = std::move(now);
}

void ProgramWatch::poll(bool next) {
    const auto devices = context_.programs->devices();
    if (devices.empty()) return;
    changed_.merge(context_.programs->suspects());
    if (next)
        changed_.insert(*std::next(devices.begin(), static_cast<std::ptrdiff_t>(++polled_ % devices.size())));
    if (!changed_.empty() || patience_) check_changed();
}

void ProgramWatch::report(const std::vector<LostProgram>& lost) const {
    for (const auto& one : lost) {
        const auto* link = context_.link(one.device);
        const auto name = link == nullptr ? std::string() : link->name;
        const auto* what =
            one.displaced ? "was displaced by another program" : "was removed by another program";
        const auto end = !one.failure.empty() ? fmt::format("and cannot be attached: {}", one.failure)
                         : one.is_left        ? "and is first again; the next time the daemon leaves it there"
                         : one.displaced      ? "and is first again"
                                              : "and is attached again";
        context_.log(one.failure.empty() ? Level::warning : Level::error,
                     fmt::format("{}: the BPF program {} ({}) {} {}", name, name_of(one.duty),
                                 name_of(one.hook), what, end),
                     message_id::program_lost, {{"DEVICE", name}});
    }
}

} // namespace teamo
