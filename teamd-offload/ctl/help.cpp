// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/commands.h"

#include "version.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace teamo::ctl {
namespace {

// In the order of the table in commands.cpp.
constexpr auto descriptions = std::to_array<Description>({
    {"config dump", "print the configuration as JSON",
     R"(Prints the configuration that the daemon uses: what the file has, and what teamd
adds to it, such as runner.tx_hash. Other defaults are not printed. The ports
are those of the configuration file and of "port config update".)"},
    {"config dump noports", "print the configuration without ports",
     R"(Prints the configuration that the daemon uses, without the key "ports".)"},
    {"config dump actual", "print it with the team's current ports",
     R"(Prints the configuration that the daemon uses, with the ports that the team has
now instead of the configured ones.)"},
    {"config diff", "show what a configuration file changes",
     R"(Shows which settings differ between the running team and a configuration file:
FILE, or the file that the daemon was started with. Changes nothing. Exits with
1 if the file has an error, or if the running team cannot change into it.)"},
    {"config reload", "apply a changed configuration file",
     R"(Reads a configuration file again, FILE or the one that the daemon was started
with, and changes what differs. What is the same is not touched, and no link
goes down. If the file has an error, or the running team cannot change into it,
nothing changes. With --dry-run it shows what would change.)"},
    {"state dump", "print the state as JSON",
     R"(Prints the complete state of the daemon as JSON. "state item get" reads one item
of it.)"},
    {"state view", "print the state as text",
     R"(Prints the runner, the ports with their links and link watches, and the active
port of an activebackup team. With -v it prints more. The output is teamdctl's.)"},
    {"state item get", "print one item of the state",
     R"(Prints one item of the state: a string, a number, true or false. ITEMPATH has
names with dots between them, for example runner.active_port. Quote a name that
contains dots: 'ports."eth1.100".link.up'.)"},
    {"state item set", "change one item of the state",
     R"(Changes one item of the state. Three items can be changed: setup.debug_level;
runner.active_port of an activebackup team; with the runner lacp
ports.PORT.runner.aggregator.selected, to true. A port without a link is refused
as the active port. The active port stays until a port changes.)"},
    {"port add", "add a device to the team",
     R"(Adds a device to the team. The device must be in the network namespace of the
team. Its present settings are saved, and are restored when it leaves the team.)"},
    {"port remove", "remove a port from the team",
     R"(Removes a port from the team and restores the settings that the device had
before it was added.
With --dry-run nothing is changed. The command then shows which connections,
workers and offloads the removal affects, and exits with 1 if the other ports
cannot carry the load.)"},
    {"port present", "exit with 0 if PORTDEV is a port",
     R"(Prints nothing on standard output. Exits with 0 if PORTDEV is a port of the
team, otherwise with 1.)"},
    {"port config update", "replace the configuration of a port",
     R"(Replaces the configuration of a port by a JSON object, for example
'{"prio": 10}'. It takes effect at once. If the device is not a port yet, it
takes effect when the device is added. The device must exist.)"},
    {"port config dump", "print the configuration of a port",
     R"(Prints the configuration of a port as JSON.)"},
    {"clear statistics", "clear the LACPDU counters of all ports",
     R"(Sets the counters of LACPDUs and markers of all ports to zero. Only with the
runner lacp. They are in "state dump" under ports.PORTDEV.runner.detail.)"},
    {"clear statistics port", "clear the LACPDU counters of a port",
     R"(Sets the counters of LACPDUs and markers of a port to zero. Only with the runner
lacp.)"},
    {"balance show", "show buckets, loads and moves by port",
     R"(Shows for each port its link, its speed and the number of its hash buckets. If
the runner hashes, it also shows loads, planned loads, TSO, the load of the
interrupt CPUs and the last moves of buckets.)"},
    {"balance hash", "show which port a packet leaves by",
     R"(Shows the bucket of a packet, the port that it leaves by, and the ports that are
used next if that port fails. PACKET has any of these parts, in any order:
  src ADDRESS  dst ADDRESS  tcp|udp|sctp|icmp|icmp6|gre|esp  proto NUMBER
  sport PORT  dport PORT  smac MAC  dmac MAC  vlan VID (twice: outer tag first)
Only the parts in runner.tx_hash are needed. Missing MAC addresses and VLANs are
taken from the route and the neighbour entry for dst.)"},
    {"balance move", "move a bucket to another port",
     R"(Moves a hash bucket (0 to 255) to another port. The daemon waits for a pause in
the bucket's traffic so that no packet overtakes another. With "now" it does not
wait. The bucket stays there until its load requires another move or the port
fails.)"},
    {"balance freeze", "stop moving buckets for their load",
     R"(Stops moving buckets for their load, until "balance thaw". Buckets of failed
ports and buckets of "balance move" still move.)"},
    {"balance thaw", "move buckets for their load again",
     R"(Ends "balance freeze": the daemon moves buckets for their load again.)"},
    {"offload show", "show offloads and what missing ones cost",
     R"(Shows the offloads of each port and of the team device, the ports that lack a
required or otherwise common offload, and the port that limits the packet size.
If a port has no TSO, the command also takes a second to measure how much of a
CPU the software segmentation for that port uses. This needs CAP_SYS_ADMIN.)"},
    {"guard", "show what the guard drops",
     R"(Shows how many frames the guard has dropped since the daemon started, by reason,
and whether it drops at all: it steps aside, with a reason, while frames for
other hosts are wanted here. See guard in teamd-offload.conf(5).)"},
    {"interrupts show", "show which CPUs serve which port",
     R"(Shows for each port the CPUs that the daemon assigned to it, the CPUs where its
interrupts arrive, the CPUs that send by it (XPS), repairs, and a state: ok,
pending, shared, misplaced, contested, refused or unmanaged.)"},
    {"interrupts plan", "show the planned CPUs, change nothing",
     R"(Shows which CPUs the daemon would assign to each port, and why. Changes nothing.)"},
    {"interrupts apply", "set interrupts to the planned CPUs",
     R"(Assigns the interrupts to the planned CPUs and keeps them there. It also does so
if interrupts.policy is "off", and for interrupts that the daemon gave up as
contested.)"},
    {"interrupts restore", "set interrupts back and leave them alone",
     R"(Sets the interrupts back to the CPUs that they had before the team started. They
are left alone until "interrupts apply" or until the daemon restarts.)"},
    {"workers show", "show workers and where packets arrive",
     R"(Shows each worker: the rule that selected it, its policy, how much it receives,
the CPU and the port where most of it arrives, and the CPUs that it is bound to.)"},
    {"workers bind", "make a process a worker",
     R"(Makes a process a worker, whatever the rules in the configuration are, until the
process ends or the team stops; a restart of the daemon does not change it.
follow (the default): it runs on the CPU where most of its packets arrive, or
next to it. spread: each worker gets a CPU of its own, away from the interrupts
of other ports.)"},
    {"workers release", "set a worker back and leave it alone",
     R"(Sets the CPUs of a worker back to what they were and leaves the process alone
until the team stops.)"},
    {"workers run", "run a command as a worker",
     R"(Runs a command as a worker with the policy follow. Write -- before a command
that has options: teamoctl team0 workers run -- iperf3 -s)"},
    {"workers apply", "bind the workers again",
     R"(Ends "workers restore": the daemon binds workers by the rules again.)"},
    {"workers restore", "set all workers back, leave them alone",
     R"(Sets the CPUs of all workers back to what they were. Workers are left alone
until "workers apply" or until the daemon restarts.)"},
    {"stats", "show packet and byte counters by port",
     R"(Shows packets, bytes and mean bytes per skb of each port, and received packets
that were dropped. A GSO packet counts once, with its whole length: a mean above
the MTU shows that offloads work.)"},
    {"stats live", "measure ports and CPUs for a second",
     R"(Measures for a second: what each port sends and receives, its share and the mean
bytes of its packets, how busy the CPUs are, and which of them the interrupts
use. Service demand is the CPU time for a KiB, efficiency the throughput for
a per cent of a CPU; both count the whole machine, other work included.)"},
    {"top", "show rates, workers and events, live",
     R"(Shows each second the ports with what they send and receive, mean packet sizes,
hash buckets and interrupt CPUs with their load, the workers, and what has
happened. Keys: t sorts by what is sent, r by what is received, p by port; w and
e show or hide workers and events; q ends. With --once, or if the output is not
a terminal, it prints one reading.)"},
    {"metrics", "print metrics for Prometheus",
     R"(Prints counters and states in the text format of Prometheus, which node_exporter
reads from a file. "teamoctl metrics", without a team, prints them of all teams.)"},
    {"doctor", "report problems and how to fix them",
     R"(Reports what is wrong or slow, the worst first, each with a way to fix it. It
takes a second. Exits with 1 if there is an error or a warning.
A port that is nearly full is measured with and without TSO, which takes 17
seconds. --measure=PORTDEV measures the port that you name.)"},
    {"bench", "measure the team against another machine",
     R"(Starts the program teamo-bench of the package teamd-offload-bench. It measures
the team against "teamo-bench serve" of another machine, which
--peer=ADDRESS[,ADDRESS...] names, and changes nothing of the team. "teamoctl
bench --help" shows all arguments.)"},
});

constexpr std::size_t indent = 4, help_column = 39;

/// Two columns. A command that is too long for its column has its help on the next line.
std::string table_line(const std::string& usage, std::string_view help) {
    if (indent + usage.size() + 1 > help_column)
        return fmt::format("{:{}}{}\n{:{}}{}\n", "", indent, usage, "", help_column, help);
    return fmt::format("{:{}}{:<{}}{}\n", "", indent, usage, help_column - indent, help);
}

std::string table_line(const Command& command) {
    return table_line(usage_of(command), command.same_as.empty()
                                             ? std::string(description_of(command).summary)
                                             : fmt::format("same as \"{}\"", command.same_as));
}

std::string usage_of(const TeamlessCommand& command) {
    return fmt::format("{}{}{}", command.path, command.parameters.empty() ? "" : " ", command.parameters);
}

/// Commands that begin with these words.
std::string help_on_teamless(std::string_view program, Arguments words) {
    const auto wanted = fmt::format("{}", fmt::join(words, " "));
    std::string text;
    for (const auto& command : teamless_commands())
        if (command.least + command.most > 0 &&
            (command.path == wanted || command.path.starts_with(wanted + " ")))
            text += fmt::format("{}usage: {} {}\n\n{}\n", text.empty() ? "" : "\n", program,
                                usage_of(command), command.text);
    return text;
}

/// The commands below `path`, or all of them.
std::string table_of_commands(std::string_view path) {
    std::string text;
    for (const auto& command : commands())
        if (command.run != nullptr && (path.empty() || command.path.starts_with(fmt::format("{} ", path))))
            text += table_line(command);
    return text;
}

std::string options_of(const Command& command) {
    std::string text;
    if (command.json) text += "[--json] ";
    if (command.dry_run != nullptr) text += "[--dry-run [--json]] ";
    if (command.measure) text += "[--measure=PORTDEV] ";
    if (command.once) text += "[--once] ";
    return text;
}

} // namespace

std::string usage_of(const Command& command) {
    std::string text(command.path);
    for (const auto parameter : command.parameters)
        text += fmt::format(" {}", parameter);
    if (!command.optional.empty()) text += fmt::format(" {}", command.optional);
    return text;
}

Description description_of(const Command& command) {
    const auto path = command.same_as.empty() ? command.path : command.same_as;
    const auto* const found = std::ranges::find(descriptions, path, &Description::path);
    return found == descriptions.end() ? Description{} : *found;
}

std::string version_text() { return fmt::format("teamoctl {}\n", program_version); }

std::string help_text(std::string_view program) {
    std::string without_team;
    for (const auto& command : teamless_commands())
        without_team += table_line(usage_of(command), command.summary);
    return fmt::format("{0} [options] teamdevname command [command args]\n"
                       "    -h --help                Show this help\n"
                       "       --version             Show the version\n"
                       "    -v --verbose             Increase output verbosity\n"
                       "    -o --oneline             Force output to one line if possible\n"
                       "    -D --force-dbus          Force to use D-Bus interface\n"
                       "    -Z --force-zmq=ADDRESS   Refused: there is no ZeroMQ interface\n"
                       "    -U --force-usock         Force to use UNIX domain socket interface\n"
                       "       --json                Print JSON (not with the commands of teamdctl)\n"
                       "    -n --dry-run             Show the effect, change nothing\n"
                       "       --once                Print one reading and end (top)\n"
                       "       --measure=PORTDEV     Measure this port with and without TSO (doctor)\n"
                       "Commands:\n{1}"
                       "Commands without a team device:\n{2}"
                       "Each word of a command of a team may be abbreviated, except \"bench\". The\n"
                       "commands without a team must be written in full.\n"
                       "More on one command, without a team:\n"
                       "    {0} help COMMAND\n",
                       program, table_of_commands(""), without_team);
}

Result<std::string> help_on(std::string_view program, Arguments words) {
    if (words.empty()) return help_text(program);
    auto text = help_on_teamless(program, words);
    const auto row = find_row(words);
    if (!row && !text.empty()) return text;
    if (!row) return tl::unexpected(row.error());
    const auto& command = **row;
    // A command with a team and without one: only if it is the same word, so not an abbreviation.
    if (!text.empty() && command.path != words.front()) return text;
    if (command.run != nullptr)
        text += fmt::format("{}usage: {} {}teamdevname {}\n\n{}\n", text.empty() ? "" : "\n", program,
                            options_of(command), usage_of(command), description_of(command).text);
    if (const auto below = table_of_commands(command.path); !below.empty())
        text += fmt::format("{}Commands of \"{}\":\n{}", text.empty() ? "" : "\n", command.path, below);
    return text;
}

} // namespace teamo::ctl
