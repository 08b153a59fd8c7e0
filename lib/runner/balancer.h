// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "model/balance.h"
#include "runner/buckets.h"
#include <span>
#include <vector>
namespace teamo {
struct BalancedPort { Slot slot; double capacity = 0; bool segments = true; double cpu_load = 0; };
struct BalancePolicy { bool aware = true; double tolerance = 0.05; double target = 0.02; double spill = 0.9; };
struct Placement { Homes homes; std::vector<BucketMove> moves; std::array<double, max_ports + 1> planned{}; };
inline Placement place(const Homes& now, const BucketLoads&, std::span<const BalancedPort>, const BalancePolicy&) { return {now, {}, {}}; }
}
