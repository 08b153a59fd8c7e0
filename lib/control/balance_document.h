// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/balance_status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "balance" of the state document: loads and ports by bucket, loads by port, the last moves. Pure.
json::Value balance_document(const BalanceStatus& balance);

} // namespace teamo::control
