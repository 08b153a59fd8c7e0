// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/measure.h"

#include <rapidjson/document.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace teamo::demo {
namespace {

/// Busy time of all CPUs so far, in microseconds (proc(5), /proc/stat: user, nice, system, irq, softirq).
double busy_time() {
    std::ifstream stat("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    stat >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq;
    return (user + nice + system + irq + softirq) * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct Received {
    double megabits = 0, bytes = 0;
};

Received received(const std::string& json) {
    rapidjson::Document document;
    document.Parse(json.c_str());
    if (document.HasParseError() || !document.HasMember("end") || !document["end"].HasMember("sum_received"))
        throw test::SetupError("iperf3: " + json);
    const auto& sum = document["end"]["sum_received"];
    return {.megabits = sum["bits_per_second"].GetDouble() / 1e6, .bytes = sum["bytes"].GetDouble()};
}

} // namespace

Transfer transfer(const Stage& stage, std::chrono::seconds length) {
    const auto sent_before = stage.sent();
    const auto busy_before = busy_time();
    std::vector<test::Process> senders;
    for (unsigned number = 0; number < client_count; ++number)
        senders.push_back(test::Process::start(
            {.argv = {"iperf3", "-J", "-t", std::to_string(length.count()), "-c", Stage::address_of(number)},
             .in = &stage.host()}));
    Received all;
    for (auto& sender : senders) {
        if (sender.wait(length + std::chrono::seconds{10}) != 0)
            throw test::SetupError("iperf3: " + sender.out() + sender.err());
        const auto one = received(sender.out());
        all.megabits += one.megabits;
        all.bytes += one.bytes;
    }
    const auto busy = busy_time() - busy_before;
    const auto sent = stage.sent() - sent_before;
    return {.megabits = all.megabits,
            .bytes_per_skb = static_cast<double>(sent.tx_bytes) /
                             static_cast<double>(std::max<std::uint64_t>(sent.tx_packets, 1)),
            .cpu_per_kb = busy / (all.bytes / 1024)};
}

Pull pull_cable(const Stage& stage, const test::Stream& stream) {
    const auto port = stage.busiest_port(std::chrono::milliseconds{50});
    const auto first = stream.next();
    stage.wires().pull(port);
    if (!stream.flows(1'000))
        throw test::SetupError("nothing flows after " + test::Cabling::port(port) + " was pulled");
    // What was sent in the last 50 ms may still be under way.
    const auto lost = stream.tally(first, stream.next() - pull_rate / 20).lost;
    stage.wires().plug(port);
    stage.await_carrying(cables);
    return {.port = port, .lost = lost};
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values.at(values.size() / 2);
}

} // namespace teamo::demo
