// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/whole_number.h"
#include "ctl/commands.h"
#include "ctl/packet/l2_context.h"
#include "text/numbers.h"

#include <algorithm>

namespace teamo::ctl {
namespace {

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
    std::string why = fmt::format("the team hashes {}", joined(hash_field_names(fields)));
    if (!looked_up && lacks("dmac"))
        why = looked_up.error().text;
    else if (packet.dst && lacks("dmac"))
        why += fmt::format(", and the kernel has no neighbour entry for {}; ping the address once",
                           text_of(*packet.dst));
    return fail(EINVAL, fmt::format("the packet lacks {}: {}", joined(missing), why));
}

/// Where a packet leaves.
struct Answer {
    std::optional<std::uint8_t> bucket; ///< none: the sending CPU decides
    std::string port;
    std::vector<std::string> next_ports;
};

std::string answer_text(const Answer& answer) {
    if (!answer.bucket)
        return "the sending CPU decides (tx_hash has \"cpu\"): a packet leaves by the port whose interrupts "
               "this CPU serves, whatever the packet contains\n";
    if (answer.port.empty())
        return fmt::format("bucket {} leaves by no port: no port carries\n", *answer.bucket);
    const auto next = answer.next_ports.empty()
                          ? std::string()
                          : fmt::format(" (then {} if {} fails)", joined(answer.next_ports), answer.port);
    return fmt::format("bucket {} leaves by {}{}\n", *answer.bucket, answer.port, next);
}

json::Value answer_json(const std::string& team, const Answer& answer) {
    return json::Object{{"bucket", answer.bucket ? json::Value(static_cast<int>(*answer.bucket)) : nullptr},
                        {"by_cpu", !answer.bucket},
                        {"port", answer.bucket ? json::Value(answer.port) : nullptr},
                        {"team", team},
                        {"next_ports", json::Array(answer.next_ports.begin(), answer.next_ports.end())}};
}

} // namespace

Result<> check_balance_move(Arguments arguments) {
    const auto& bucket = arguments[0];
    if (const auto number = whole_number<std::size_t>(bucket); !number || *number >= bucket_count)
        return fail(EINVAL,
                    fmt::format(R"("{}" is not a bucket; buckets are 0 to {}.)", bucket, bucket_count - 1));
    if (arguments.size() > 2 && arguments[2] != "now")
        return fail(EINVAL, fmt::format(R"("{}" is not valid here; only "now" is.)", arguments[2]));
    return {};
}

CommandResult balance_move(Session& session, Arguments arguments) {
    const auto bucket = whole_number<std::uint8_t>(arguments[0]); // check_balance_move()
    const auto time = arguments.size() > 2 ? control::MoveTime::now : control::MoveTime::gap;
    return send_command(session, control::BalanceMove{*bucket, arguments[1], time});
}

Result<> check_balance_hash(Arguments arguments) {
    TEAMO_TRY(parse_packet(arguments));
    return {};
}

CommandResult balance_hash(Session& session, Arguments arguments) {
    auto packet = TEAMO_TRY(parse_packet(arguments));
    const auto state = TEAMO_TRY(session.state());
    if (!state.balance) return tl::unexpected(no_hash_error(state));
    const auto& balance = *state.balance;
    Answer answer;
    if ((balance.tx_hash & static_cast<HashFields>(HashField::cpu)) == 0) {
        const auto complete = TEAMO_TRY(completed(std::move(packet), state));
        const auto bucket = bucket_of(complete, balance.tx_hash);
        answer = {bucket, balance.leaves_by[bucket], balance.next_ports[bucket]};
    }
    session.print(answer_json(session.team(), answer), answer_text(answer));
    return {};
}

} // namespace teamo::ctl
