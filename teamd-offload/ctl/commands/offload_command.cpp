// SPDX-License-Identifier: LGPL-2.1-or-later
//
// offload: which port lacks offloads, and what that costs.
#include "ctl/commands.h"
#include "ctl/report/offload_report.h"
#include "kernel/netlink/links.h"

#include <algorithm>
#include <map>

namespace teamo::ctl {
namespace {

/// The default MTU for a port that has just been removed.
std::uint32_t mtu_of(LinkControl& links, const TeamState& state, std::string_view port) {
    const auto* known = find_port(state, port);
    if (known == nullptr) return Segmentation{}.mtu;
    const auto link = links.read(known->ifindex);
    return link ? link->mtu : Segmentation{}.mtu;
}

Result<> add_costs(Session& session, OffloadReport& report) {
    const auto has_tso = [](auto& port) { return software_tso_of(port) == SoftwareTso::none; };
    if (std::ranges::all_of(report.state.offload->ports, has_tso)) return {};
    auto links = TEAMO_TRY(LinkControl::open());
    auto sample = TEAMO_TRY(session.sample());
    TEAMO_TRY(require_part(sample.state.offload.has_value()));
    report.state = std::move(sample.state);
    std::map<Segmentation, std::optional<SegmentationCost>> costs; // measured once for each kind of device
    for (const auto& port : report.state.offload->ports) {
        const auto software_tso = software_tso_of(port);
        if (software_tso == SoftwareTso::none) continue;
        const auto mtu = mtu_of(links, report.state, port.name);
        const auto [cost, fresh] = costs.try_emplace(segmentation_of(port, mtu));
        if (fresh) {
            const auto waiting = session.waits().usual("measures what the software's segmentation costs",
                                                       std::chrono::seconds(5));
            if (const auto measured = measure_segmentation(cost->first))
                cost->second = *measured;
            else
                report.measurement_error = measured.error().text;
        }
        report.costs.push_back(
            {.port = port.name,
             .software_tso = software_tso,
             .sending = sending_between(sample.before, report.state, port.name, mtu, sample.between),
             .measured = cost->second});
    }
    return {};
}

} // namespace

CommandResult offload_show(Session& session, Arguments) {
    auto state = TEAMO_TRY(session.state());
    TEAMO_TRY(require_part(state.offload.has_value()));
    OffloadReport report{.state = std::move(state), .costs = {}, .measurement_error = {}};
    TEAMO_TRY(add_costs(session, report));
    session.print(offload_json(report), offload_text(report));
    return {};
}

} // namespace teamo::ctl
