// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Threads that poll queues (threaded NAPI).
#pragma once

#include "base/result.h"
#include "kernel/files/device_folder.h"
#include "kernel/netlink/netdev_queues.h"
#include "model/interrupts.h"

#include <string>

namespace teamo {

/// Sets the thread of each queue of the port: as the netdev family reports it, otherwise by the threads'
/// names, "napi/eth0-8197". The numbers rise in the order of the queues, so names are used only if there are
/// as many threads as queues.
void find_threads(PortInterrupts& port, const DeviceFolder& folder, const std::string& name,
                  const NetdevQueues& netdev_queues, const std::string& root);

} // namespace teamo
