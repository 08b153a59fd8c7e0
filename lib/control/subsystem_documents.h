// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The keys of the state document that a team's subsystems have. Pure.
#pragma once

#include "model/status.h"
#include "json/value.h"

namespace teamo::control {

/// "balance": loads and ports by bucket, loads by port, the last moves.
json::Value balance_document(const BalanceStatus& balance);
/// One port in it, without its name.
json::Value port_balance_document(const PortBalance& port);
/// Of the configuration only `on`, `aware` and `interval` are read.
BalanceStatus read_balance(const json::Value& document);

/// "offload".
json::Value offload_document(const OffloadStatus& status);
/// The team's name is not in it.
OffloadStatus read_offloads(const json::Value& document);

/// "interrupts", also the answer to InterruptsPlan.
json::Value interrupt_document(const InterruptStatus& status);
/// The planned settings of threads, XPS and RPS are not in it, and neither are the numbers of queues.
InterruptStatus read_interrupts(const json::Value& document);

/// "workers".
json::Value workers_document(const WorkersStatus& status);
/// One worker in it.
json::Value worker_document(const WorkerStatus& status);
/// The workers' start times are not in it.
WorkersStatus read_workers(const json::Value& document);

} // namespace teamo::control
