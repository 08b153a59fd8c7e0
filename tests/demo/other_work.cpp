// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/other_work.h"

#include "support/traffic/cpu_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace teamo::demo {

void OtherLoad::look(const Report& report) {
    using namespace std::chrono_literals;
    constexpr std::chrono::duration<double, std::micro> time = 300ms;
    const test::CpuMeter others;
    std::this_thread::sleep_for(time);
    // The kernel counts idle time a little late on busy CPUs: the result may exceed the number of CPUs.
    const auto all = static_cast<double>(std::thread::hardware_concurrency());
    const auto cpus = std::clamp(static_cast<double>(others.busy().count()) / time.count(), 0.0, all);
    most_ = std::max(most_, cpus);
    report.step(fmt::format("other programs keep {:.2f} CPUs of this machine busy (best: none)", cpus));
}

std::string OtherLoad::excuse() const {
    constexpr double negligible = 0.25;
    return most_ < negligible ? "" : fmt::format("other programs keep {:.2f} CPUs busy", most_);
}

} // namespace teamo::demo
