// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/traffic/cpu_meter.h"

#include "support/daemon/process.h"

namespace teamo::test {
namespace {

CpuReading read() {
    auto reading = read_cpus();
    if (!reading) throw SetupError(reading.error().text);
    return std::move(*reading);
}

} // namespace

CpuMeter::CpuMeter() : start_(read()) {}

std::chrono::microseconds CpuMeter::busy() const {
    const std::chrono::duration<double> busy(busy_seconds(start_, read(), ticks_per_second()));
    return std::chrono::duration_cast<std::chrono::microseconds>(busy);
}

} // namespace teamo::test
