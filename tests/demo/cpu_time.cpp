// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Busy time is all time minus idle time. The busy ticks of /proc/stat miss short bursts if the tick stops on
// an idle CPU: bursts of 100 us every 500 us, 20.6 % of a CPU by the process's own clock, were 11.0 % by busy
// ticks and 21.4 % by idle time, which the kernel measures with a clock (tick_nohz_stop_idle).
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

/// Idle, iowait and steal time of a line of /proc/stat, in ticks (proc(5)).
double not_worked(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return idle + iowait + steal;
}

/// Busy time of all CPUs. Only differences are meaningful.
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
