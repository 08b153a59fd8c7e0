// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/links/guard_subsystem.h"

#include "kernel/netlink/addresses.h"
#include "kernel/netlink/local_routes.h"

#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>

#include <algorithm>

namespace teamo {
namespace {

/// The program drops so long after the daemon has last said that the addresses are right: longer than a
/// restart, shorter than an administrator waits for a new address.
constexpr std::chrono::seconds validity{10};

Result<GuardSight> read_sight(const Links& links, IfIndex team) {
    GuardSight sight;
    for (const auto& address : TEAMO_TRY(read_addresses()))
        sight.addresses.insert(address.ip);
    for (const auto& route : TEAMO_TRY(read_local_routes())) {
        const bool loopback = !route.to.ipv6 && route.to.bytes[0] == 127;
        if (!route.is_network())
            sight.addresses.insert(route.to);
        else if (!loopback)
            sight.local_network = route.to;
    }
    sight.hardware = TEAMO_TRY(read_address_list(team));
    const auto devices = guarded_devices(links, team, {});
    sight.proxies = TEAMO_TRY(has_proxy_neighbours()) || is_proxy("all") ||
                    std::ranges::any_of(devices, [](const Link* device) { return is_proxy(device->name); });
    return sight;
}

} // namespace

Result<> Guard::attach(IfIndex port) {
    auto done = put(port);
    if (!done && is_passing(done.error()))
        due_.insert(port);
    else
        due_.erase(port);
    return done;
}

Result<> Guard::put(IfIndex port) {
    if (!is_on()) {
        running_.reset();
        return context_.programs->detach(port, Hook::ingress, Duty::guard);
    }
    if (!running_) TEAMO_TRY(start());
    ports_.insert(port);
    return within("guard", context_.programs->attach(port, Hook::ingress, Duty::guard, Order::first,
                                                     running_->program.program()));
}

/// The program knows all addresses before it is on a port.
Result<> Guard::start() {
    auto program = TEAMO_TRY(GuardProgram::load());
    auto events =
        TEAMO_TRY(NetlinkSocket::listen(NETLINK_ROUTE, {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                                        RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF}));
    TEAMO_TRY(listen_to_local_routes(events));
    auto read_soon = TEAMO_TRY(Deferred::make(context_.loop, Priority::timer, [this] { update(); }));
    auto io = TEAMO_TRY(Io::make(context_.loop, events.fd(), EPOLLIN, Priority::timer, [this](std::uint32_t) {
        static_cast<void>(running_->events.receive({})); // lost or not: everything is read again
        running_->read_soon->soon();
    }));
    running_.emplace(Running{.program = std::move(program),
                             .events = std::move(events),
                             .io = std::move(io),
                             .read_soon = std::move(read_soon)});
    poll();
    return {};
}

std::vector<Link> Guard::devices() const {
    std::vector<Link> list;
    for (const auto* link : guarded_devices(context_.links(), context_.device.team, ports_)) {
        auto& device = list.emplace_back(); // without what changes with each lost link
        device.index = link->index;
        device.name = link->name;
        device.address = link->address;
        device.flags = link->flags & std::uint32_t{IFF_ALLMULTI};
        device.kind = link->kind;
        device.vlan = link->vlan;
        device.master = link->master;
        device.promiscuity = link->promiscuity;
    }
    return list;
}

void Guard::follow(const std::set<IfIndex>& ports) {
    ports_ = ports;
    std::erase_if(due_, [&ports](IfIndex port) { return !ports.contains(port); });
    if (running_ && devices() != running_->devices) update();
}

void Guard::poll() {
    if (!is_on()) running_.reset(); // switched off while there was no port
    if (!running_) return;
    update();
    if (!running_->is_applied) return; // a program that could not even step aside does so soon
    if (const auto renewed = running_->program.drop_until(Clock::now() + validity); !renewed)
        running_->failure(context_.log, Level::warning, "", renewed.error().text);
}

void Guard::update() {
    auto& running = *running_;
    running.devices = devices();
    auto sight = read_sight(context_.links(), context_.device.team);
    if (!sight) sight = GuardSight{.failure = sight.error().text};
    auto plan = plan_guard(context_.config().guard, context_.links(), context_.device.team, ports_, *sight,
                           TEAMO_GUARD_ADDRESSES);
    const auto applied = running.program.apply(plan.tables);
    running.is_applied = applied.has_value();
    if (!applied) plan = {.tables = {}, .aside = applied.error().text}; // tried again by the next poll
    if (!plan.aside.empty())
        running.failure(context_.log, Level::notice, "guard: drops nothing: ", plan.aside);
    else if (!running.failure.text().empty()) {
        context_.log(Level::notice, "guard: drops frames for other hosts again");
        running.failure.clear();
    }
    running.plan = std::move(plan);
}

GuardStatus Guard::status() const {
    GuardStatus status;
    status.mode = context_.config().guard;
    if (!running_) {
        if (is_on()) status.aside = "its program could not be loaded";
        return status;
    }
    status.aside = running_->plan.aside;
    const auto counters = running_->program.read_counters();
    if (!counters) return status;
    status.passed = (*counters)[TEAMO_GUARD_PASSED];
    status.dropped = {.arp_requests = (*counters)[TEAMO_GUARD_BY_ARP],
                      .neighbour_solicitations = (*counters)[TEAMO_GUARD_BY_NEIGHBOUR],
                      .unicast = (*counters)[TEAMO_GUARD_BY_UNICAST],
                      .broadcasts = (*counters)[TEAMO_GUARD_BY_BROADCAST],
                      .multicasts = (*counters)[TEAMO_GUARD_BY_MULTICAST],
                      .of_a_sender = (*counters)[TEAMO_GUARD_BY_SENDER]};
    return status;
}

} // namespace teamo
