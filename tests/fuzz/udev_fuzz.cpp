// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Paths in udev's database, .link files and their drop-ins, CPUs of systemd, and addresses in any text.
// fuzz: -max_len=1024
#include "base/ip_address.h"
#include "base/mac_address.h"
#include "base/take_until.h"
#include "kernel/interrupts/udev_policy.h"
#include "require.h"
#include "workers/processes.h"
#include "workers/unit_cpus.h"

#include <array>
#include <vector>

using namespace teamo;

namespace {

/// A file, and a drop-in after a form feed.
void check_policy(std::string_view text) {
    const std::string_view file = take_until(text, "\f"), drop_in = text;
    const std::array files{ConfigText{"file", std::string(file)},
                           ConfigText{"drop-in", std::string(drop_in)}};
    const auto policy = find_udev_irq_policy(files);
    if (!policy) return;
    require(policy->file == "file" || policy->file == "drop-in");
    constexpr std::string_view key = "IRQAffinityPolicy=";
    require(policy->setting.starts_with(key) && policy->setting.size() > key.size());
    if (policy->setting.ends_with('\\')) return; // it would join the next line
    const ConfigText again{policy->file, fmt::format("[Link]\n{}\n", policy->setting)};
    require(find_udev_irq_policy({&again, 1}) == policy);
}

void check_cpus(std::vector<std::uint8_t> bytes) {
    const auto cpus = cpus_of_bytes(bytes);
    require(cpus.empty() || cpus.back() < 8192);
    while (!bytes.empty() && bytes.back() == 0)
        bytes.pop_back();
    if (bytes.size() <= 8192 / 8) require(cpu_bytes(cpus) == bytes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    for (const auto& path : parse_udev_paths(text))
        require(path.size() <= size);
    check_policy(text);
    check_cpus({bytes, bytes + size});
    if (const auto address = parse_mac_address(text))
        require(parse_mac_address(text_of(*address)) == address);
    if (const auto address = parse_ip(text)) require(parse_ip(text_of(*address)) == address);
    static_cast<void>(parse_descendants(text));
    return 0;
}
