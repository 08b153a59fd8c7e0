// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/traffic.h"

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;

/// Until TCP is at full speed and the queues are full. Shorter rounds are no measurements.
constexpr auto ramp = 300ms;
constexpr std::array percentiles{50.0, 90.0, 99.0, 99.9};

/// The clients of a case. A web server is on the host that sends; all other connections start at the host.
struct Clients {
    LoadThreads at_host{}, at_far{};
};

Order order_of(const Case& what, bool host_sends) {
    switch (what.load) {
    case Load::stream:
        return {.what = host_sends ? Serve::sink : Serve::source,
                .bytes = what.message,
                .buffer = what.socket_buffer};
    case Load::file: return {.what = host_sends ? Serve::store : Serve::file, .bytes = file_size};
    case Load::request: return {.what = Serve::echo, .bytes = 1};
    case Load::http: return {.what = Serve::http};
    }
    return {};
}

Result<> start_way(Clients& clients, const Ends& ends, const Case& what, bool host_sends) {
    const bool from_far = what.load == Load::http && host_sends;
    return start_clients(from_far ? clients.at_far : clients.at_host,
                         {.servers = from_far ? ends.host_addresses : ends.far_addresses,
                          .port = ends.port,
                          .order = order_of(what, host_sends),
                          .message = what.message,
                          .cpus = from_far ? ends.far_threads : ends.host_threads,
                          .congestion_control = ends.congestion_control,
                          .enter = from_far ? ends.enter_far : ends.enter_host});
}

Result<Snapshot> look_at(const Ends& ends, const Clients& clients) {
    auto ports = TEAMO_TRY(ends.read_ports());
    auto meters = TEAMO_TRY(read_meters());
    return Snapshot{.meters = std::move(meters),
                    .host_clients = clients.at_host.totals(),
                    .far_clients = clients.at_far.totals(),
                    .host_server = TEAMO_TRY(ends.host_server()),
                    .far_server = TEAMO_TRY(ends.far_server()),
                    .host_daemon = ends.host_daemon ? ends.host_daemon() : std::nullopt,
                    .far_daemon = ends.far_daemon ? ends.far_daemon() : std::nullopt,
                    .ports = std::move(ports)};
}

/// The datapath's counters start anew with its program: then the skbs of this time are not known.
PortTraffic operator-(const PortTraffic& later, const PortTraffic& earlier) {
    const auto since = [&](std::uint64_t PortTraffic::* count) {
        return later.*count - std::min(earlier.*count, later.*count);
    };
    const bool anew = later.tx_skbs < earlier.tx_skbs || later.rx_skbs < earlier.rx_skbs;
    return {.tx_bytes = since(&PortTraffic::tx_bytes),
            .tx_skbs = anew ? 0 : since(&PortTraffic::tx_skbs),
            .tx_packets = since(&PortTraffic::tx_packets),
            .rx_bytes = since(&PortTraffic::rx_bytes),
            .rx_skbs = anew ? 0 : since(&PortTraffic::rx_skbs),
            .rx_packets = since(&PortTraffic::rx_packets)};
}

std::optional<double> taken(const std::optional<double>& before, const std::optional<double>& after) {
    return before && after ? std::optional(*after - *before) : std::nullopt;
}

} // namespace

Sample sample_between(const Ends& ends, const Snapshot& before, const Snapshot& after) {
    const std::chrono::duration<double> seconds = after.meters.cpu.at - before.meters.cpu.at;
    // Payload counts where it arrives: what was sent may still be in a queue. Over a round that is little.
    const auto arrived = [](const Totals& clients, const Totals& server, const Totals& clients_before,
                            const Totals& server_before) {
        return static_cast<double>(clients.received + server.received - clients_before.received -
                                   server_before.received);
    };
    Sample sample{
        .seconds = seconds.count(),
        .sent = ends.far_is_shared
                    ? static_cast<double>(after.host_clients.sent - before.host_clients.sent)
                    : arrived(after.far_clients, after.far_server, before.far_clients, before.far_server),
        .received = arrived(after.host_clients, after.host_server, before.host_clients, before.host_server),
        .cpus = times_between(before.meters.cpu, after.meters.cpu, ticks_per_second()),
        .host_threads =
            after.host_clients.cpu + after.host_server.cpu - before.host_clients.cpu - before.host_server.cpu,
        .far_threads =
            after.far_clients.cpu + after.far_server.cpu - before.far_clients.cpu - before.far_server.cpu,
        .host_daemon = taken(before.host_daemon, after.host_daemon),
        .far_daemon = taken(before.far_daemon, after.far_daemon),
        .operations = after.host_clients.operations + after.far_clients.operations -
                      before.host_clients.operations - before.far_clients.operations,
        .joules = joules_between(before.meters, after.meters)};
    if (ends.host_cpus) sample.host = sum_of(sample.cpus, *ends.host_cpus);
    if (ends.far_cpus) sample.far = sum_of(sample.cpus, *ends.far_cpus);
    for (const auto& [name, port] : after.ports)
        if (const auto found = before.ports.find(name); found != before.ports.end())
            sample.ports[name] = port - found->second;
    return sample;
}

Result<Sample> measure_round(const Ends& ends, const Case& what, std::chrono::milliseconds length) {
    Clients clients;
    if (what.way != Way::receive) TEAMO_TRY(start_way(clients, ends, what, /*host_sends=*/true));
    if (what.way != Way::transmit) TEAMO_TRY(start_way(clients, ends, what, /*host_sends=*/false));
    TEAMO_TRY(await_clients(clients.at_host));
    TEAMO_TRY(await_clients(clients.at_far));
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(ramp, length));
    clients.at_host.clear_latency();
    clients.at_far.clear_latency();
    const auto before = TEAMO_TRY(look_at(ends, clients));
    std::this_thread::sleep_for(length);
    const auto after = TEAMO_TRY(look_at(ends, clients));
    Histogram latency;
    clients.at_host.add_latency_to(latency);
    clients.at_far.add_latency_to(latency);
    if (clients.at_host.any_failed() || clients.at_far.any_failed())
        return fail(EPIPE, "a connection of the load generators was lost");
    auto sample = sample_between(ends, before, after);
    for (const auto percent : percentiles)
        if (const auto microseconds = latency.percentile(percent)) sample.latency[percent] = *microseconds;
    return sample;
}

} // namespace teamo::bench
