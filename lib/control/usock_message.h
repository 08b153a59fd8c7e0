// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd's control protocol on its unix socket, taken apart and put together; pure. One message is one
// SOCK_SEQPACKET record (libteam: teamd/teamd_usock.c, libteamdctl/cli_usock.c):
//
//   REQUEST\n<Method>\n<arg>\n…       args have "\n" and "\\" escaped
//   REPLY_SUCCESS\n<payload>          payload raw; without one just REPLY_SUCCESS\n
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

// Ours, which teamd does not have.
/// Moves a hash bucket to a port; `when` is "gap" (when its traffic pauses) or "now".
struct BalanceMove {
    std::string bucket, port, when;
    bool operator==(const BalanceMove&) const = default;
};
/// "true": no bucket is moved for its load until "false".
struct BalanceFreeze {
    std::string frozen;
    bool operator==(const BalanceFreeze&) const = default;
};
/// A port's TSO for a measurement: "on", "off" for some seconds, or "end", which puts back what was.
struct OffloadTry {
    std::string port, state;
    bool operator==(const OffloadTry&) const = default;
};
/// Where the ports' interrupts would be put, as the state has "interrupts"; changes nothing.
struct InterruptsPlan {
    bool operator==(const InterruptsPlan&) const = default;
};
/// "true": they are put where the plan says, and kept there; "false": as they were before, and left alone.
struct InterruptsManage {
    std::string managed;
    bool operator==(const InterruptsManage&) const = default;
};

/// A process is a worker from now on, whatever the rules say; `policy` is "follow" or "spread".
struct WorkersBind {
    std::string process, policy;
    bool operator==(const WorkersBind&) const = default;
};
/// A process is left alone from now on, whatever the rules say.
struct WorkersRelease {
    std::string process;
    bool operator==(const WorkersRelease&) const = default;
};
/// "true": workers are bound; "false": all are released, and left alone.
struct WorkersManage {
    std::string managed;
    bool operator==(const WorkersManage&) const = default;
};

/// What is managed, "interrupts" or "workers", for a measurement: "on", "off" for some seconds, or "end",
/// which makes it as it was.
struct PauseForBenchmark {
    std::string step, state;
    bool operator==(const PauseForBenchmark&) const = default;
};
/// What `interrupts benchmark` has measured of a step, "interrupts" or "workers": bytes per second and CPU
/// nanoseconds per KiB without it and with it, and what it bought (name_of(BenchmarkEffect)). Kept for the
/// state.
struct KeepBenchmark {
    std::string step, bytes_without, bytes_with, cpu_without, cpu_with, effect;
    bool operator==(const KeepBenchmark&) const = default;
};

using Request = std::variant<PortAdd, PortRemove, PortConfigUpdate, PortConfigDump, ConfigDump,
                             ConfigDumpActual, StateDump, StateItemValueGet, StateItemValueSet, BalanceMove,
                             BalanceFreeze, OffloadTry, InterruptsPlan, InterruptsManage, WorkersBind,
                             WorkersRelease, WorkersManage, PauseForBenchmark, KeepBenchmark>;

/// Why a request was not done: teamd's code and message, as libteamdctl prints them.
struct Refusal {
    std::string code, message;
    bool operator==(const Refusal&) const = default;
};

/// What a request is answered with: the payload (may be empty), or a refusal.
using Reply = std::variant<std::string, Refusal>;

/// The longest request that is read; a longer one is answered InvalidArgs. A port's configuration fits.
inline constexpr std::size_t longest_request = std::size_t{1} << 20;

/// A request, or the refusal to answer it with: UnknownMethod (teamd leaves the client to its time-out),
/// InvalidArgs for an argument that is missing, empty or wrongly escaped, or for bytes that are no request.
/// More arguments than needed are ignored, as teamd does.
std::variant<Request, Refusal> parse_request(std::string_view message);

std::string encode(const Reply& reply);

// The client's side, for teamoctl.
std::string encode(const Request& request);
/// None where the bytes are no reply.
std::optional<Reply> parse_reply(std::string_view message);

} // namespace teamo::control
