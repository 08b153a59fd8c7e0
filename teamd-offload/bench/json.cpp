// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/json.h"

#include "bench/metrics.h"
#include "json/document.h"
#include "json/quote.h"

#include <charconv>

namespace teamo::bench {
namespace {

using json::Object;
using json::Value;

constexpr auto time_fields = [](auto field, auto& time) {
    field("user", time.user);
    field("system", time.system);
    field("softirq", time.softirq);
    field("irq", time.irq);
    field("idle", time.idle);
};

constexpr auto port_fields = [](auto field, auto& port) {
    field("tx_bytes", port.tx_bytes);
    field("tx_skbs", port.tx_skbs);
    field("tx_packets", port.tx_packets);
    field("rx_bytes", port.rx_bytes);
    field("rx_skbs", port.rx_skbs);
    field("rx_packets", port.rx_packets);
};

using Latency = std::map<double, double>;

/// The key is the shortest text that reads as the same number.
Value write_latency(const Latency& latency) { return json::to_json(latency); }
bool read_latency(const Value& in, Latency& latency) {
    if (in.object() == nullptr) return false;
    for (const auto& [key, microseconds, place] : *in.object()) {
        double percentile = 0;
        const auto* end = key.data() + key.size();
        const auto [stop, error] = std::from_chars(key.data(), end, percentile);
        if (error != std::errc{} || stop != end || !(percentile >= 0 && percentile <= 100)) return false;
        json::from_json(microseconds, latency[percentile]);
    }
    return true;
}

constexpr auto sample_fields = [](auto field, auto& sample) {
    field.amount("seconds", sample.seconds);
    field.amount("sent", sample.sent);
    field.amount("received", sample.received);
    field.by_name("cpus", sample.cpus, time_fields);
    field("host_threads", sample.host_threads);
    field("far_threads", sample.far_threads);
    field.by_name("ports", sample.ports, port_fields);
    field("operations", sample.operations);
    field.as("latency", sample.latency, write_latency, read_latency);
    field.object("host", sample.host, time_fields);
    field.object("far", sample.far, time_fields);
    field.amount("host_daemon", sample.host_daemon);
    field.amount("far_daemon", sample.far_daemon);
    field.amount("joules", sample.joules);
    field.amount("speed", sample.speed);
};

constexpr auto case_fields = [](auto field, auto& what) {
    field.name("over", what.over);
    field("datapath", what.datapath);
    field("ports", what.ports);
    field.name("way", what.way);
    field.name("load", what.load);
    field("tso", what.tso);
    field.name("binding", what.binding);
    field("clients", what.clients);
    field("message", what.message);
    field("socket_buffer", what.socket_buffer);
    field("gso_max", what.gso_max);
    field("mtu", what.mtu);
};

/// The medians by the names of teamo-metrics(7), for programs. They are made again when results are read.
Value figures_of(const Measured& measured, Basis basis) {
    Object figures;
    for (const auto& metric : metrics())
        if (const auto spread = spread_of(measured, basis, metric.figure))
            figures.push_back({std::string(metric.key), spread->median});
    return figures;
}

auto measured_fields(Basis basis) {
    return [basis](auto field, auto& measured) {
        field.object("case", measured.what, case_fields);
        field.write_only("figures", figures_of(measured, basis));
        field.list("rounds", measured.rounds, sample_fields);
        field.name("limit", measured.limit);
        field("skipped", measured.skipped);
        field("failed", measured.failed);
    };
}

constexpr auto machine_fields = [](auto field, auto& machine) {
    field("kernel", machine.kernel);
    field("cpu", machine.cpu);
    field("driver", machine.driver);
    field("cpus", machine.cpus);
    field("version", machine.version);
    field("date", machine.date);
    field("sysctls", machine.sysctls);
    field("nftables", machine.nftables);
    field("link_mbits", machine.link_mbits);
    field("shaped_by", machine.shaped_by);
    field("other_work", machine.other_work);
    field("meter_needs_root", machine.meter_needs_root);
};

auto results_fields(Basis basis) {
    return [basis](auto field, auto& results) {
        field.write_only("format", json_format);
        field.object("machine", results.machine, machine_fields);
        field("profile", results.profile);
        field.list("cases", results.cases, measured_fields(basis));
    };
}

/// A file of others may have control characters, which a terminal obeys.
void make_printable(Value& value) {
    if (auto* text = std::get_if<std::string>(&value.data())) *text = json::printable(*text);
    if (auto* list = value.array())
        for (auto& element : *list)
            make_printable(element);
    if (auto* object = value.object())
        for (auto& member : *object) {
            member.key = json::printable(member.key);
            make_printable(member.value);
        }
}

} // namespace

json::Value to_json(const Case& what) { return json::write_fields(what, case_fields); }

json::Value to_json(const Results& results) {
    return json::write_fields(results, results_fields(basis_of(results)));
}

Result<Results> from_json(json::Value document) {
    if (json::number(document, "format") != json_format)
        return fail(EBADMSG, fmt::format("not results of teamo-bench in format {}", json_format));
    std::map<std::string, std::string> sysctls; // with their tabs
    json::from_json(json::child(json::child(document, "machine"), "sysctls"), sysctls);
    make_printable(document);
    auto results = TEAMO_TRY(json::read_strictly<Results>(document, results_fields({})));
    results.machine.sysctls = std::move(sysctls);
    for (auto& [what, rounds, limit, skipped, failed] : results.cases)
        what = with_load(what, what.load); // earlier versions gave sizes to all loads
    return results;
}

} // namespace teamo::bench
