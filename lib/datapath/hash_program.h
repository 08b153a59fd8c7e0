// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/config.h"

#include <linux/filter.h>

#include <vector>

namespace teamo {

/// The transmit hash of bpf/flow_hash.h and bpf/parse.bpf.h as a classic BPF program, as the team driver
/// takes it (bpf_hash_func): the same packet falls into the same bucket by either datapath. It returns the
/// bucket, in the lowest byte, so that the driver's folding of four bytes into one changes nothing. With
/// HashField::cpu that is the sending CPU's number, modulo 256; which port a bucket leaves by is for the
/// driver's table to say, so packets whose CPU has no port that carries go by that, and not by a flow's hash.
std::vector<sock_filter> hash_program(HashFields fields);

} // namespace teamo
