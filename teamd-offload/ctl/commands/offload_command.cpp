// SPDX-License-Identifier: LGPL-2.1-or-later
//
// offload: which port holds the team back, and what that costs.
#include "ctl/commands.h"
#include "ctl/doctor/sampling.h"
#include "ctl/output.h"
#include "ctl/report/offload_report.h"
#include "kernel/netlink/links.h"

#include <algorithm>
#include <map>

namespace teamo::ctl {
namespace {

/// Each kind of device is measured once.
class Prices {
public:
    std::optional<SegmentationCost> of(const Segmentation& device) {
        const auto known = prices_.find(device);
        if (known != prices_.end()) return known->second;
        std::optional<SegmentationCost> price;
        if (auto measured = measure_segmentation(device))
            price = *measured;
        else
            complaint_ = measured.error().text;
        prices_.emplace(device, price);
        return price;
    }
    const std::string& complaint() const { return complaint_; }

private:
    std::map<Segmentation, std::optional<SegmentationCost>> prices_;
    std::string complaint_;
};

/// A port that went meanwhile has the usual one.
std::uint32_t mtu_of(LinkControl& links, const TeamState& state, std::string_view port) {
    const auto* known = find_port(state, port);
    if (known == nullptr) return Segmentation{}.mtu;
    const auto link = links.read(known->ifindex);
    return link ? link->mtu : Segmentation{}.mtu;
}

Result<> add_costs(Session& session, OffloadReport& report) {
    const bool any = std::ranges::any_of(report.state.offload->ports, [](const DeviceOffloads& port) {
        return cuts_of(port) != Cuts::nothing;
    });
    if (!any) return {};
    auto links = LinkControl::open();
    if (!links) return tl::unexpected(links.error());
    auto sample = take_sample(session);
    if (!sample) return tl::unexpected(sample.error());
    if (auto tells = tells_of_offloads(sample->state); !tells) return tells;
    Prices prices;
    report.state = std::move(sample->state);
    for (const auto& port : report.state.offload->ports) {
        const auto cuts = cuts_of(port);
        if (cuts == Cuts::nothing) continue;
        const auto mtu = mtu_of(*links, report.state, port.name);
        report.costs.push_back(
            {.port = port.name,
             .cuts = cuts,
             .sending = sending_between(sample->before, report.state, port.name, mtu, sample->between),
             .measured = prices.of(segmentation_of(port, mtu))});
    }
    report.unmeasured = prices.complaint();
    return {};
}

} // namespace

Result<> offload_show(Session& session, Arguments) {
    auto state = session.state();
    if (!state) return tl::unexpected(state.error());
    if (auto tells = tells_of_offloads(*state); !tells) return tells;
    OffloadReport report{.state = std::move(*state), .costs = {}, .unmeasured = {}};
    if (auto added = add_costs(session, report); !added) return added;
    if (session.options().json)
        session.print(offload_json(report));
    else
        put(offload_text(report));
    return {};
}

} // namespace teamo::ctl
