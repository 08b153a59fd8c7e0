// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bonds in the files of other programs, and in the kernel.
#include "ctl/import/bond_setup.h"
#include "ctl/import/settings_file.h"
#include "ctl/packet/l2_context.h"
#include "ctl/session.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"
#include "kernel/netlink/bond_options.h"
#include "kernel/netlink/links.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>

namespace teamo::ctl {
namespace {

namespace fs = std::filesystem;

/// Other files of the folder, sorted.
std::vector<fs::path> beside(const fs::path& file, auto accepts) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry :
         fs::directory_iterator(file.has_parent_path() ? file.parent_path() : ".", failed))
        if (entry.path() != file && accepts(entry.path())) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

Error no_bond(const std::string& source, std::string_view wanted) {
    return {ENOENT, wanted.empty() ? fmt::format("{}: has no bond", source)
                                   : fmt::format("{}: has no bond {}", source, wanted)};
}

/// The only bond of a file, or the wanted one.
Result<BondSetup> choose(std::vector<BondSetup> bonds, const std::string& source, std::string_view wanted) {
    if (!wanted.empty()) std::erase_if(bonds, [wanted](const auto& bond) { return bond.device != wanted; });
    if (bonds.empty()) return tl::unexpected(no_bond(source, wanted));
    if (bonds.size() == 1) return std::move(bonds[0]);
    std::string names;
    for (const auto& bond : bonds)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", bond.device);
    return fail(EINVAL, fmt::format("{}: has several bonds: {}; write the name of one after the file", source,
                                    names));
}

// ---- the kernel -----------------------------------------------------------------------------------------

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

// ---- files ----------------------------------------------------------------------------------------------

/// A bond whose ports are in other files of its folder.
Result<BondSetup> read_with_ports(const std::string& file, std::string_view wanted, auto bond_of,
                                  auto accepts) {
    const auto text = TEAMO_TRY(read_file(file));
    std::vector<FileText> others;
    std::vector<std::string> remarks;
    for (const auto& other : beside(file, accepts))
        if (auto read = read_file(other.string()))
            others.push_back({.file = other.string(), .text = std::move(*read)});
        else
            remarks.push_back(read.error().text + "; if it is a port of the bond, add it to \"ports\"");
    auto bond = bond_of(text, others);
    if (!bond && bond.error().number == ENOENT) return tl::unexpected(no_bond(file, wanted));
    if (bond) std::ranges::move(remarks, std::back_inserter(bond->remarks));
    return within(file, std::move(bond));
}

/// interfaces(5): only these files of a "source-directory" count, not what an editor or dpkg left.
bool is_interfaces_name(std::string_view name) {
    return std::ranges::all_of(name, [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
    });
}

constexpr int most_sources = 256;

/// interfaces(5) with the files that it names: "source PATTERN" and "source-directory FOLDER".
Result<std::string> read_interfaces(const fs::path& file, int& files) {
    if (++files > most_sources) return fail(ELOOP, fmt::format("{}: too many files", file.string()));
    auto text = TEAMO_TRY(read_file(file.string()));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        auto [key, value] = interfaces_option(line);
        if (key != "source" && key != "source-directory") continue;
        if (!value.starts_with('/')) value = (file.parent_path() / value).string();
        std::error_code failed;
        for (const auto& word : shell_words(value)) {
            std::vector<fs::path> found;
            if (key == "source") found.emplace_back(word);
            for (const auto& entry : fs::directory_iterator(word, failed))
                if (key == "source-directory" && is_interfaces_name(entry.path().filename().string()))
                    found.push_back(entry.path());
            std::ranges::sort(found);
            for (const auto& path : found)
                if (fs::is_regular_file(path, failed))
                    text += "\nsource\n" + TEAMO_TRY(read_interfaces(path, files)); // ends a stanza
        }
    }
    return text;
}

} // namespace

Result<BondSetup> read_bond(const std::string& source, std::string_view bond) {
    const fs::path path(source);
    const auto device = source.find('/') == std::string::npos ? device_name(source).value_or("") : "";
    if (!device.empty() && !sysfs::names_in(fs::path("/sys/class/net") / device / "bonding").empty())
        return read_device(device);
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown))
        return fail(ENOENT, fmt::format("{}: no bond and no file of this name", source));
    const auto kind = path.extension();
    if (kind == ".netdev")
        return read_with_ports(source, bond, bond_of_networkd,
                               [](const auto& other) { return other.extension() == ".network"; });
    if (kind == ".yaml" || kind == ".yml") {
        const auto text = TEAMO_TRY(read_file(source));
        return choose(TEAMO_TRY(within(source, bonds_of_netplan(text))), source, bond);
    }
    if (kind == ".nmconnection")
        return read_with_ports(source, bond, bond_of_network_manager,
                               [](const auto& other) { return other.extension() == ".nmconnection"; });
    if (path.filename().string().starts_with("ifcfg-"))
        return read_with_ports(source, bond, bond_of_ifcfg, is_ifcfg);
    int files = 0;
    return choose(bonds_of_ifupdown(TEAMO_TRY(read_interfaces(path, files))), source, bond);
}

} // namespace teamo::ctl
