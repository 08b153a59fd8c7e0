// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Encodes and parses teamd's control protocol on its unix socket. Pure. One message is one SOCK_SEQPACKET
// record (libteam: teamd/teamd_usock.c, libteamdctl/cli_usock.c):
//
//   REQUEST\n<Method>\n<arg>\n…       "\n" and "\\" are escaped in args
//   REPLY_SUCCESS\n<payload>          raw payload, may be empty
//   REPLY_ERROR\n<Code>\n<Message>\n
#pragma once

#include "model/status.h"
#include "model/workers.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace teamo::control {

struct NoArguments {
    bool operator==(const NoArguments&) const = default;
};

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
struct ConfigDump : NoArguments {};
struct ConfigDumpActual : NoArguments {};
struct StateDump : NoArguments {};
struct StateItemValueGet {
    std::string path;
    bool operator==(const StateItemValueGet&) const = default;
};
struct StateItemValueSet {
    std::string path, value;
    bool operator==(const StateItemValueSet&) const = default;
};

// SONiC's additions to teamd.
/// Clears the LACPDU counters of all ports.
struct PortChannelClearStats : NoArguments {};
/// The same for one port.
struct PortChannelMemberClearStats {
    std::string port;
    bool operator==(const PortChannelMemberClearStats&) const = default;
};

// Ours, which teamd does not have.
/// Changes the running team to a configuration, or tells what would change.
struct ConfigReload {
    std::string file, text; ///< the text's name in messages
    bool dry_run = false;
    bool operator==(const ConfigReload&) const = default;
};
/// Takes traffic off a port, so that its cable can be pulled; `forced`: also off the last one that carries.
/// The state tells how far it is.
struct DrainPort {
    std::string port;
    bool forced = false;
    bool operator==(const DrainPort&) const = default;
};
struct UndrainPort {
    std::string port;
    bool operator==(const UndrainPort&) const = default;
};
enum class MoveTime : std::uint8_t { gap, now };
constexpr const char* name_of(MoveTime time) { return time == MoveTime::now ? "now" : "gap"; }
/// Moves a hash bucket to a port: now, or in a gap of its traffic.
struct BalanceMove {
    std::uint8_t bucket = 0;
    std::string port;
    MoveTime time = MoveTime::gap;
    bool operator==(const BalanceMove&) const = default;
};
/// Frozen: no bucket moves for its load.
struct BalanceFreeze {
    bool frozen = false;
    bool operator==(const BalanceFreeze&) const = default;
};
/// Switches a port's TSO for a measurement, for some seconds.
struct OffloadTry {
    std::string port;
    TrialState state = TrialState::end;
    bool operator==(const OffloadTry&) const = default;
};
/// The plan for the ports' interrupts, as the state has "interrupts"; changes nothing.
struct InterruptsPlan : NoArguments {};
/// Managed: interrupts are placed and kept; else they are restored and left alone.
struct InterruptsManage {
    bool managed = false;
    bool operator==(const InterruptsManage&) const = default;
};
/// Makes a process a worker, regardless of the rules.
struct WorkersBind {
    pid_t process = 0;
    WorkerPolicy policy = WorkerPolicy::follow;
    bool operator==(const WorkersBind&) const = default;
};
/// Leaves a process alone, regardless of the rules.
struct WorkersRelease {
    pid_t process = 0;
    bool operator==(const WorkersRelease&) const = default;
};
/// Managed: workers are bound; else all are released and left alone.
struct WorkersManage {
    bool managed = false;
    bool operator==(const WorkersManage&) const = default;
};
/// Of the process that runs all teams: it leaves the team as it is, for a process that runs this team alone.
struct HandOver : NoArguments {};
using Request = std::variant<PortAdd, PortRemove, PortConfigUpdate, PortConfigDump, ConfigDump,
                             ConfigDumpActual, StateDump, StateItemValueGet, StateItemValueSet,
                             PortChannelClearStats, PortChannelMemberClearStats, ConfigReload, DrainPort,
                             UndrainPort, BalanceMove, BalanceFreeze, OffloadTry, InterruptsPlan,
                             InterruptsManage, WorkersBind, WorkersRelease, WorkersManage, HandOver>;

/// What a client may do; each includes those before it.
enum class Permission : std::uint8_t { none, read, change };
/// What a client needs for the request.
Permission needed_for(const Request& request);

/// Why a request was refused: teamd's code and message, as libteamdctl prints them.
struct Refusal {
    std::string code, message;
    bool operator==(const Refusal&) const = default;
};

/// The answer to a request: the payload (may be empty), or a refusal.
using Reply = std::variant<std::string, Refusal>;

/// Of a request with what this version does not know.
inline constexpr std::string_view of_another_version =
    "the daemon is of another version; restart it to run the installed one";

/// Longer requests get InvalidArgs. A port's configuration fits.
inline constexpr std::size_t longest_request = std::size_t{1} << 20;

/// A request, or the refusal to answer it with: UnknownMethod (teamd leaves the client to its time-out),
/// InvalidArgs for an argument that is missing, empty, wrongly escaped or of another type, or for bytes that
/// are no request. More arguments than needed are ignored if the method is teamd's, as teamd does; if it is
/// not, a client of a later version has sent them.
std::variant<Request, Refusal> parse_request(std::string_view message);

// By D-Bus the methods and their arguments are the same. All values are strings.
struct MethodShape {
    std::string name;
    std::size_t arguments;
    bool has_result;  ///< otherwise its reply is empty
    bool is_internal; ///< between our own programs: not frozen, and not shown (docs/adr/0046)
};
std::vector<MethodShape> methods();
/// As parse_request().
std::variant<Request, Refusal> make_request(std::string_view method, std::vector<std::string> arguments);
std::pair<MethodShape, std::vector<std::string>> parts_of(const Request& request);

std::string encode(const Reply& reply);

// The client's side, for teamoctl.
std::string encode(const Request& request);
/// None if the message is malformed.
std::optional<Reply> parse_reply(std::string_view message);

} // namespace teamo::control
