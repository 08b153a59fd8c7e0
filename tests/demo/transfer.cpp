// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/transfer.h"

#include "support/net/links.h"
#include "support/traffic/cpu_meter.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace teamo::demo {

using namespace std::chrono_literals;

namespace {

/// The time until TCP is at full speed, and the time from the last reading to the end. The iperf3 processes
/// run some 10 ms apart: the sum of their figures for a line that carries 956 Mbit/s was up to 967.
constexpr auto ramp = 500ms, rest = 300ms;

/// Ethernet, IPv4, and TCP with timestamps.
constexpr std::uint64_t header_size = 14 + 20 + 32;

/// A device counts the headers of a GSO packet once.
std::uint64_t payload(const test::Counters& arrived) {
    return arrived.rx_bytes - arrived.rx_packets * header_size;
}

std::vector<test::Process> start_senders(const Stage& stage, std::chrono::seconds length) {
    std::vector<test::Process> senders;
    for (unsigned number = 0; number < client_count; ++number)
        senders.push_back(test::Process::start(
            {.argv = {"iperf3", "-J", "-t", std::to_string(length.count()), "-c", Stage::address_of(number)},
             .in = &stage.host()}));
    return senders;
}

double megabits_in(const std::string& json) {
    rapidjson::Document document;
    document.Parse(json.c_str());
    if (document.HasParseError() || !document.IsObject() || !document.HasMember("end") ||
        !document["end"].HasMember("sum_received"))
        throw test::SetupError("iperf3: " + json);
    return document["end"]["sum_received"]["bits_per_second"].GetDouble() / 1e6;
}

double sum_of(std::vector<test::Process>& senders) {
    double sum = 0;
    for (auto& sender : senders) {
        if (sender.wait(10s) != 0) throw test::SetupError("iperf3: " + sender.out() + sender.err());
        sum += megabits_in(sender.out());
    }
    return sum;
}

struct Sent {
    double bytes = 0, packets = 0; ///< by all ports
    double least_bytes = std::numeric_limits<double>::max();
};

Sent growth(const std::vector<test::Counters>& before, const std::vector<test::Counters>& after) {
    Sent sent;
    for (std::size_t port = 0; port < after.size(); ++port) {
        const auto one = after[port] - before[port];
        sent.bytes += static_cast<double>(one.tx_bytes);
        sent.packets += static_cast<double>(one.tx_packets);
        sent.least_bytes = std::min(sent.least_bytes, static_cast<double>(one.tx_bytes));
    }
    return sent;
}

} // namespace

Transfer transfer(const Stage& stage, std::chrono::seconds length) {
    auto senders = start_senders(stage, length);
    std::this_thread::sleep_for(ramp);
    const auto start = test::SteadyClock::now();
    const test::CpuMeter cpu;
    const auto sent_before = stage.sent();
    const auto arrived_before = stage.arrived();
    std::this_thread::sleep_for(length - ramp - rest);
    const auto arrived = stage.arrived() - arrived_before;
    const auto sent = growth(sent_before, stage.sent());
    const auto busy = static_cast<double>(cpu.busy().count());
    const std::chrono::duration<double, std::micro> time = test::SteadyClock::now() - start;

    const auto bytes = static_cast<double>(std::max<std::uint64_t>(payload(arrived), 1));
    return {.megabits = bytes * 8 / time.count(),
            .iperf3_megabits = sum_of(senders),
            .bytes_per_skb = sent.bytes / std::max(sent.packets, 1.0),
            .least_share = sent.least_bytes / std::max(sent.bytes, 1.0),
            .cpu_per_kb = busy / (bytes / 1024)};
}

} // namespace teamo::demo
