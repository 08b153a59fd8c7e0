// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/papers.h"

#include <algorithm>
#include <array>

namespace teamo::bench {
namespace {

constexpr auto all_papers = std::to_array<Paper>({
    {.key = "APA",
     .about =
         "HP Auto Port Aggregation on an rx8620: netperf, messages of 32 KB, sockets of 128 KB, TSO off.",
     .found =
         "2 / 4 / 8 ports transmit 1891 / 3786 / 7546 Mbit/s and receive 1887 / 3779 / 7448, which is 100 / "
         "100 / 99 % of the single ports' sum (948 Mbit/s each); both ways 3.68 / 7.3 / 13.5 Gbit/s, 97 / 97 "
         "/ 90 %. The service demand, each way, is 40 % higher with 8 ports than with 2."},
    {.key = "HP TSO",
     .about = "TCP segmentation offload on an HP rp4440.",
     .found =
         "Service demand 47 / 47 / 46 % lower transmitting and 24 / 30 / 26 % lower both ways with 1 / 2 / 4 "
         "ports. One driver (igelan) loses 2 to 11 % of the throughput near saturation."},
    {.key = "Linux TSO",
     .about = "TCP segmentation offload in Linux 2.5.33 with an e1000 port.",
     .found = "Transmits 940 Mbit/s at 40 % CPU without and at 19 % with TSO; both ways 1500 Mbit/s at 82 % "
              "without and 1633 at 75 % with it."},
    {.key = "TOE",
     .about = "TCP offload engine of a Broadcom BCM5709.",
     .found =
         "Performance efficiency of teamed ports virtually identical to that of the same ports unteamed; CPU "
         "9 % lower with large i/o; 3 to 8 W saved by a system."},
    {.key = "FEP",
     .about = "Front end processor of Tandem.",
     .found = "7 times the bandwidth, and nearly 10 times the bandwidth by CPU, by work on packets that "
              "leaves the "
              "host; i/o's are the data size / 1024 x 2."},
});

/// What the papers have for a way and a number of ports.
struct Point {
    Way way;
    unsigned ports;
    std::optional<double> apa_mbits{}, apa_of_sum{}; ///< not of a single port: it is the measure of itself
    std::optional<double> hp_saving{}, linux_gain{}; ///< by TSO
};
constexpr auto points = std::to_array<Point>({
    {.way = Way::transmit, .ports = 1, .apa_mbits = 948, .hp_saving = 0.47, .linux_gain = 940.0 / 940 - 1},
    {.way = Way::transmit, .ports = 2, .apa_mbits = 1891, .apa_of_sum = 1, .hp_saving = 0.47},
    {.way = Way::transmit, .ports = 4, .apa_mbits = 3786, .apa_of_sum = 1, .hp_saving = 0.46},
    {.way = Way::transmit, .ports = 8, .apa_mbits = 7546, .apa_of_sum = 0.99},
    {.way = Way::receive, .ports = 1, .apa_mbits = 948},
    {.way = Way::receive, .ports = 2, .apa_mbits = 1887, .apa_of_sum = 1},
    {.way = Way::receive, .ports = 4, .apa_mbits = 3779, .apa_of_sum = 1},
    {.way = Way::receive, .ports = 8, .apa_mbits = 7448, .apa_of_sum = 0.99},
    {.way = Way::both, .ports = 1, .hp_saving = 0.24, .linux_gain = 1633.0 / 1500 - 1},
    {.way = Way::both, .ports = 2, .apa_mbits = 3680, .apa_of_sum = 0.97, .hp_saving = 0.30},
    {.way = Way::both, .ports = 4, .apa_mbits = 7300, .apa_of_sum = 0.97, .hp_saving = 0.26},
    {.way = Way::both, .ports = 8, .apa_mbits = 13'500, .apa_of_sum = 0.90},
});

std::optional<double> value_at(Way way, unsigned ports, std::optional<double> Point::* figure) {
    const auto* found = std::ranges::find_if(
        points, [&](const Point& point) { return point.way == way && point.ports == ports; });
    return found == points.end() ? std::nullopt : found->*figure;
}

} // namespace

std::span<const Paper> papers() { return all_papers; }

std::optional<double> apa_throughput(Way way, unsigned ports) {
    return value_at(way, ports, &Point::apa_mbits);
}

std::optional<double> apa_of_sum(Way way, unsigned ports) { return value_at(way, ports, &Point::apa_of_sum); }

std::optional<double> apa_demand_rise(Way way, unsigned ports) {
    return ports == 8 && way != Way::both ? std::optional(1.4) : std::nullopt;
}

std::optional<double> hp_tso_saving(Way way, unsigned ports) {
    return value_at(way, ports, &Point::hp_saving);
}

std::optional<double> linux_tso_gain(Way way, unsigned ports) {
    return value_at(way, ports, &Point::linux_gain);
}

} // namespace teamo::bench
