// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "model/config.h"
#include <linux/filter.h>
#include <vector>
namespace teamo {
std::vector<sock_filter> hash_program(HashFields fields);
} // namespace teamo
