// SPDX-License-Identifier: LGPL-2.1-or-later
//
// balance hash: the port that a packet leaves by.
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/packet/l2_context.h"
#include "ctl/packet/packet.h"
#include "ctl/units.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

std::string hash_fields_text(const TeamState& state) {
    return state.balance ? joined(hash_field_names(state.balance->tx_hash)) : std::string();
}

/// Names the ports that all packets leave by.
Error no_hash_error(const TeamState& state) {
    std::vector<std::string> ports;
    for (const auto& port : state.ports)
        if (port.transmits) ports.push_back(port.name);
    const auto where = ports.empty() ? std::string("no port carries") : "packets leave by " + joined(ports);
    return {ENOTSUP, fmt::format("the runner {} does not hash; {}", state.runner, where)};
}

/// Adds what the hash needs and the user did not give.
Result<Packet> completed(Packet packet, const TeamState& state) {
    const auto fields = state.balance->tx_hash;
    const auto lacks = [&](const char* part) {
        const auto missing = missing_parts(packet, fields);
        return std::ranges::find(missing, part) != missing.end();
    };
    const bool vlan = (fields & static_cast<HashFields>(HashField::vlan)) != 0;
    Result<> looked_up;
    if (lacks("dmac") || (vlan && packet.vlans.empty())) {
        const auto l2_context = TEAMO_TRY(L2Context::read(state.ifindex));
        looked_up = l2_context.complete(packet);
    }
    if (!packet.smac) packet.smac = state.address;
    const auto missing = missing_parts(packet, fields);
    if (missing.empty()) return packet;
    std::string why = fmt::format("the team hashes {}", hash_fields_text(state));
    if (!looked_up && lacks("dmac"))
        why = looked_up.error().text;
    else if (packet.dst && lacks("dmac"))
        why = fmt::format("the kernel has no neighbour entry for {}; ping the address once",
                          text_of(*packet.dst));
    return fail(EINVAL, fmt::format("the packet lacks {}: {}", joined(missing), why));
}

struct Answer {
    std::uint8_t bucket = 0;
    std::string port;
    std::vector<std::string> next_ports;
};

std::string text_of(const Answer& answer) {
    if (answer.port.empty())
        return fmt::format("bucket {} leaves by no port: no port carries\n", answer.bucket);
    const auto next = answer.next_ports.empty()
                          ? std::string()
                          : fmt::format(" (then {} if {} fails)", joined(answer.next_ports), answer.port);
    return fmt::format("bucket {} leaves by {}{}\n", answer.bucket, answer.port, next);
}

json::Value json_of(const std::string& team, const Answer& answer) {
    return json::Object{{"bucket", static_cast<int>(answer.bucket)},
                        {"by_cpu", false},
                        {"port", answer.port},
                        {"team", team},
                        {"next_ports", json::Array(answer.next_ports.begin(), answer.next_ports.end())}};
}

void print_by_cpu(Session& session) {
    if (session.options().json)
        session.print(json::Object{{"bucket", nullptr},
                                   {"by_cpu", true},
                                   {"port", nullptr},
                                   {"team", session.team()},
                                   {"next_ports", json::Array{}}});
    else
        put("the sending CPU decides (tx_hash has \"cpu\"): a packet leaves by the port whose interrupts "
            "this CPU serves, whatever the packet contains\n");
}

} // namespace

Result<> check_balance_hash(Arguments arguments) {
    TEAMO_TRY(parse_packet(arguments));
    return {};
}

CommandResult balance_hash(Session& session, Arguments arguments) {
    auto packet = TEAMO_TRY(parse_packet(arguments));
    const auto state = TEAMO_TRY(session.state());
    if (!state.balance) return tl::unexpected(no_hash_error(state));
    if ((state.balance->tx_hash & static_cast<HashFields>(HashField::cpu)) != 0) {
        print_by_cpu(session);
        return {};
    }
    const auto complete = TEAMO_TRY(completed(std::move(packet), state));
    const auto bucket = bucket_of(complete, state.balance->tx_hash);
    const Answer answer{.bucket = bucket,
                        .port = state.balance->leaves_by[bucket],
                        .next_ports = state.balance->then[bucket]};
    if (session.options().json)
        session.print(json_of(session.team(), answer));
    else
        put(text_of(answer));
    return {};
}

} // namespace teamo::ctl
