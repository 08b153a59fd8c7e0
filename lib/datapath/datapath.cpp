// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/datapath.h"

#include "datapath/bpf_datapath.h"
#include "datapath/team_datapath.h"

namespace teamo {

Result<DatapathChoice> choose_datapath(DatapathChoice choice, LinkControl& links, const Link* existing) {
    if (choice != DatapathChoice::automatic) return choice;
    if (existing != nullptr && existing->kind == "team") return DatapathChoice::team;
    if (existing != nullptr && (existing->kind == "veth" || existing->kind == "netkit"))
        return DatapathChoice::bpf;
    const auto driver = links.knows_kind("team");
    if (!driver) return within("cannot find out whether the kernel has the team driver", driver.error());
    return *driver ? DatapathChoice::team : DatapathChoice::bpf;
}

Result<std::unique_ptr<Datapath>> open_datapath(DatapathChoice choice, LinkControl& links,
                                                const Link* existing, HashFields fields) {
    const auto chosen = TEAMO_TRY(choose_datapath(choice, links, existing));
    if (chosen == DatapathChoice::team) return std::unique_ptr<Datapath>(TEAMO_TRY(TeamDatapath::open()));
    return std::unique_ptr<Datapath>(TEAMO_TRY(BpfDatapath::load(has(fields, HashField::cpu))));
}

} // namespace teamo
