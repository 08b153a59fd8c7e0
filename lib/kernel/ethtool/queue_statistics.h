// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Packets received by each queue of a device, from the driver's own statistics (ethtool -S). No other
// interface has them for drivers that do not report which vector serves which queue.
#pragma once

#include "base/result.h"
#include "kernel/interrupts/vector_groups.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// The positions of the statistics that count the packets of receive queues 0 to `queues` - 1. Every driver
/// uses its own names: "rx_queue_0_packets", "rx0_packets", "rx-0.packets", "queue_0_rx_cnt", "[0]:
/// rx_ucast_packets". Empty if a queue has none. Pure.
std::vector<std::size_t> find_queue_packets(std::span<const std::string> names, unsigned queues);

/// By receive queue. ENOTSUP, EOPNOTSUPP: the driver does not count by queue; EAGAIN: the number of
/// statistics changed while they were read; ENODEV: there is no such device. The kernel holds RTNL meanwhile,
/// and some drivers ask the card's firmware, which is slow.
Result<std::vector<std::uint64_t>> read_queue_packets(const std::string& device, unsigned queues);

/// Also takes the counts of the port's vectors; call refresh() before.
Result<InterruptSample> read_interrupt_sample(const PortInterrupts& port, const std::string& device);

} // namespace teamo
