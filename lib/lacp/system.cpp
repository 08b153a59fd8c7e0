// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/system.h"

#include "base/match.h"
#include "lacp/selection.h"

#include <algorithm>

namespace teamo::lacp {
namespace {

constexpr std::size_t most_responses = 5; ///< to markers, that wait to be sent by one port
/// A port sends at most 3 LACPDUs and a few markers in a second; more would only keep the daemon busy.
constexpr int most_in_a_second = 10;

PortInfo going(PortInfo actor) {
    for (const auto bit : {StateBit::synchronization, StateBit::collecting, StateBit::distributing})
        actor.set(bit, false);
    return actor;
}

} // namespace

Port* System::find(IfIndex port) {
    const auto found = std::ranges::find(ports_, port, [](const Port& one) { return one.link.port; });
    return found == ports_.end() ? nullptr : &*found;
}

const Port* System::find(IfIndex port) const { return const_cast<System*>(this)->find(port); }

const Port* System::lead() const { return lead_ ? find(*lead_) : nullptr; }

void System::set_link(Port& port, const Link& wanted, Clock::time_point now) {
    auto& variables = port.variables;
    auto link = wanted;
    // Coupled: the partner must not send either, because what it sends would be dropped.
    if (link.held && settings_.control == MuxControl::coupled) link.up = false;
    variables.held = link.held || is_silent(link.drain);
    if (link.up && variables.port_enabled && link.losses != port.link.losses) {
        // Lost and back since the last call.
        auto lost = link;
        lost.up = false;
        set_link(port, lost, now);
        port.receive.step(variables, nullptr, now);
    }
    if (link.up != variables.port_enabled) {
        if (!link.up) say_farewell(port);
        port.answered = false;
        port.last_looped.reset();
        variables.ntt = link.up; // a port that comes up sends at once
    }
    port.link = link;
    variables.port_enabled = link.up;
    auto actor = variables.actor;
    actor.system = settings_.system;
    actor.key = link.key != 0 ? link.key : key_by_speed(link.speed);
    actor.port = {.priority = link.priority, .number = link.number};
    actor.set(StateBit::activity, settings_.active);
    actor.set(StateBit::timeout, settings_.fast_rate);
    actor.set(StateBit::aggregation, link.duplex != Duplex::half);
    if (actor == variables.actor) return;
    // Another identity needs another selection (6.4.12: it may form part of another aggregate).
    if (identity_of(actor) != identity_of(variables.actor)) variables.selected = Selected::unselected;
    variables.actor = actor;
    variables.ntt = true;
}

Port System::join(const Link& link, Clock::time_point now) {
    Port port(settings_.control);
    const auto memory = memories_.extract(link.port);
    port.variables.partner_admin.set(StateBit::timeout, true); // sends each second until a partner answers
    set_link(port, link, now);
    auto& variables = port.variables;
    if (!memory || !link.up) return port;
    const auto& known = memory.mapped();
    if (known.fallback) {
        variables.partner = variables.partner_admin;
        variables.actor.set(StateBit::defaulted, true);
        port.receive.restore(ReceiveState::defaulted, now, variables);
        return port;
    }
    if (known.partner == PortInfo{} || identity_of(known.actor) != identity_of(variables.actor)) return port;
    // It may have told its next state while no daemon listened, and would tell it again only after 30 s. It
    // answers a port that begins anew at once, and nothing passes by this one yet.
    if (!known.partner.is(StateBit::collecting)) return port;
    // Continue as before: the partner sees no difference, and hears us at once.
    for (const auto bit : {StateBit::synchronization, StateBit::collecting, StateBit::distributing})
        variables.actor.set(bit, known.actor.is(bit));
    variables.partner = known.partner;
    variables.selected =
        variables.actor.is(StateBit::synchronization) ? Selected::selected : Selected::unselected;
    port.answered = true;
    port.forgiven_until = now + short_timeout_time;
    port.receive.restore(ReceiveState::current, now, variables);
    port.mux.restore(variables);
    if (known.by_hand) chosen_by_hand_ = port.lag();
    return port;
}

/// A last LACPDU, so that the partner does not wait for its timeout.
void System::say_farewell(const Port& port) {
    if (!port.variables.port_enabled || !port.answered) return;
    farewells_.push_back(
        {.port = port.link.port,
         .frame = Lacpdu{.actor = going(port.variables.actor), .partner = port.variables.partner},
         .is_last = true});
}

void System::update(std::span<const Link> links, Clock::time_point now) {
    std::erase_if(ports_, [&](const Port& port) {
        if (std::ranges::find(links, port.link.port, &Link::port) != links.end()) return false;
        say_farewell(port);
        return true;
    });
    for (const auto& link : links)
        if (auto* port = find(link.port))
            set_link(*port, link, now);
        else
            ports_.push_back(join(link, now));
    memories_.clear();
    step(now);
}

/// True: something has changed besides the time of the last LACPDU.
bool System::take(Port& port, const Lacpdu& pdu, Clock::time_point now) {
    auto& variables = port.variables;
    if (pdu.actor.system.address == settings_.system.address) {
        ++port.counters.looped_received;
        const bool is_new = !port.last_looped;
        port.last_looped = now;
        return is_new;
    }
    port.last_looped.reset();
    ++port.counters.lacpdus_received;
    port.last_received = now;
    const auto before = std::tuple(variables.actor, variables.partner, variables.selected, variables.ntt);
    const bool was_current = port.is_current();
    port.receive.step(variables, &pdu, now);
    if (!port.is_current()) return false; // the port is not enabled
    if (!port.answered) port.forgiven_until = now + short_timeout_time;
    port.answered = true;
    if (variables.partner.is(StateBit::synchronization)) port.forgiven_until = now;
    return !was_current ||
           before != std::tuple(variables.actor, variables.partner, variables.selected, variables.ntt);
}

bool System::receive(IfIndex index, std::span<const std::byte> frame, Clock::time_point now) {
    auto* port = find(index);
    if (port == nullptr) return false;
    auto& counters = port->counters;
    const auto parsed = parse_frame(frame);
    // Other slow protocols have a rate of their own: OAM (802.3, 57) also sends up to ten a second.
    if (const auto* why = std::get_if<Unusable>(&parsed); why != nullptr && *why == Unusable::unknown) {
        ++counters.unknown_received;
        return false;
    }
    if (now >= port->window + std::chrono::seconds(1)) {
        port->window = now;
        port->in_window = 0;
    }
    if (++port->in_window > most_in_a_second) {
        ++counters.excess_received;
        return false;
    }
    return std::visit(Match{[&](const Lacpdu& pdu) { return take(*port, pdu, now); },
                            [&](const Marker& marker) {
                                if (marker.is_response) return false;
                                ++counters.markers_received;
                                if (!port->variables.port_enabled || port->responses.size() >= most_responses)
                                    return false;
                                port->responses.push_back(marker);
                                port->responses.back().is_response = true;
                                return true;
                            },
                            [&](Unusable) {
                                ++counters.illegal_received;
                                return false;
                            }},
                      parsed);
}

void System::select(Clock::time_point now) {
    const auto all = aggregators_of(ports_, now);
    const auto* best = best_of(all, settings_.policy, chosen_by_hand_);
    const auto is_by_hand = [this](const Aggregator& one) { return one.lead->lag() == chosen_by_hand_; };
    if (std::ranges::none_of(all, is_by_hand)) chosen_by_hand_.reset();
    lead_ = best == nullptr ? std::nullopt : std::optional(best->lead->link.port);
    for (auto& port : ports_) {
        if (best == nullptr || !best->has(port)) port.variables.selected = Selected::unselected;
        // A port that has a new partner must leave its aggregator first.
        else if (port.is_current() && port.mux.state() == MuxState::detached)
            port.variables.selected = Selected::selected;
    }
}

/// Ready when all waiting ports have waited for others, or when no other port may still come: each port with
/// a link has heard its partner, or has given up.
void System::set_ready(Clock::time_point now) {
    const bool others_may_come = std::ranges::any_of(ports_, [](const Port& port) {
        return port.variables.port_enabled && !port.answered && port.receive.state() == ReceiveState::expired;
    });
    const bool all_have_waited = std::ranges::all_of(ports_, [now](const Port& port) {
        return port.mux.state() != MuxState::waiting || port.mux.has_waited(now);
    });
    for (auto& port : ports_)
        port.variables.ready = port.mux.state() == MuxState::waiting && (!others_may_come || all_have_waited);
}

void System::step_mux(Clock::time_point now) {
    for (auto& port : ports_)
        port.mux.step(port.variables, now);
}

/// Without any partner: one port, or all.
void System::choose_fallback() {
    const auto before = std::exchange(fallback_, {});
    if (settings_.fallback == LacpFallback::none) return;
    if (std::ranges::any_of(ports_, &Port::answered)) return;
    const Port* best = nullptr;
    for (const auto& port : ports_) {
        if (!port.variables.port_enabled || port.receive.state() != ReceiveState::defaulted) continue;
        if (is_out(port.link.drain)) continue;
        if (settings_.fallback == LacpFallback::all_ports) fallback_.push_back(port.link.port);
        const auto rank = [&](const Port& one) {
            const bool is_in_use = std::ranges::find(before, one.link.port) != before.end();
            return std::tuple(one.variables.held, !is_in_use, one.link.priority, one.link.number);
        };
        if (best == nullptr || rank(port) < rank(*best)) best = &port;
    }
    if (settings_.fallback == LacpFallback::one_port && best != nullptr) fallback_.push_back(best->link.port);
}

void System::note_carrying() {
    Carrying now{.distributing = fallback_, .collecting = fallback_, .falls_back = !fallback_.empty()};
    // A port that is held only receives, as long as another one can send.
    std::erase_if(now.distributing, [this](IfIndex port) { return find(port)->variables.held; });
    if (now.distributing.empty()) now.distributing = fallback_;
    for (const auto& port : ports_) {
        const auto& actor = port.variables.actor;
        const auto drain = port.link.drain;
        if (actor.is(StateBit::collecting) || (is_out(drain) && port.variables.port_enabled))
            now.collecting.push_back(port.link.port);
        // With coupled control the bits change together.
        if (actor.is(StateBit::distributing) && !is_silent(drain)) now.distributing.push_back(port.link.port);
    }
    carrying_ = std::move(now);
}

bool System::step(Clock::time_point now) {
    const auto before = carrying_;
    const auto known_before = memories();
    for (auto& port : ports_) {
        port.receive.step(port.variables, nullptr, now);
        port.variables.ready = false;
    }
    step_mux(now); // what is not selected any more detaches
    select(now);
    step_mux(now);
    set_ready(now);
    step_mux(now);
    for (auto& port : ports_) {
        auto& variables = port.variables;
        port.periodic.step(variables, now);
        port.actor_churn.step(variables.port_enabled, variables.actor.is(StateBit::synchronization), now);
        port.partner_churn.step(variables.port_enabled, variables.partner.is(StateBit::synchronization), now);
    }
    choose_fallback();
    note_carrying();
    return carrying_ != before || memories() != known_before;
}

std::vector<Outgoing> System::due(Clock::time_point now) {
    auto list = std::exchange(farewells_, {});
    for (auto& port : ports_) {
        for (const auto& response : std::exchange(port.responses, {}))
            list.push_back({.port = port.link.port, .frame = response});
        const auto& variables = port.variables;
        if (port.transmit.may_send(variables, now))
            list.push_back({.port = port.link.port,
                            .frame = Lacpdu{.actor = variables.actor, .partner = variables.partner}});
    }
    return list;
}

void System::note_result(const Outgoing& frame, bool sent, Clock::time_point now) {
    auto* port = find(frame.port);
    if (port == nullptr || frame.is_last) return;
    if (std::holds_alternative<Marker>(frame.frame)) {
        if (sent) ++port->counters.marker_responses_sent;
        return;
    }
    if (!sent) return port->transmit.note_failed(now);
    port->transmit.note_sent(port->variables, now);
    port->last_sent = now;
    ++port->counters.lacpdus_sent;
}

std::optional<Clock::time_point> System::deadline(Clock::time_point now) const {
    std::optional<Clock::time_point> first;
    const auto later = [now](std::optional<Clock::time_point> when) {
        return when && *when > now ? when : std::nullopt;
    };
    for (const auto& port : ports_) {
        first = earlier(first, port.receive.deadline());
        first = earlier(first, port.periodic.deadline());
        first = earlier(first, port.actor_churn.deadline());
        first = earlier(first, port.partner_churn.deadline());
        first = earlier(first, port.transmit.deadline(port.variables));
        // Once over, these wait for others.
        first = earlier(first, later(port.mux.deadline()));
        if (port.answered) first = earlier(first, later(port.forgiven_until));
    }
    return first;
}

bool System::choose(IfIndex index) {
    const auto* port = find(index);
    if (port == nullptr || !port->answered || !port->is_current()) return false;
    chosen_by_hand_ = port->lag();
    return true;
}

bool System::partner_sends(IfIndex index) const {
    const auto* port = find(index);
    return port != nullptr && port->variables.port_enabled && port->is_current() &&
           port->variables.partner.is(StateBit::distributing);
}

NotSelected System::why_not(const Port& port) const {
    using enum NotSelected;
    const auto& variables = port.variables;
    if (!variables.port_enabled) return port.link.held ? held : no_link;
    if (is_silent(port.link.drain)) return drained;
    if (!port.answered && port.last_looped) return looped;
    if (!port.answered && port.receive.state() == ReceiveState::expired) return no_answer_yet;
    if (!port.answered || !port.is_current()) return partner_silent;
    const auto* chosen = lead();
    if (chosen != nullptr && chosen->lag() != port.lag()) return difference(port, *chosen);
    if (variables.selected != Selected::selected || port.mux.state() == MuxState::waiting) return waiting;
    if (!variables.partner.is(StateBit::synchronization)) return out_of_sync;
    if (variables.actor.is(StateBit::distributing)) return none;
    return variables.held ? held : not_collecting;
}

PortStatus System::status(IfIndex index, Clock::time_point now) const {
    const auto* found = find(index);
    if (found == nullptr) return {};
    const auto& port = *found;
    const auto& variables = port.variables;
    const auto since = [now](std::optional<Clock::time_point> when) {
        return when ? std::optional(std::chrono::duration_cast<std::chrono::milliseconds>(now - *when))
                    : std::nullopt;
    };
    const bool falls_back = std::ranges::find(fallback_, index) != fallback_.end();
    PortStatus status{.selected = variables.selected == Selected::selected,
                      .state = falls_back ? "fallback" : teamd_name_of(port.receive.state()),
                      .actor = variables.actor,
                      .partner = variables.partner,
                      .receive = name_of(port.receive.state()),
                      .mux = name_of(port.mux.state()),
                      .periodic = name_of(port.periodic.state()),
                      .actor_churn = port.actor_churn.state(),
                      .partner_churn = port.partner_churn.state(),
                      .counters = port.counters,
                      .since_received = since(port.last_received),
                      .since_sent = since(port.last_sent),
                      .fallback = falls_back,
                      .not_selected = falls_back ? NotSelected::none : why_not(port),
                      .reason = {}};
    if (status.selected && lead_) status.aggregator = lead_->value;
    status.reason = sentence_for(status.not_selected, port, lead());
    return status;
}

PortMemory System::memory(IfIndex index) const {
    const auto* port = find(index);
    if (std::ranges::find(fallback_, index) != fallback_.end()) return {.fallback = true};
    if (port == nullptr || !port->answered || !port->is_current()) return {};
    return {.actor = port->variables.actor,
            .partner = port->variables.partner,
            .by_hand = port->lag() == chosen_by_hand_};
}

std::vector<PortMemory> System::memories() const {
    std::vector<PortMemory> list;
    for (const auto& port : ports_)
        list.push_back(memory(port.link.port));
    return list;
}

void System::clear_counters(std::optional<IfIndex> which) {
    for (auto& port : ports_)
        if (!which || port.link.port == *which) port.counters = {};
}

} // namespace teamo::lacp
