// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"

#include <linux/filter.h>

#include <vector>

namespace teamo {

/// The transmit hash of bpf/flow_hash.h and bpf/parse.bpf.h as a classic BPF program for the team driver
/// (bpf_hash_func): a packet has the same bucket in both datapaths. It returns the bucket in the lowest byte,
/// so that the driver's XOR of the four bytes has no effect. With HashField::cpu the bucket is the sending
/// CPU's number modulo 256. The driver's table gives the port of each bucket, also for a CPU without a port
/// that carries; the BPF datapath uses the flow's hash for those.
std::vector<sock_filter> hash_program(HashFields fields);

} // namespace teamo
