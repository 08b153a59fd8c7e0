// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// The key "balance" of the state document: loads and ports by bucket, loads by port, the last moves. Pure.
json::Value balance_document(const BalanceStatus& balance);
/// Of the configuration only `on`, `aware` and `interval` are in it.
BalanceStatus read_balance(const json::Value& document);

/// One port in it, without its name.
json::Value port_balance_document(const PortBalance& port);

} // namespace teamo::control
