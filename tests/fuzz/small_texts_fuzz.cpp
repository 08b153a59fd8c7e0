// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Texts with a parser of a few lines: names and numbers in /proc, /sys and /run, and the kernel's names of
// statistics and links. What is parsed is in its range, and reads back the same.
// fuzz: -max_len=1024
#include "base/take_until.h"
#include "base/whole_number.h"
#include "bench/run/read_machine.h"
#include "kernel/ethtool/queue_statistics.h"
#include "kernel/files/device_files.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"
#include "kernel/interrupts/irqbalance.h"
#include "kernel/interrupts/vector_names.h"
#include "kernel/packets/tipc_links.h"
#include "require.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

using namespace teamo;

namespace {

void check_numbers(std::string_view text) {
    const auto numbers = sysfs::numbers_of(text);
    require(numbers.size() <= (text.size() + 1) / 2);
    require(sysfs::numbers_of(fmt::format("{}", fmt::join(numbers, " "))) == numbers);
    auto rest = text; // the first line of a counter of /sys
    if (const auto count = whole_number<int>(take_until(rest, "\n")))
        require(whole_number<int>(fmt::format("{}", *count)) == count);
}

void check_devices(std::string_view text) {
    if (is_pci_address(text))
        require(text.size() >= 12 && std::ranges::count(text, ':') == 2 &&
                std::ranges::count(text, '.') == 1);
    const auto speed = parse_pcie_speed(text);
    require(speed >= 0 && speed < 1000);
    if (speed > 0) require(parse_pcie_speed(fmt::format("{} GT/s PCIe", speed)) == speed);
    const auto bearer = tipc_bearer_of(text);
    if (!bearer.empty()) require(tipc_bearer_of(fmt::format("1.1.1:{}-1.1.2:eth0", bearer)) == bearer);
}

void check_processes(std::string_view text) {
    if (const auto inode = socket_inode(text))
        require(socket_inode(fmt::format("socket:[{}]", *inode)) == inode);
    if (const auto pid = parse_pid_file(text))
        require(*pid > 0 && parse_pid_file(fmt::format("{}\n", *pid)) == pid);
    if (const auto pid = pid_of_socket(text))
        require(*pid > 0 && pid_of_socket(fmt::format("irqbalance{}.sock", *pid)) == pid);
    auto thread = text;
    const auto device = take_until(thread, "\n"); // then the thread's name
    if (const auto napi = napi_of_thread(thread, device))
        require(*napi != 0 && napi_of_thread(fmt::format("napi/{}-{}", device, *napi), device) == napi);
    require(napi_of_thread(fmt::format("napi/{}-8197", device), device) == 8197U);
}

/// A name in each line, for the number of queues that the first byte gives.
void check_statistics(std::string_view text) {
    if (text.empty()) return;
    const auto queues = static_cast<unsigned char>(text.front()) % 9U;
    std::vector<std::string> names;
    for (text.remove_prefix(1); !text.empty();)
        names.emplace_back(take_until(text, "\n"));
    const auto positions = find_queue_packets(names, queues);
    require(positions.empty() || positions.size() == queues);
    require(std::set(positions.begin(), positions.end()).size() == positions.size());
    for (const auto position : positions)
        require(position < names.size());
}

void check_tables(std::string_view text) {
    const auto model = bench::parse_cpu_model(text);
    require(model.find('\n') == std::string::npos && !model.starts_with(' '));
    require(bench::parse_cpu_model(fmt::format("model name\t: {}\n", model)) == model);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    check_numbers(text);
    check_devices(text);
    check_processes(text);
    check_statistics(text);
    check_tables(text);
    return 0;
}
