// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Encodes and parses teamd's control protocol on its unix socket. Pure. One message is one SOCK_SEQPACKET
// record (libteam: teamd/teamd_usock.c, libteamdctl/cli_usock.c):
//
//   REQUEST\n<Method>\n<arg>\n…       "\n" and "\\" are escaped in args
//   REPLY_SUCCESS\n<payload>          raw payload, may be empty
//   REPLY_ERROR\n<Code>\n<Message>\n
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace teamo::control {

struct PortAdd {
    std::string port;
    bool operator==(const PortAdd&) const = default;
};
struct PortRemove {
    std::string port;
    bool operator==(const PortRemove&) const = default;
};
struct PortConfigUpdate {
    std::string port, config;
    bool operator==(const PortConfigUpdate&) const = default;
};
struct PortConfigDump {
    std::string port;
    bool operator==(const PortConfigDump&) const = default;
};
struct ConfigDump {
    bool operator==(const ConfigDump&) const = default;
};
struct ConfigDumpActual {
    bool operator==(const ConfigDumpActual&) const = default;
};
struct StateDump {
    bool operator==(const StateDump&) const = default;
};
struct StateItemValueGet {
    std::string path;
    bool operator==(const StateItemValueGet&) const = default;
};
struct StateItemValueSet {
    std::string path, value;
    bool operator==(const StateItemValueSet&) const = default;
};

// Our own requests, which teamd does not have.
/// Moves a hash bucket to a port; `when` is "gap" (when its traffic pauses) or "now".
struct BalanceMove {
    std::string bucket, port, when;
    bool operator==(const BalanceMove&) const = default;
};
/// "true": moves no bucket because of its load until "false".
struct BalanceFreeze {
    std::string frozen;
    bool operator==(const BalanceFreeze&) const = default;
};
/// Sets a port's TSO for a measurement: "on" or "off" for some seconds, or "end", which restores it.
struct OffloadTry {
    std::string port, state;
    bool operator==(const OffloadTry&) const = default;
};
/// Returns the planned interrupt CPUs in the form of the state's "interrupts"; changes nothing.
struct InterruptsPlan {
    bool operator==(const InterruptsPlan&) const = default;
};
/// "true": sets the interrupts as planned and keeps them so; "false": restores them and stops managing them.
struct InterruptsManage {
    std::string managed;
    bool operator==(const InterruptsManage&) const = default;
};

/// Makes a process a worker, regardless of the rules; `policy` is "follow" or "spread".
struct WorkersBind {
    std::string process, policy;
    bool operator==(const WorkersBind&) const = default;
};
/// Stops managing a process, regardless of the rules.
struct WorkersRelease {
    std::string process;
    bool operator==(const WorkersRelease&) const = default;
};
/// "true": binds workers; "false": releases all workers and stops managing them.
struct WorkersManage {
    std::string managed;
    bool operator==(const WorkersManage&) const = default;
};

/// Pauses "interrupts" or "workers" for a measurement: "on" or "off" for some seconds, or "end", which
/// restores the earlier state.
struct PauseForBenchmark {
    std::string step, state;
    bool operator==(const PauseForBenchmark&) const = default;
};
/// Stores the result of `interrupts benchmark` for a step, "interrupts" or "workers", in the state: bytes per
/// second and CPU nanoseconds per KiB without and with it, and the effect (name_of(BenchmarkEffect)).
struct KeepBenchmark {
    std::string step, bytes_without, bytes_with, cpu_without, cpu_with, effect;
    bool operator==(const KeepBenchmark&) const = default;
};

using Request = std::variant<PortAdd, PortRemove, PortConfigUpdate, PortConfigDump, ConfigDump,
                             ConfigDumpActual, StateDump, StateItemValueGet, StateItemValueSet, BalanceMove,
                             BalanceFreeze, OffloadTry, InterruptsPlan, InterruptsManage, WorkersBind,
                             WorkersRelease, WorkersManage, PauseForBenchmark, KeepBenchmark>;

/// Why a request was refused: teamd's code and message, as libteamdctl prints them.
struct Refusal {
    std::string code, message;
    bool operator==(const Refusal&) const = default;
};

/// The answer to a request: the payload (may be empty), or a refusal.
using Reply = std::variant<std::string, Refusal>;

/// Longer requests get InvalidArgs. A port's configuration fits.
inline constexpr std::size_t longest_request = std::size_t{1} << 20;

/// The request, or the refusal to send: UnknownMethod (teamd does not answer in that case), or InvalidArgs
/// for a missing, empty or wrongly escaped argument and for a malformed message. Ignores additional
/// arguments, as teamd does.
std::variant<Request, Refusal> parse_request(std::string_view message);

std::string encode(const Reply& reply);

// The client's side, for teamoctl.
std::string encode(const Request& request);
/// None if the message is malformed.
std::optional<Reply> parse_reply(std::string_view message);

} // namespace teamo::control
