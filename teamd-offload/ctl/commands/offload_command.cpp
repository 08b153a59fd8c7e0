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

/// Measures the cost once for each kind of device.
class SegmentationCosts {
public:
    std::optional<SegmentationCost> of(const Segmentation& device) {
        const auto [known, fresh] = costs_.try_emplace(device);
        if (!fresh) return known->second;
        if (const auto measured = measure_segmentation(device))
            known->second = *measured;
        else
            error_ = measured.error().text;
        return known->second;
    }
    /// Why the last one could not be measured; empty: all were measured.
    const std::string& error() const { return error_; }

private:
    std::map<Segmentation, std::optional<SegmentationCost>> costs_;
    std::string error_;
};

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
    TEAMO_TRY(require_offloads(sample.state));
    SegmentationCosts costs;
    report.state = std::move(sample.state);
    for (const auto& port : report.state.offload->ports) {
        const auto software_tso = software_tso_of(port);
        if (software_tso == SoftwareTso::none) continue;
        const auto mtu = mtu_of(links, report.state, port.name);
        report.costs.push_back(
            {.port = port.name,
             .software_tso = software_tso,
             .sending = sending_between(sample.before, report.state, port.name, mtu, sample.between),
             .measured = costs.of(segmentation_of(port, mtu))});
    }
    report.measurement_error = costs.error();
    return {};
}

} // namespace

CommandResult offload_show(Session& session, Arguments) {
    auto state = TEAMO_TRY(session.state());
    TEAMO_TRY(require_offloads(state));
    OffloadReport report{.state = std::move(state), .costs = {}, .measurement_error = {}};
    TEAMO_TRY(add_costs(session, report));
    session.print(offload_json(report), offload_text(report));
    return {};
}

} // namespace teamo::ctl
