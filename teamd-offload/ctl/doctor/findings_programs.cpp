// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Whether the team's BPF programs are where they belong, and what stands before them.
#include "ctl/doctor/findings.h"
#include "text/numbers.h"

namespace teamo::ctl {
namespace {

using enum Severity;

std::string show_of(const ProgramStatus& program, const ForeignProgram& foreign) {
    if (foreign.priority != 0) return fmt::format("tc filter show dev {} {}", program.device, program.hook);
    return fmt::format("bpftool net show dev {}", program.device);
}

void add_before(const ProgramStatus& program, const ForeignProgram& foreign, const std::string& team,
                Findings& findings) {
    const bool is_taken = foreign.takes && program.redirects;
    const auto severity = is_taken ? error : program.catches_accepted ? note : warning;
    const auto* const instead =
        foreign.takes ? "put that filter on {} instead"
                      : "let it return TC_ACT_UNSPEC (\"continue\") or TCX_NEXT, or put it on {}";
    findings.push_back(
        {severity, program.device, effect_of(program, foreign),
         fmt::format("{}  ({})", show_of(program, foreign), fmt::format(fmt::runtime(instead), team))});
}

/// Nothing else may be wrong: a program that we do not know, or that the kernel does not show.
void add_unseen(const ProgramStatus& program, const Readings& readings, Findings& findings) {
    const auto* device = find(readings.devices, program.device);
    if (!program.redirects || program.by.empty() || program.catches_accepted || device == nullptr) return;
    // An XDP program, or a socket behind it, may take all of them.
    if (device->has_xdp || device->received == 0 || device->seen > 0) return;
    findings.push_back(
        {error, program.device,
         fmt::format("received {} in a second, and {} saw none of them: the team does not get them",
                     counted(device->received, "packet", "packets"), program.name),
         fmt::format("tc -s filter show dev {0} ingress; bpftool net show dev {0}; nft list ruleset netdev",
                     program.device)});
}

} // namespace

Findings program_findings(const Readings& readings) {
    Findings findings;
    for (const auto& program : readings.state.programs) {
        if (program.by.empty())
            findings.push_back(
                {error, program.device,
                 fmt::format("the BPF program {} is not on {}: {}", program.name, program.hook,
                             program.failure.empty() ? "another program removed it" : program.failure),
                 fmt::format("journalctl TEAM={}  (the daemon attaches it again, at the latest "
                             "after 30 s)",
                             readings.state.name)});
        if (program.is_left)
            findings.push_back({error, program.device,
                                fmt::format("another program was put before {} on {} three times; the daemon "
                                            "no longer moves its own program to the front",
                                            program.name, program.hook),
                                fmt::format("bpftool net show dev {}  (detach the program that runs first, "
                                            "or attach it behind that of the team)",
                                            program.device)});
        for (const auto& foreign : program.before)
            add_before(program, foreign, readings.state.name, findings);
        add_unseen(program, readings, findings);
        if (program.lost != 0 && !program.by.empty() && !program.is_left)
            findings.push_back(
                {note, program.device,
                 fmt::format("another program removed or displaced {} ({}) {} times; it is there "
                             "again",
                             program.name, program.hook, program.lost),
                 fmt::format("journalctl TEAM={}", readings.state.name)});
    }
    return findings;
}

} // namespace teamo::ctl
