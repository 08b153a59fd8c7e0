// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/datapath_ports.h"

namespace teamo::ctl {
namespace {

const json::Value& child(const json::Value& in, std::string_view key) {
    static const json::Value none;
    const auto* found = in.find(key);
    return found ? *found : none;
}

std::int64_t number(const json::Value& in, std::string_view key, std::int64_t otherwise = 0) {
    const auto* found = child(in, key).integer();
    return found ? *found : otherwise;
}

bool flag(const json::Value& in, std::string_view key) {
    const auto* found = child(in, key).boolean();
    return found && *found;
}

DatapathPort port_of(const std::string& name, const json::Value& port) {
    const auto& datapath = child(port, "datapath");
    const auto& counters = child(datapath, "counters");
    return {.name = name,
            .link_up = flag(child(port, "link_watches"), "up"),
            .transmits = flag(datapath, "transmits"),
            .receives = flag(datapath, "receives"),
            .speed = number(child(port, "link"), "speed", -1),
            .buckets = number(datapath, "buckets"),
            .tx_packets = number(counters, "tx_packets"),
            .tx_bytes = number(counters, "tx_bytes"),
            .rx_packets = number(counters, "rx_packets"),
            .rx_bytes = number(counters, "rx_bytes"),
            .rx_dropped = number(counters, "rx_dropped")};
}

} // namespace

Result<std::vector<DatapathPort>> read_datapath_ports(Session& session) {
    const auto state = session.document(control::StateDump{});
    if (!state) return tl::unexpected(state.error());
    if (!state->find("datapath")) return fail(ENOTSUP, "the daemon is not teamd-offload and does not tell");
    std::vector<DatapathPort> ports;
    if (const auto* members = child(*state, "ports").object())
        for (const auto& port : *members)
            ports.push_back(port_of(port.key, port.value));
    return ports;
}

} // namespace teamo::ctl
