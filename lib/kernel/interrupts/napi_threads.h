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

/// Gives each queue of the port its thread. Where the netdev family does not tell it is by the threads'
/// names, "napi/eth0-8197": numbers rise in the order of the queues, so only where there are as many as
/// queues.
void find_threads(PortInterrupts& port, const DeviceFolder& folder, const std::string& name,
                  const NetdevQueues& told, const std::string& root);

} // namespace teamo
