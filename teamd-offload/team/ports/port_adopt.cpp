// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Ports that an earlier daemon left, complete or not. An entry of its journal is valid only for a device that
// has the team's mark now, because the kernel reuses interface indexes.
#include "cpus/workers.h"
#include "model/observation.h"
#include "team/ports/port_device.h"
#include "team/ports/port_set.h"

#include <algorithm>

namespace teamo {

Result<> PortSet::clear_leftovers() {
    auto& journal = context_.journal;
    auto read = TEAMO_TRY(journal.read());
    auto& ports = journal.edit_ports();
    if (read) ports = std::move((read)->ports);
    std::erase_if(ports, [this](const PortBefore& port) {
        const auto* link = context_.link(port.index);
        return link != nullptr && !is_ours(*link);
    });
    mark_away(ports, [this](IfIndex port) { return context_.link(port) == nullptr; });
    subsystems_.trial->end_leftovers(ports);
    for (const auto& [index, link] : context_.links())
        if (is_ours(link) && journal.port(index) == nullptr)
            ports.push_back(begin(link, port_mark_of(link)->slot));
    for (auto& port : ports)
        if (port.state != PortState::away) port.state = PortState::leaving;
    std::size_t left = 0;
    for (const auto& port : std::vector(ports)) {
        if (port.state != PortState::leaving) continue;
        ++left;
        if (auto finished = finish_leaving(port.index); !finished)
            context_.log(Level::warning, fmt::format("port {}: {}", port.name, finished.error().text));
    }
    if (left != 0)
        context_.log(Level::notice, fmt::format("restored {} ports of an earlier team of this name", left));
    if (read) release_workers((read)->workers, context_.log);
    if (ports.empty()) journal.remove_file();
    journal.forget_file();
    context_.observer->catch_up();
    return {};
}

void PortSet::adopt(const std::vector<PortBefore>& noted) {
    auto& journal = context_.journal;
    auto& ports = journal.edit_ports();
    const auto team = context_.device.team;
    const bool by_master = context_.datapath->kernel_manages_ports();
    for (const auto& port : noted) {
        const auto* link = context_.link(port.index);
        if (link == nullptr) {
            ports.push_back(port); // valid again when the device returns
        } else if (!is_ours(*link)) {
            if (port.state == PortState::joined)
                context_.log(Level::warning,
                             fmt::format("port {}: device {} does not have the mark {}; not changed",
                                         port.name, link->name, port_mark(context_.name(), port.slot)));
        } else if (port.state == PortState::joined && by_master && link->master != team) {
            // Removed while no daemon ran: undo our settings on it.
            journal.note_removed(port.name);
            if (auto released = release(port); !released && is_passing(released.error())) {
                ports.push_back(port); // for finish_begun()
                ports.back().state = PortState::leaving;
            }
        } else if (port.state == PortState::joined) {
            adopt_port(port, *link);
        } else {
            ports.push_back(port); // for finish_begun()
        }
    }
    mark_away(ports, [this](IfIndex port) { return context_.link(port) == nullptr; });
    for (const auto& [index, link] : context_.links()) {
        const auto mark = port_mark_of(link);
        if (!mark || mark->team != context_.name() || journal.port(index) != nullptr) continue;
        if (by_master && link.master != team) continue;
        auto port = begin(link, mark->slot);
        port.state = PortState::joined;
        adopt_port(port, link);
    }
}

void PortSet::adopt_port(const PortBefore& port, const Link& link) {
    context_.journal.edit_ports().push_back(port);
    const auto config = config_of(link.name);
    const bool up = link.has_link();
    ports_.push_back({.index = link.index,
                      .slot = port.slot,
                      .name = link.name,
                      .config = config,
                      .watch = PortWatch(config.link_watches, context_.config().link_watch_policy, up),
                      .modes = context_.ethtool.read_link_modes(link.index),
                      .had_link = up});
}

void PortSet::adopt_offloads() {
    auto& offloads = *subsystems_.offloads;
    for (const auto& port : ports_) {
        // It carries already, so a port that lacks an offload is not refused any more.
        auto contract = port.config.offload;
        if (contract.lacking == Lacking::refuse) contract.lacking = Lacking::demote;
        auto* was = context_.journal.port(port.index);
        if (auto added = offloads.add(*context_.link(port.index), contract, was->offloads); !added)
            context_.log(Level::warning, fmt::format("port {}: {}", port.name, added.error().text));
        was->offloads = offloads.kept(port.index);
    }
}

void PortSet::finish_begun() {
    for (const auto& port : std::vector(context_.journal.ports())) {
        if (port.state == PortState::leaving) static_cast<void>(finish_leaving(port.index));
        if (port.state != PortState::joining) continue;
        context_.log(
            Level::notice,
            fmt::format("port {}: an earlier daemon did not finish adding it; adding it now", port.name));
        if (auto joined = join(port.index); !joined) {
            awaited_.insert(port.name);
            note_refusal(port.name, joined.error());
        }
    }
}

} // namespace teamo
