// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/import/read_bond.h"

#include "ctl/packet/l2_context.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/links.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

namespace teamo::ctl {
namespace {

namespace fs = std::filesystem;

/// What /sys does not show; what it shows stays.
void add_newer_options(const std::string& device, BondOptions& options) {
    if (auto more = read_bond_options(IfIndex{::if_nametoindex(device.c_str())})) options.merge(*more);
}

/// By the routes that the kernel has now, which bonding asks before each probe (bond_main.c:
/// bond_verify_device_path).
void add_target_vlans(BondSetup& bond) {
    auto control = LinkControl::open();
    const auto links = control ? control->read_all() : tl::unexpected(control.error());
    const auto* device = links ? find_link(*links, bond.device) : nullptr;
    if (device == nullptr) return;
    for (const auto* option : {"arp_ip_target", "ns_ip6_target"}) {
        const auto targets = bond.options.find(option);
        if (targets == bond.options.end()) continue;
        for (const auto& target : list_of(targets->second)) {
            const auto ip = parse_ip(target);
            const auto route = ip ? read_route(*ip, std::nullopt) : fail(EINVAL, "no address");
            const auto* by = route ? find_link(*links, route->device) : nullptr;
            if (by != nullptr && (by == device || stands_on(*links, *by, *device)))
                bond.target_vlans[target] = vlans_of(*links, by->index, device->index);
        }
    }
}

BondSetup read_device(const std::string& device) {
    const auto folder = fs::path("/sys/class/net") / device;
    BondSetup bond{.device = device};
    constexpr std::array<std::string_view, 7> states{"slaves",        "mii_status",    "active_slave",
                                                     "ad_actor_key",  "ad_aggregator", "ad_num_ports",
                                                     "ad_partner_key"};
    for (const auto& option : sysfs::names_in(folder / "bonding")) {
        if (std::ranges::find(states, option) != states.end() || option == "ad_partner_mac") continue;
        const auto value = sysfs::first_line(folder / "bonding" / option);
        if (!value.empty()) bond.options[option] = value;
    }
    add_newer_options(device, bond.options);
    std::istringstream slaves(sysfs::first_line(folder / "bonding" / "slaves"));
    const auto address = sysfs::first_line(folder / "address");
    bool is_ports = false;
    for (std::string slave; slaves >> slave;) {
        const auto settings = fs::path("/sys/class/net") / slave / "bonding_slave";
        auto& options = bond.port(slave).options;
        if (auto value = sysfs::first_line(settings / "queue_id"); !value.empty())
            options["queue_id"] = value;
        add_newer_options(slave, options);
        is_ports = is_ports || sysfs::first_line(settings / "perm_hwaddr") == address;
    }
    if (!is_ports && !bond.ports.empty()) bond.address = address;
    add_target_vlans(bond);
    return bond;
}

} // namespace

void use_own_policy(BondSetup& bond, const AttachedStatus& attached) {
    if (!attached.own_policy.empty()) bond.options["xmit_hash_policy"] = attached.own_policy;
}

Result<BondSetup> read_bond(const std::string& device) {
    if (sysfs::names_in(fs::path("/sys/class/net") / device / "bonding").empty())
        return fail(EINVAL, fmt::format("{}: is no bond", device));
    return read_device(device);
}

} // namespace teamo::ctl
