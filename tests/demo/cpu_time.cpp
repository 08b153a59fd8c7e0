// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Busy is what is not idle, not what ticks found busy. Where the tick stops on an idle CPU, as here, work in
// short bursts falls between the ticks: bursts of 100 us each 500 us, 20.6 % of a CPU by the process's own
// clock, were 11.0 % by the ticks of /proc/stat and 21.4 % by what was not idle; idle time is taken by clock
// (kernel: tick_nohz_stop_idle).
#include "demo/cpu_time.h"

#include "support/daemon/process.h"

#include <unistd.h>

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>

namespace teamo::demo {

using std::chrono::duration_cast;
using std::chrono::microseconds;

namespace {

/// Idle, waiting for a disk, or given to another guest by the hypervisor (proc(5), /proc/stat), in ticks.
double not_worked(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return idle + iowait + steal;
}

/// Time that passed on all CPUs less what they did not work; only its growth means something.
microseconds worked() {
    std::ifstream stat("/proc/stat");
    const auto now = duration_cast<microseconds>(std::chrono::steady_clock::now().time_since_epoch());
    const auto tick = 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    microseconds sum{0};
    bool any = false;
    for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
        if (line.size() < 4 || std::isdigit(static_cast<unsigned char>(line[3])) == 0) continue;
        sum += now - microseconds{static_cast<microseconds::rep>(not_worked(line) * tick)};
        any = true;
    }
    if (!any) throw test::SetupError("/proc/stat names no CPU");
    return sum;
}

} // namespace

CpuMeter::CpuMeter() : start_(worked()) {}

microseconds CpuMeter::busy() const { return worked() - start_; }

} // namespace teamo::demo
