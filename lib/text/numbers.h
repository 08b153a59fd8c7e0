// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Numbers as text for people; pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teamo {

/// Bytes per second in Mbit/s, the unit of link speeds: "412 Mbit/s", below ten "4.1 Mbit/s".
std::string megabits(double bytes_per_second);
/// "38.2 %"; "-" if `whole` is 0.
std::string share(double part, double whole);
/// "4.2 s", "12 min", "3 h".
std::string duration(std::chrono::milliseconds time);
/// "1 bucket", "3 buckets".
std::string counted(std::size_t count, std::string_view one, std::string_view many);
/// "eth1, eth2 and eth3".
std::string listed(const std::vector<std::string>& names);
/// "a, b, c"
std::string joined(const std::vector<std::string>& names);
/// `values` must not be empty. The mean of the middle two if their number is even.
double median(std::vector<double> values);

/// Microseconds of CPU time for each KiB: netperf's service demand. None without bytes.
std::optional<double> service_demand(double cpu_seconds, double bytes);

constexpr double bytes_per_megabit = 125e3, bytes_per_kibibyte = 1024;

} // namespace teamo
