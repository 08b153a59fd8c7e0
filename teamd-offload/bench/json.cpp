// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/json.h"

#include "base/whole_number.h"
#include "bench/metrics.h"
#include "bench/names.h"
#include "json/fields.h"
#include "json/quote.h"

#include <charconv>
#include <limits>
#include <utility>

namespace teamo::bench {
namespace {

using json::Array;
using json::child;
using json::counted;
using json::Object;
using json::Value;

Value value_of(const CpuTime& time) {
    return Object{{"user", time.user},
                  {"system", time.system},
                  {"softirq", time.softirq},
                  {"irq", time.irq},
                  {"idle", time.idle}};
}

Value value_of(const PortTraffic& port) {
    return Object{{"tx_bytes", counted(port.tx_bytes)},     {"tx_skbs", counted(port.tx_skbs)},
                  {"tx_packets", counted(port.tx_packets)}, {"rx_bytes", counted(port.rx_bytes)},
                  {"rx_skbs", counted(port.rx_skbs)},       {"rx_packets", counted(port.rx_packets)}};
}

/// The shortest text that reads as the same number.
std::string key_of(double percentile) { return fmt::format("{}", percentile); }

Value value_of(const Sample& sample) {
    Object cpus, ports, latency;
    for (const auto& [number, time] : sample.cpus)
        cpus.push_back({std::to_string(number), value_of(time)});
    for (const auto& [name, port] : sample.ports)
        ports.push_back({name, value_of(port)});
    for (const auto& [percentile, microseconds] : sample.latency)
        latency.push_back({key_of(percentile), microseconds});
    Value value = Object{{"seconds", sample.seconds},           {"sent", sample.sent},
                         {"received", sample.received},         {"cpus", std::move(cpus)},
                         {"host_threads", sample.host_threads}, {"far_threads", sample.far_threads},
                         {"ports", std::move(ports)},           {"operations", counted(sample.operations)},
                         {"latency", std::move(latency)}};
    if (sample.host) value.set("host", value_of(*sample.host));
    if (sample.far) value.set("far", value_of(*sample.far));
    if (sample.host_daemon) value.set("host_daemon", *sample.host_daemon);
    if (sample.far_daemon) value.set("far_daemon", *sample.far_daemon);
    if (sample.joules) value.set("joules", *sample.joules);
    if (sample.speed) value.set("speed", *sample.speed);
    return value;
}

/// The medians by the names of teamo-metrics(7), for programs. They are made again when results are read.
Value figures_of(const Measured& measured, Basis basis) {
    Object figures;
    for (const auto& metric : metrics())
        if (const auto spread = spread_of(measured, basis, metric.figure))
            figures.push_back({std::string(metric.key), spread->median});
    return figures;
}

Value value_of(const Measured& measured, Basis basis) {
    Array rounds;
    for (const auto& sample : measured.rounds)
        rounds.push_back(value_of(sample));
    return Object{{"case", to_json(measured.what)}, {"figures", figures_of(measured, basis)},
                  {"rounds", std::move(rounds)},    {"limit", name_of(measured.limit)},
                  {"skipped", measured.skipped},    {"failed", measured.failed}};
}

Value value_of(const Machine& machine) {
    Object sysctls;
    for (const auto& [name, value] : machine.sysctls)
        sysctls.push_back({name, value});
    return Object{{"kernel", machine.kernel},         {"cpu", machine.cpu},
                  {"driver", machine.driver},         {"cpus", machine.cpus},
                  {"version", machine.version},       {"date", machine.date},
                  {"sysctls", std::move(sysctls)},    {"nftables", machine.nftables},
                  {"link_mbits", machine.link_mbits}, {"shaped_by", machine.shaped_by},
                  {"other_work", machine.other_work}, {"meter_needs_root", machine.meter_needs_root}};
}

/// A file of others may have control characters, which a terminal obeys.
std::string printable(const Value& in, std::string_view key) { return json::printable(json::text(in, key)); }

/// A number with or without a fraction: other programs write 1 for 1.0.
double real_of(const Value& value) {
    if (const auto* real = value.real()) return *real;
    const auto* whole = value.integer();
    return whole == nullptr ? 0 : static_cast<double>(*whole);
}
double real(const Value& in, std::string_view key) { return real_of(child(in, key)); }

/// Of a time, bytes or a rate. EBADMSG: negative.
Result<double> amount(const Value& in, std::string_view key) {
    const double found = real(in, key);
    if (found < 0) return fail(EBADMSG, fmt::format("\"{}\": {} is negative", key, found));
    return found;
}

Result<std::optional<double>> optional_amount(const Value& in, std::string_view key) {
    if (in.find(key) == nullptr) return std::optional<double>();
    return std::optional(TEAMO_TRY(amount(in, key)));
}

Result<std::uint32_t> number32(const Value& in, std::string_view key, std::uint32_t otherwise) {
    const auto* found = child(in, key).integer();
    if (found == nullptr) return otherwise;
    if (!std::in_range<std::uint32_t>(*found))
        return fail(EBADMSG, fmt::format("\"{}\": {} is not a number from 0 to {}", key, *found,
                                         std::numeric_limits<std::uint32_t>::max()));
    return static_cast<std::uint32_t>(*found);
}

template <class Enum>
Result<Enum> word(const Value& in, std::string_view key) {
    if (in.find(key) == nullptr) return Enum{};
    const auto value = named<Enum>(printable(in, key));
    if (!value) return fail(EBADMSG, fmt::format("\"{}\": unknown word \"{}\"", key, printable(in, key)));
    return *value;
}

Result<Case> case_from(const Value& in) {
    Case what;
    what.over = TEAMO_TRY(word<Carrier>(in, "over"));
    what.way = TEAMO_TRY(word<Way>(in, "way"));
    what.load = TEAMO_TRY(word<Load>(in, "load"));
    what.binding = TEAMO_TRY(word<Binding>(in, "binding"));
    what.datapath = printable(in, "datapath");
    what.ports = TEAMO_TRY(number32(in, "ports", what.ports));
    what.tso = in.find("tso") == nullptr || json::flag(in, "tso");
    what.clients = TEAMO_TRY(number32(in, "clients", what.clients));
    what.message = TEAMO_TRY(number32(in, "message", what.message));
    what.socket_buffer = TEAMO_TRY(number32(in, "socket_buffer", what.socket_buffer));
    what.gso_max = TEAMO_TRY(number32(in, "gso_max", what.gso_max));
    what.mtu = TEAMO_TRY(number32(in, "mtu", what.mtu));
    return with_load(what, what.load); // earlier versions gave sizes to all loads
}

CpuTime cpu_time_from(const Value& in) {
    return {.user = real(in, "user"),
            .system = real(in, "system"),
            .softirq = real(in, "softirq"),
            .irq = real(in, "irq"),
            .idle = real(in, "idle")};
}

std::optional<CpuTime> end_from(const Value& in, std::string_view key) {
    return in.find(key) == nullptr ? std::nullopt : std::optional(cpu_time_from(child(in, key)));
}

PortTraffic port_from(const Value& in) {
    return {.tx_bytes = json::count(in, "tx_bytes"),
            .tx_skbs = json::count(in, "tx_skbs"),
            .tx_packets = json::count(in, "tx_packets"),
            .rx_bytes = json::count(in, "rx_bytes"),
            .rx_skbs = json::count(in, "rx_skbs"),
            .rx_packets = json::count(in, "rx_packets")};
}

Result<double> percentile_from(const std::string& key) {
    double percentile = 0;
    const auto* end = key.data() + key.size();
    const auto [stop, error] = std::from_chars(key.data(), end, percentile);
    if (error != std::errc{} || stop != end || !(percentile >= 0 && percentile <= 100))
        return fail(EBADMSG, fmt::format("\"latency\": \"{}\" is not a percentile", key));
    return percentile;
}

Result<Sample> sample_from(const Value& in) {
    Sample sample{.seconds = TEAMO_TRY(amount(in, "seconds")),
                  .sent = TEAMO_TRY(amount(in, "sent")),
                  .received = TEAMO_TRY(amount(in, "received")),
                  .host = end_from(in, "host"),
                  .far = end_from(in, "far"),
                  .host_threads = real(in, "host_threads"),
                  .far_threads = real(in, "far_threads"),
                  .operations = json::count(in, "operations")};
    for (const auto& [key, time, place] : json::object(in, "cpus")) {
        const auto number = whole_number<unsigned>(key);
        if (!number) return fail(EBADMSG, fmt::format("\"cpus\": \"{}\" is not a CPU", key));
        sample.cpus[*number] = cpu_time_from(time);
    }
    for (const auto& [name, port, place] : json::object(in, "ports"))
        sample.ports[json::printable(name)] = port_from(port);
    for (const auto& [key, microseconds, place] : json::object(in, "latency"))
        sample.latency[TEAMO_TRY(percentile_from(key))] = real_of(microseconds);
    sample.host_daemon = TEAMO_TRY(optional_amount(in, "host_daemon"));
    sample.far_daemon = TEAMO_TRY(optional_amount(in, "far_daemon"));
    sample.joules = TEAMO_TRY(optional_amount(in, "joules"));
    sample.speed = TEAMO_TRY(optional_amount(in, "speed"));
    return sample;
}

Result<Measured> measured_from(const Value& in) {
    Measured measured{.what = TEAMO_TRY(case_from(child(in, "case"))),
                      .skipped = printable(in, "skipped"),
                      .failed = printable(in, "failed")};
    measured.limit = TEAMO_TRY(word<Limit>(in, "limit"));
    for (const auto& round : json::array(in, "rounds"))
        measured.rounds.push_back(TEAMO_TRY(sample_from(round)));
    return measured;
}

Result<Machine> machine_from(const Value& in) {
    Machine machine{.kernel = printable(in, "kernel"),
                    .cpu = printable(in, "cpu"),
                    .driver = printable(in, "driver"),
                    .cpus = TEAMO_TRY(number32(in, "cpus", 0)),
                    .version = printable(in, "version"),
                    .date = printable(in, "date"),
                    .nftables = printable(in, "nftables"),
                    .link_mbits = real(in, "link_mbits"),
                    .shaped_by = printable(in, "shaped_by"),
                    .other_work = real(in, "other_work"),
                    .meter_needs_root = json::flag(in, "meter_needs_root")};
    for (const auto& [name, value, place] : json::object(in, "sysctls"))
        machine.sysctls[json::printable(name)] = json::string_of(value);
    return machine;
}

} // namespace

json::Value to_json(const Case& what) {
    return Object{{"over", name_of(what.over)},
                  {"datapath", what.datapath},
                  {"ports", what.ports},
                  {"way", name_of(what.way)},
                  {"load", name_of(what.load)},
                  {"tso", what.tso},
                  {"binding", name_of(what.binding)},
                  {"clients", what.clients},
                  {"message", what.message},
                  {"socket_buffer", what.socket_buffer},
                  {"gso_max", what.gso_max},
                  {"mtu", what.mtu}};
}

json::Value to_json(const Results& results) {
    Array cases;
    const auto basis = basis_of(results);
    for (const auto& measured : results.cases)
        cases.push_back(value_of(measured, basis));
    return Object{{"format", json_format},
                  {"machine", value_of(results.machine)},
                  {"profile", results.profile},
                  {"cases", std::move(cases)}};
}

Result<Results> from_json(const json::Value& document) {
    if (json::number(document, "format") != json_format)
        return fail(EBADMSG, fmt::format("not results of teamo-bench in format {}", json_format));
    Results results{.machine = TEAMO_TRY(machine_from(child(document, "machine"))),
                    .profile = printable(document, "profile")};
    for (const auto& measured : json::array(document, "cases"))
        results.cases.push_back(TEAMO_TRY(measured_from(measured)));
    return results;
}

} // namespace teamo::bench
