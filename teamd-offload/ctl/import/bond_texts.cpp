// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bonds in the texts of other programs' files. Pure.
#include "ctl/import/bond_setup.h"
#include "ctl/import/settings_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace teamo::ctl {
namespace {

/// The same option in systemd.netdev(5) and in netplan(5), where times have units.
struct OtherName {
    std::string_view bonding, networkd, netplan;
    bool is_time = false;
};
constexpr auto other_names = std::to_array<OtherName>({
    {"mode", "Mode", "mode"},
    {"xmit_hash_policy", "TransmitHashPolicy", "transmit-hash-policy"},
    {"lacp_rate", "LACPTransmitRate", "lacp-rate"},
    {"miimon", "MIIMonitorSec", "mii-monitor-interval", true},
    {"updelay", "UpDelaySec", "up-delay", true},
    {"downdelay", "DownDelaySec", "down-delay", true},
    {"lp_interval", "LearnPacketIntervalSec", "learn-packet-interval", true},
    {"ad_select", "AdSelect", "ad-select"},
    {"ad_actor_sys_prio", "AdActorSystemPriority", ""},
    {"ad_user_port_key", "AdUserPortKey", ""},
    {"ad_actor_system", "AdActorSystem", ""},
    {"fail_over_mac", "FailOverMACPolicy", "fail-over-mac-policy"},
    {"arp_validate", "ARPValidate", "arp-validate"},
    {"arp_interval", "ARPIntervalSec", "arp-interval", true},
    {"arp_ip_target", "ARPIPTargets", "arp-ip-targets"},
    {"arp_all_targets", "ARPAllTargets", "arp-all-targets"},
    {"arp_missed_max", "ARPMissedMax", ""},
    {"primary", "", "primary"},
    {"primary_reselect", "PrimaryReselectPolicy", "primary-reselect-policy"},
    {"resend_igmp", "ResendIGMP", "resend-igmp"},
    {"packets_per_slave", "PacketsPerSlave", "packets-per-member"},
    {"packets_per_slave", "", "packets-per-slave"},
    {"num_grat_arp", "GratuitousARP", "gratuitous-arp"},
    {"num_grat_arp", "", "gratuitious-arp"},
    {"peer_notif_delay", "PeerNotifyDelaySec", "", true},
    {"all_slaves_active", "AllSlavesActive", "all-members-active"},
    {"all_slaves_active", "", "all-slaves-active"},
    {"tlb_dynamic_lb", "DynamicTransmitLoadBalancing", ""},
    {"min_links", "MinLinks", "min-links"},
});

bool is_yes(std::string_view value) {
    constexpr std::array<std::string_view, 4> yes{"1", "true", "yes", "on"};
    return std::ranges::find(yes, value) != yes.end();
}

/// As bonding takes it: true is 1, a time is milliseconds. The interval of learning packets is seconds, but
/// it has no meaning here.
Result<std::string> value_of(const OtherName& name, const std::string& value, std::string_view usual_unit) {
    constexpr std::array<std::string_view, 3> no{"false", "no", "off"};
    if (!name.is_time) {
        if (is_yes(value)) return "1";
        return std::ranges::find(no, value) != no.end() ? "0" : value;
    }
    const auto time = milliseconds_of(value, usual_unit);
    if (!time) return fail(EINVAL, fmt::format("{}: \"{}\" is no time", name.bonding, value));
    return std::to_string(*time);
}

tl::unexpected<Error> no_bond_here() { return fail(ENOENT, "has no bond"); }

std::string shell_value(const Settings& settings, std::string_view key) {
    const auto words = shell_words(find(settings, "", key).value_or(""));
    return words.empty() ? "" : words[0];
}

std::string text_of(const YAML::Node& node) {
    if (!node.IsSequence()) return node.as<std::string>("");
    std::string list;
    for (const auto& entry : node)
        list += fmt::format("{}{}", list.empty() ? "" : ",", entry.as<std::string>(""));
    return list;
}

Result<BondSetup> bond_of(const std::string& device, const YAML::Node& node) {
    BondSetup bond{.device = device, .address = node["macaddress"].as<std::string>("")};
    for (const auto& port : node["interfaces"])
        bond.port(port.as<std::string>(""));
    for (const auto& parameter : node["parameters"]) {
        const auto key = parameter.first.as<std::string>("");
        const auto* const name = std::ranges::find(other_names, key, &OtherName::netplan);
        const bool is_known = name != other_names.end();
        bond.options[is_known ? std::string(name->bonding) : key] =
            is_known ? TEAMO_TRY(value_of(*name, text_of(parameter.second), "ms"))
                     : text_of(parameter.second);
    }
    return bond;
}

} // namespace

Result<BondSetup> bond_of_networkd(std::string_view text, std::span<const FileText> networks) {
    const auto settings = read_settings(text);
    BondSetup bond{.device = find(settings, "NetDev", "Name").value_or(""),
                   .address = find(settings, "NetDev", "MACAddress").value_or("")};
    if (bond.device.empty() || find(settings, "NetDev", "Kind") != "bond") return no_bond_here();
    for (const auto& setting : settings) {
        if (setting.section != "Bond") continue;
        const auto* const name = std::ranges::find(other_names, setting.key, &OtherName::networkd);
        if (name == other_names.end()) {
            bond.options[setting.key] = setting.value;
            continue;
        }
        auto& value = bond.options[std::string(name->bonding)];
        const auto more = TEAMO_TRY(value_of(*name, setting.value, "s"));
        const bool is_list = name->bonding == "arp_ip_target" && !value.empty();
        value = is_list ? fmt::format("{},{}", value, more) : more;
    }
    for (const auto& network : networks) {
        const auto port = read_settings(network.text);
        if (find(port, "Network", "Bond") != bond.device) continue;
        const auto match = find(port, "Match", "Name").value_or("");
        if (match.empty() || match.find_first_of("*?[!") != std::string::npos) {
            bond.remarks.push_back(
                fmt::format("{}: the ports have no names there; add them to \"ports\"", network.file));
            continue;
        }
        std::istringstream names(match);
        for (std::string name; names >> name;) {
            bond.port(name);
            if (is_yes(find(port, "Network", "PrimarySlave").value_or(""))) bond.options["primary"] = name;
        }
    }
    return bond;
}

Result<BondSetup> bond_of_network_manager(std::string_view text, std::span<const FileText> connections) {
    const auto settings = read_settings(text);
    BondSetup bond{.device = find(settings, "connection", "interface-name").value_or(""),
                   .address = find(settings, "ethernet", "cloned-mac-address").value_or("")};
    if (bond.device.empty() || find(settings, "connection", "type") != "bond") return no_bond_here();
    if (!bond.address.empty() && bond.address.find(':') == std::string::npos)
        bond.address.clear(); // "random"
    for (const auto& setting : settings)
        if (setting.section == "bond") bond.options[setting.key] = setting.value;
    const auto id = find(settings, "connection", "id"), uuid = find(settings, "connection", "uuid");
    for (const auto& other : connections) {
        const auto port = read_settings(other.text);
        for (const auto* key : {"master", "controller"}) {
            const auto controller = find(port, "connection", key);
            if (!controller || (controller != id && controller != uuid && controller != bond.device))
                continue;
            const auto name = find(port, "connection", "interface-name").value_or("");
            if (name.empty()) {
                bond.remarks.push_back(
                    fmt::format("{}: the port has no interface-name; add it to \"ports\"", other.file));
                continue;
            }
            auto& options = bond.port(name).options;
            for (const auto* option : {"prio", "queue-id"})
                if (const auto value = find(port, "bond-port", option))
                    options[std::string_view(option) == "prio" ? "prio" : "queue_id"] = *value;
        }
    }
    return bond;
}

Result<BondSetup> bond_of_ifcfg(std::string_view text, std::span<const FileText> others) {
    const auto settings = read_settings(text);
    BondSetup bond{.device = shell_value(settings, "DEVICE"), .address = shell_value(settings, "MACADDR")};
    const auto given = shell_value(settings, "BONDING_OPTS");
    const bool is_bond = !given.empty() || shell_value(settings, "BONDING_MASTER") == "yes";
    if (bond.device.empty() || !is_bond) return no_bond_here();
    std::istringstream words(given);
    for (std::string word; words >> word;)
        if (const auto equals = word.find('='); equals != std::string::npos)
            bond.options[word.substr(0, equals)] = word.substr(equals + 1);
    for (const auto& other : others) {
        const auto port = read_settings(other.text);
        const auto name = shell_value(port, "DEVICE");
        if (!name.empty() && shell_value(port, "MASTER") == bond.device) bond.port(name);
    }
    return bond;
}

std::vector<BondSetup> bonds_of_ifupdown(std::string text) {
    std::map<std::string, BondSetup> devices;
    std::map<std::string, std::string> masters; // by port
    std::istringstream lines(with_joined_lines(std::move(text)));
    std::string device;
    for (std::string line; std::getline(lines, line);) {
        auto [key, value] = interfaces_option(line);
        if (key == "iface") {
            device = value.substr(0, value.find_first_of(" \t"));
            devices[device].device = device;
            continue;
        }
        if (key == "auto" || key == "mapping" || key.starts_with("allow-") || key.starts_with("source"))
            device.clear();
        if (device.empty()) continue;
        std::ranges::replace(key, '-', '_');
        if (key == "hwaddress") {
            devices[device].address = value.starts_with("ether ") ? value.substr(6) : value;
            continue;
        }
        if (key == "slaves") key = "bond_slaves"; // of older versions
        if (!key.starts_with("bond_")) continue;
        key.erase(0, 5);
        if (key == "master")
            masters[device] = value;
        else if (key == "slaves" || key == "ports") {
            const auto words = shell_words(value);
            if (words.empty() && !value.empty())
                devices[device].remarks.push_back(
                    fmt::format("{}: bond-{} {}: add the ports to \"ports\"", device, key, value));
            for (const auto& port : words) {
                if (port == "all")
                    devices[device].remarks.push_back(
                        fmt::format("{}: bond-slaves all: add the ports to \"ports\"", device));
                else if (port != "none")
                    devices[device].port(port);
            }
        } else if (key == "primary")
            devices[device].options[key] = value.substr(0, value.find_first_of(" \t"));
        else
            devices[device].options[key] = value;
    }
    // A port may have options of its bond, which needs no stanza of its own.
    for (const auto& [port, master] : masters) {
        auto& bond = devices[master];
        bond.device = master;
        bond.port(port);
        bond.options.insert(devices[port].options.begin(), devices[port].options.end());
    }
    std::vector<BondSetup> bonds;
    for (auto& [name, bond] : devices)
        if (!masters.contains(name) &&
            (!bond.options.empty() || !bond.ports.empty() || !bond.remarks.empty()))
            bonds.push_back(std::move(bond));
    return bonds;
}

Result<std::vector<BondSetup>> bonds_of_netplan(const std::string& text) {
    std::vector<BondSetup> bonds;
    try {
        auto network = YAML::Load(text)["network"]; // not const: then what is missing would be an error
        auto ethernets = network["ethernets"];
        for (const auto& entry : network["bonds"]) {
            bonds.push_back(TEAMO_TRY(bond_of(entry.first.as<std::string>(""), entry.second)));
            const auto primary = bonds.back().options.find("primary"); // an id too
            const auto wanted = primary == bonds.back().options.end() ? "" : primary->second;
            for (auto& port : bonds.back().ports) { // an id, which is the name unless there is a match
                auto device = ethernets[port.name];
                if (const auto name = device["set-name"]) {
                    const auto id = std::exchange(port.name, name.as<std::string>(port.name));
                    if (!wanted.empty() && wanted == id) primary->second = port.name;
                } else if (device["match"])
                    bonds.back().remarks.push_back(fmt::format(
                        "{} is matched by its hardware: write the name of the device in \"ports\"",
                        port.name));
            }
        }
    } catch (const YAML::Exception& error) {
        return fail(EINVAL, fmt::format("line {}, column {}: {}", error.mark.line + 1, error.mark.column + 1,
                                        error.msg));
    }
    return bonds;
}

} // namespace teamo::ctl
