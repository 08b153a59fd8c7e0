// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How many packets each receive queue of a device has taken in, by the driver's own statistics (ethtool -S):
// no other interface has them for drivers that do not say which vector serves which queue.
#pragma once

#include "base/result.h"
#include "kernel/interrupts/vector_groups.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Which of the statistics count the packets of receive queues 0 to `queues` - 1, by their names, which every
/// driver makes up: "rx_queue_0_packets", "rx0_packets", "rx-0.packets", "queue_0_rx_cnt", "[0]:
/// rx_ucast_packets". Empty where none does for each of them. Pure.
std::vector<std::size_t> find_queue_packets(std::span<const std::string> names, unsigned queues);

/// By receive queue. ENOTSUP, EOPNOTSUPP: the driver does not count by queue; EAGAIN: it counts another
/// number of them than a moment ago; ENODEV: there is no such device. The kernel holds the lock of all
/// devices meanwhile, and some cards are asked by their firmware.
Result<std::vector<std::uint64_t>> read_queue_packets(const std::string& device, unsigned queues);

/// With what the port's vectors have counted (refresh).
Result<InterruptSample> read_interrupt_sample(const PortInterrupts& port, const std::string& device);

} // namespace teamo
