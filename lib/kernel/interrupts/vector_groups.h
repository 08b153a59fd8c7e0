// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Which vectors serve a queue together. Pure.
#pragma once

#include "kernel/netlink/netdev_queues.h"
#include "model/interrupts.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace teamo {

/// Puts the vectors into `port`, whose numbers of queues are known (0: not told). `bears`: names of its
/// device.
void group_vectors(PortInterrupts& port, std::vector<IrqVector> vectors, const NetdevQueues& netdev_queues,
                   std::span<const std::string> device_names);

/// What was counted at one time.
struct InterruptSample {
    std::map<unsigned, std::uint64_t> vectors; ///< how often each came, by number
    std::vector<std::uint64_t> packets;        ///< by receive queue
    std::uint64_t sent = 0;                    ///< packets of all queues
};

/// Which vectors serve which queue, by number of the vector, as far as two samples tell: between them one
/// queue alone took in packets, and one vector came, more than others by far. Traffic on all queues at once
/// teaches nothing. Nor do packets that come in while more than half as many are sent: they may be
/// answers, and the vector that of the queue that sends.
std::map<unsigned, unsigned> infer_queues(const InterruptSample& before, const InterruptSample& after);

/// Whether there is anything to learn: vectors that nothing tells apart (VectorSource::ungrouped), one for
/// each of several receive queues, and no thread that polls for all of them.
bool can_be_divided(const PortInterrupts& port);

/// Divides that one group as soon as each of the receive queues has a vector; what is left tells of other
/// things. True if it has.
bool split_by_queue(PortInterrupts& port, const std::map<unsigned, unsigned>& learned);

} // namespace teamo
