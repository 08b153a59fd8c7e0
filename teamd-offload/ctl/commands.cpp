// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

namespace teamo::ctl {
namespace {

/// src, dst, proto, sport, dport, smac, dmac and two VLANs with their values are 18 words.
constexpr std::size_t max_packet_words = 64;
constexpr std::size_t max_command_words = 4096;

/// The members of the request are `values`, or the words after the command.
template <class Request, auto... values>
Request request_of(Arguments words) {
    if constexpr (requires { Request{words[0], words[1]}; })
        return {words[0], words[1]};
    else if constexpr (requires { Request{words[0]}; })
        return {words[0]};
    else
        return {values...};
}

template <class Request, auto... values>
CommandResult send_request(Session& session, Arguments words) {
    return send_command(session, request_of<Request, values...>(words));
}

/// For requests whose reply is a document.
template <class Request>
CommandResult print_reply(Session& session, Arguments words) {
    const auto document = TEAMO_TRY(session.document(request_of<Request>(words)));
    session.print(document);
    return {};
}

} // namespace

std::span<const Command> commands() {
    // teamdctl's rows come first and in its order, so that each abbreviation means the same in both.
    static const std::vector<Command> table{
        {.path = "config"},
        {.path = "config dump",
         .run = print_reply<control::ConfigDump>,
         .waiting = true,
         .summary = "print the configuration as JSON",
         .text = R"(Prints the configuration that the daemon uses: what the file has, and what teamd
adds to it, such as runner.tx_hash. Other defaults are not printed. The ports
are those of the configuration file and of "port config update".)"},
        {.path = "config dump noports",
         .run = config_dump_noports,
         .waiting = true,
         .summary = "print the configuration without ports",
         .text = R"(Prints the configuration that the daemon uses, without the key "ports".)"},
        {.path = "config dump actual",
         .run = print_reply<control::ConfigDumpActual>,
         .summary = "print it with the team's current ports",
         .text = R"(Prints the configuration that the daemon uses, with the ports that the team has
now instead of the configured ones.)"},
        {.path = "config diff",
         .run = config_diff,
         .optional = "[FILE]",
         .max_optional = 1,
         .json = true,
         .waiting = true,
         .summary = "show what a configuration file changes",
         .text = R"(Shows which settings differ between the running team and a configuration file:
FILE, or the file that the daemon was started with. Changes nothing. Exits with
1 if the file has an error, or if the running team cannot change into it.)"},
        {.path = "config reload",
         .run = config_reload,
         .optional = "[FILE]",
         .max_optional = 1,
         .json = true,
         .waiting = true,
         .dry_run = config_diff,
         .summary = "apply a changed configuration file",
         .text = R"(Reads a configuration file again, FILE or the one that the daemon was started
with, and changes what differs. What is the same is not touched, and no link
goes down. If the file has an error, or the running team cannot change into it,
nothing changes. With --dry-run it shows what would change.)"},
        {.path = "state", .run = state_view, .same_as = "state view"},
        {.path = "state dump",
         .run = print_reply<control::StateDump>,
         .summary = "print the state as JSON",
         .text = R"(Prints the complete state of the daemon as JSON. "state item get" reads one item
of it.)"},
        {.path = "state view",
         .run = state_view,
         .summary = "print the state as text",
         .text = R"(Prints the runner, the ports with their links and link watches, and the active
port of an activebackup team. With -v it prints more. The output is teamdctl's.)"},
        {.path = "state item"},
        {.path = "state item get",
         .run = state_item_get,
         .parameters = {"ITEMPATH"},
         .summary = "print one item of the state",
         .text = R"(Prints one item of the state: a string, a number, true or false. ITEMPATH has
names with dots between them, for example runner.active_port. Quote a name that
contains dots: 'ports."eth1.100".link.up'.)"},
        {.path = "state item set",
         .run = send_request<control::StateItemValueSet>,
         .parameters = {"ITEMPATH", "VALUE"},
         .summary = "change one item of the state",
         .text = R"(Changes one item of the state. Three items can be changed: setup.debug_level;
runner.active_port of an activebackup team; with the runner lacp
ports.PORT.runner.aggregator.selected, to true. A port without a link is refused
as the active port. The active port stays until a port changes.)"},
        {.path = "port"},
        {.path = "port add",
         .run = send_request<control::PortAdd>,
         .parameters = {"PORTDEV"},
         .summary = "add a device to the team",
         .text = R"(Adds a device to the team. The device must be in the network namespace of the
team. Its present settings are saved, and are restored when it leaves the team.)"},
        {.path = "port remove",
         .run = send_request<control::PortRemove>,
         .parameters = {"PORTDEV"},
         .dry_run = port_remove_dry_run,
         .summary = "remove a port from the team",
         .text = R"(Removes a port from the team and restores the settings that the device had
before it was added.
With --dry-run nothing is changed. The command then shows which connections,
workers and offloads the removal affects, and exits with 1 if the other ports
cannot carry the load.)"},
        {.path = "port present",
         .run = port_present,
         .parameters = {"PORTDEV"},
         .summary = "exit with 0 if PORTDEV is a port",
         .text = R"(Prints nothing on standard output. Exits with 0 if PORTDEV is a port of the
team, otherwise with 1.)"},
        {.path = "port config"},
        {.path = "port config update",
         .run = send_request<control::PortConfigUpdate>,
         .parameters = {"PORTDEV", "PORTCONFIG"},
         .summary = "replace the configuration of a port",
         .text = R"(Replaces the configuration of a port by a JSON object, for example
'{"prio": 10}'. It takes effect at once. If the device is not a port yet, it
takes effect when the device is added. The device must exist.)"},
        {.path = "port config dump",
         .run = print_reply<control::PortConfigDump>,
         .parameters = {"PORTDEV"},
         .summary = "print the configuration of a port",
         .text = R"(Prints the configuration of a port as JSON.)"},
        {.path = "port drain",
         .run = port_drain,
         .parameters = {"PORTDEV"},
         .drains = true,
         .dry_run = port_drain_dry_run,
         .summary = "move all traffic off a port",
         .text = R"(Moves all traffic off a port, tells its LACP partner to stop, and waits until
the port can be unplugged without loss, at most 60 seconds or --timeout. Exits
with 1 and the reason if that takes longer; the port stays as it is. The last
port that carries is drained only with --force. A drained port carries again
while no other can, unless it was forced. With --dry-run nothing is changed: the
command shows what the other ports would send, and exits with 1 if that is more
than they can.)"},
        {.path = "port undrain",
         .run = send_request<control::UndrainPort>,
         .parameters = {"PORTDEV"},
         .summary = "use a drained port again",
         .text = R"(Ends "port drain", or "drain" in the configuration of the port: traffic comes
back to the port as to one that has just got its link.)"},
        {.path = "clear"},
        {.path = "clear statistics",
         .run = send_request<control::PortChannelClearStats>,
         .summary = "clear the LACPDU counters of all ports",
         .text = R"(Sets the counters of LACPDUs and markers of all ports to zero. Only with the
runner lacp. They are in "state dump" under ports.PORTDEV.runner.detail.)"},
        {.path = "clear statistics port",
         .run = send_request<control::PortChannelMemberClearStats>,
         .parameters = {"PORTDEV"},
         .summary = "clear the LACPDU counters of a port",
         .text = R"(Sets the counters of LACPDUs and markers of a port to zero. Only with the runner
lacp.)"},
        {.path = "balance", .run = balance_show, .json = true, .same_as = "balance show"},
        {.path = "balance show",
         .run = balance_show,
         .json = true,
         .summary = "show buckets, loads and moves by port",
         .text = R"(Shows for each port its link, its speed and the number of its hash buckets. If
the runner hashes, it also shows loads, planned loads, TSO, the load of the
interrupt CPUs and the last moves of buckets.)"},
        {.path = "balance hash",
         .run = balance_hash,
         .parameters = {"PACKET"},
         .optional = "...",
         .max_optional = max_packet_words,
         .check = check_balance_hash,
         .json = true,
         .summary = "show which port a packet leaves by",
         .text = R"(Shows the bucket of a packet, the port that it leaves by, and the ports that are
used next if that port fails. PACKET has any of these parts, in any order:
  src ADDRESS  dst ADDRESS  tcp|udp|sctp|icmp|icmp6|gre|esp  proto NUMBER
  sport PORT  dport PORT  smac MAC  dmac MAC  vlan VID (twice: outer tag first)
Only the parts in runner.tx_hash are needed. Missing MAC addresses and VLANs are
taken from the route and the neighbour entry for dst.)"},
        {.path = "balance move",
         .run = balance_move,
         .parameters = {"BUCKET", "PORTDEV"},
         .optional = "[now]",
         .max_optional = 1,
         .check = check_balance_move,
         .summary = "move a bucket to another port",
         .text = R"(Moves a hash bucket (0 to 255) to another port. The daemon waits for a pause in
the bucket's traffic so that no packet overtakes another. With "now" it does not
wait. The bucket stays there until its load requires another move or the port
fails.)"},
        {.path = "balance freeze",
         .run = send_request<control::BalanceFreeze, true>,
         .summary = "stop moving buckets because of their load",
         .text = R"(Stops moving buckets because of their load, until "balance thaw". Buckets of
failed ports and buckets of "balance move" still move.)"},
        {.path = "balance thaw",
         .run = send_request<control::BalanceFreeze, false>,
         .summary = "move buckets because of their load again",
         .text = R"(Ends "balance freeze": the daemon moves buckets because of their load again.)"},
        {.path = "offload", .run = offload_show, .json = true, .same_as = "offload show"},
        {.path = "offload show",
         .run = offload_show,
         .json = true,
         .summary = "show offloads and what missing ones cost",
         .text = R"(Shows the offloads of each port and of the team device, the ports that lack a
required or otherwise common offload, and the port that limits the packet size.
If a port has no TSO, the command also takes a second to measure how much of a
CPU the software segmentation for that port uses. This needs CAP_SYS_ADMIN.)"},
        {.path = "interrupts", .run = interrupts_show, .json = true, .same_as = "interrupts show"},
        {.path = "interrupts show",
         .run = interrupts_show,
         .json = true,
         .summary = "show which CPUs serve which port",
         .text = R"(Shows for each port the CPUs that the daemon assigned to it, the CPUs where its
interrupts arrive, the CPUs that send by it (XPS), repairs, and a state: ok,
pending, shared, misplaced, contested, refused, unmanaged or no interrupts.)"},
        {.path = "interrupts plan",
         .run = interrupts_plan,
         .json = true,
         .summary = "show the planned CPUs, change nothing",
         .text = R"(Shows which CPUs the daemon would assign to each port, and why. Changes nothing.)"},
        {.path = "interrupts apply",
         .run = send_request<control::InterruptsManage, true>,
         .summary = "set interrupts to the planned CPUs",
         .text = R"(Assigns the interrupts to the planned CPUs and keeps them there. It also does so
if interrupts.policy is "off", and for interrupts that the daemon gave up as
contested.)"},
        {.path = "interrupts restore",
         .run = send_request<control::InterruptsManage, false>,
         .summary = "set interrupts back and leave them alone",
         .text = R"(Sets the interrupts back to the CPUs that they had before the team started. They
are left alone until "interrupts apply" or until the daemon restarts.)"},
        {.path = "guard",
         .run = guard_show,
         .json = true,
         .summary = "show what the guard drops",
         .text = R"(Shows how many frames the guard has dropped since the daemon started, by reason,
and whether it drops at all: it steps aside, with a reason, while frames for
other hosts are wanted here. See guard in teamd-offload.conf(5).)"},
        {.path = "workers", .run = workers_show, .json = true, .same_as = "workers show"},
        {.path = "workers show",
         .run = workers_show,
         .json = true,
         .summary = "show workers and where packets arrive",
         .text = R"(Shows each worker: the rule that selected it, its policy, how much it receives,
the CPU and the port where most of it arrives, and the CPUs that it is bound to.)"},
        {.path = "workers bind",
         .run = workers_bind,
         .parameters = {"PID"},
         .optional = "[follow|spread]",
         .max_optional = 1,
         .check = check_workers_bind,
         .summary = "make a process a worker",
         .text = R"(Makes a process a worker, whatever the rules in the configuration are, until the
process ends or the team stops; a restart of the daemon does not change it.
follow (the default): it runs on the CPU where most of its packets arrive, or
next to it. spread: each worker gets a CPU of its own, away from the interrupts
of other ports.)"},
        {.path = "workers release",
         .run = workers_release,
         .parameters = {"PID"},
         .summary = "set a worker back and leave it alone",
         .text = R"(Sets the CPUs of a worker back to what they were and leaves the process alone
until the team stops.)"},
        {.path = "workers run",
         .run = workers_run,
         .parameters = {"COMMAND"},
         .optional = "...",
         .max_optional = max_command_words,
         .summary = "run a command as a worker",
         .text = R"(Runs a command as a worker with the policy follow. Write -- before a command
that has options: teamoctl team0 workers run -- iperf3 -s)"},
        {.path = "workers apply",
         .run = send_request<control::WorkersManage, true>,
         .summary = "bind the workers again",
         .text = R"(Ends "workers restore": the daemon binds workers by the rules again.)"},
        {.path = "workers restore",
         .run = send_request<control::WorkersManage, false>,
         .summary = "set all workers back, leave them alone",
         .text = R"(Sets the CPUs of all workers back to what they were. Workers are left alone
until "workers apply" or until the daemon restarts.)"},
        {.path = "stats",
         .run = stats_show,
         .json = true,
         .summary = "show packet and byte counters by port",
         .text = R"(Shows packets, bytes and mean bytes per skb of each port, and received packets
that were dropped. A GSO packet counts once, with its whole length: a mean above
the MTU shows that offloads work.)"},
        {.path = "stats live",
         .run = stats_live,
         .json = true,
         .summary = "measure ports and CPUs for a second",
         .text = R"(Measures for a second: what each port sends and receives, its share and the mean
bytes of its packets, how busy the CPUs are, and which of them the interrupts
use. Service demand is the CPU time for a KiB, efficiency the throughput for
a per cent of a CPU; both count the whole machine, other work included.)"},
        {.path = "top",
         .run = top_show,
         .once = true,
         .summary = "show rates, workers and events, live",
         .text = R"(Shows each second the ports with what they send and receive, mean packet sizes,
hash buckets and interrupt CPUs with their load, the workers, and what has
happened. Keys: t sorts by what is sent, r by what is received, p by port; w and
e show or hide workers and events; q ends. With --once, or if the output is not
a terminal, it prints one reading. "teamoctl top", without a team, has a line
for each team.)"},
        {.path = "metrics",
         .run = metrics_show,
         .summary = "print metrics for Prometheus",
         .text = R"(Prints counters and states in the text format of Prometheus, which node_exporter
reads from a file. "teamoctl metrics", without a team, prints them of all teams.)"},
        {.path = "doctor",
         .run = doctor,
         .json = true,
         .measure = true,
         .summary = "report problems and how to fix them",
         .text = R"(Reports what is wrong or slow, the worst first, each with a way to fix it. It
takes a second. Exits with 1 if there is an error or a warning. "teamoctl
doctor", without a team, reports on all teams at once.
A port that is nearly full is measured with and without TSO, which takes 17
seconds. --measure=PORTDEV measures the port that you name.)"},
        {.path = "bench",
         .run = bench_team,
         .optional = "[ARGUMENT...]",
         .max_optional = max_command_words,
         .summary = "measure the team against another machine",
         .text = R"(Starts the program teamo-bench of the package teamd-offload-bench. It measures
the team against "teamo-bench serve" of another machine, which
--peer=ADDRESS[,ADDRESS...] names, and changes nothing of the team. "teamoctl
bench --help" shows all arguments.)"},
        // Commands without a team: they must be written in full.
        {.path = "import bond",
         .parameters = {"IFACE"},
         .alone = import_bond,
         .summary = "print a bond as a configuration",
         .text = R"(Prints the configuration of a team that does what a running bond does. Options
without a counterpart are named on standard error.)"},
        {.path = "import teamd",
         .optional = "[FILE...]",
         .max_optional = max_command_words,
         .alone = import_teamd,
         .summary = "check configurations of teamd",
         .text = R"(Reads JSON files of teamd as teamd-offload would, and reports what each team is
here and what is wrong. Without FILE it reads those in /etc/teamd, and what the
teams run with now. Exits with 1 if one of them would not start.)"},
        {.path = "bench",
         .optional = "[ARGUMENT...]",
         .max_optional = max_command_words,
         .alone = bench,
         .summary = "measure a team in namespaces",
         .text = R"(Starts the program teamo-bench of the package teamd-offload-bench with these
arguments: "teamoctl bench --help" shows them.)"},
        {.path = "metrics",
         .alone = metrics_of_all_teams,
         .summary = "print metrics of all teams",
         .text = R"(Prints the metrics of all teams with a daemon, as "metrics" does for one.)"},
        {.path = "top",
         .once = true,
         .alone = top_of_all_teams,
         .summary = "show rates of all teams, live",
         .text = R"(Shows a line for each team with a daemon, as "top" does for one team.)"},
        {.path = "doctor",
         .json = true,
         .alone = doctor_of_all_teams,
         .summary = "report problems of all teams",
         .text = R"(Reports on all teams with a daemon, the worst first, in about a second.)"},
    };
    return table;
}

CommandResult send_command(Session& session, const control::Request& request) {
    TEAMO_TRY(session.call(request));
    return {};
}

} // namespace teamo::ctl
