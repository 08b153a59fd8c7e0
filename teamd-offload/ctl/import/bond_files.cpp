// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Bonds in the files of other programs, and in the kernel.
#include "ctl/import/bond_setup.h"
#include "ctl/import/settings_file.h"
#include "kernel/files/files.h"
#include "kernel/netlink/bond_options.h"

#include <fmt/format.h>
#include <net/if.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

namespace teamo::ctl {
namespace {

namespace fs = std::filesystem;

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
    if (is_yes(value)) return "1";
    if (std::ranges::find(no, value) != no.end()) return "0";
    if (!name.is_time) return value;
    const auto time = milliseconds_of(value, usual_unit);
    if (!time) return fail(EINVAL, fmt::format("{}: \"{}\" is no time", name.bonding, value));
    return std::to_string(*time);
}

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
    return bond;
}

// ---- systemd-networkd -----------------------------------------------------------------------------------

Result<BondSetup> read_networkd(const std::string& file, std::string_view wanted) {
    const auto settings = read_settings(TEAMO_TRY(read_file(file)));
    BondSetup bond{.device = find(settings, "NetDev", "Name").value_or(""),
                   .address = find(settings, "NetDev", "MACAddress").value_or("")};
    if (bond.device.empty() || find(settings, "NetDev", "Kind") != "bond")
        return tl::unexpected(no_bond(file, wanted));
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
    for (const auto& network :
         beside(file, [](const auto& path) { return path.extension() == ".network"; })) {
        const auto port = read_settings(TEAMO_TRY(read_file(network.string())));
        if (find(port, "Network", "Bond") != bond.device) continue;
        const auto match = find(port, "Match", "Name").value_or("");
        if (match.empty() || match.find_first_of("*?[!") != std::string::npos) {
            bond.remarks.push_back(
                fmt::format("{}: the ports have no names there; add them to \"ports\"", network.string()));
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

// ---- NetworkManager -------------------------------------------------------------------------------------

Result<BondSetup> read_network_manager(const std::string& file, std::string_view wanted) {
    const auto settings = read_settings(TEAMO_TRY(read_file(file)));
    BondSetup bond{.device = find(settings, "connection", "interface-name").value_or(""),
                   .address = find(settings, "ethernet", "cloned-mac-address").value_or("")};
    if (bond.device.empty() || find(settings, "connection", "type") != "bond")
        return tl::unexpected(no_bond(file, wanted));
    if (!bond.address.empty() && bond.address.find(':') == std::string::npos)
        bond.address.clear(); // "random"
    for (const auto& setting : settings)
        if (setting.section == "bond") bond.options[setting.key] = setting.value;
    const auto id = find(settings, "connection", "id"), uuid = find(settings, "connection", "uuid");
    for (const auto& other :
         beside(file, [](const auto& path) { return path.extension() == ".nmconnection"; })) {
        const auto port = read_settings(TEAMO_TRY(read_file(other.string())));
        for (const auto* key : {"master", "controller"}) {
            const auto controller = find(port, "connection", key);
            if (!controller || (controller != id && controller != uuid && controller != bond.device))
                continue;
            const auto name = find(port, "connection", "interface-name").value_or("");
            if (name.empty()) {
                bond.remarks.push_back(
                    fmt::format("{}: the port has no interface-name; add it to \"ports\"", other.string()));
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

// ---- ifcfg ----------------------------------------------------------------------------------------------

std::string shell_value(const Settings& settings, std::string_view key) {
    const auto words = shell_words(find(settings, "", key).value_or(""));
    return words.empty() ? "" : words[0];
}

Result<BondSetup> read_ifcfg(const std::string& file, std::string_view wanted) {
    const auto settings = read_settings(TEAMO_TRY(read_file(file)));
    BondSetup bond{.device = shell_value(settings, "DEVICE"), .address = shell_value(settings, "MACADDR")};
    const auto given = shell_value(settings, "BONDING_OPTS");
    const bool is_bond = !given.empty() || shell_value(settings, "BONDING_MASTER") == "yes";
    if (bond.device.empty() || !is_bond) return tl::unexpected(no_bond(file, wanted));
    std::istringstream words(given);
    for (std::string word; words >> word;)
        if (const auto equals = word.find('='); equals != std::string::npos)
            bond.options[word.substr(0, equals)] = word.substr(equals + 1);
    const auto is_ifcfg = [](const auto& path) {
        const auto name = path.filename().string();
        return name.starts_with("ifcfg-") && !name.ends_with("~") && path.extension() != ".bak" &&
               !path.extension().string().starts_with(".rpm");
    };
    for (const auto& other : beside(file, is_ifcfg)) {
        const auto port = read_settings(TEAMO_TRY(read_file(other.string())));
        const auto name = shell_value(port, "DEVICE");
        if (!name.empty() && shell_value(port, "MASTER") == bond.device) bond.port(name);
    }
    return bond;
}

// ---- netplan --------------------------------------------------------------------------------------------

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

/// The first word of a line of interfaces(5), and the rest without blanks at both ends.
std::pair<std::string, std::string> option_in(const std::string& line) {
    std::istringstream words(line);
    std::string key, value;
    words >> key;
    std::getline(words >> std::ws, value);
    const auto end = value.find_last_not_of(" \t\r");
    value.resize(end == std::string::npos ? 0 : end + 1);
    return {std::move(key), std::move(value)};
}

} // namespace

std::vector<BondSetup> bonds_of_ifupdown(std::string text) {
    std::map<std::string, BondSetup> devices;
    std::map<std::string, std::string> masters; // by port
    std::istringstream lines(with_joined_lines(std::move(text)));
    std::string device;
    for (std::string line; std::getline(lines, line);) {
        auto [key, value] = option_in(line);
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
        else if (key == "slaves" || key == "ports")
            for (auto& port : shell_words(value)) {
                if (port == "all")
                    devices[device].remarks.push_back(
                        fmt::format("{}: bond-slaves all: add the ports to \"ports\"", device));
                else if (port != "none")
                    devices[device].port(port);
            }
        else if (key == "primary")
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
            for (auto& port : bonds.back().ports) { // an id, which is the name unless there is a match
                auto device = ethernets[port.name];
                if (const auto name = device["set-name"])
                    port.name = name.as<std::string>(port.name);
                else if (device["match"])
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

namespace {

constexpr int most_sources = 256;

/// interfaces(5) with the files that it names: "source PATTERN" and "source-directory FOLDER".
Result<std::string> read_interfaces(const fs::path& file, int& files) {
    if (++files > most_sources) return fail(ELOOP, fmt::format("{}: too many files", file.string()));
    auto text = TEAMO_TRY(read_file(file.string()));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        auto [key, value] = option_in(line);
        if (key != "source" && key != "source-directory") continue;
        if (!value.starts_with('/')) value = (file.parent_path() / value).string();
        std::error_code failed;
        for (const auto& word : shell_words(value)) {
            std::vector<fs::path> found;
            if (key == "source") found.emplace_back(word);
            for (const auto& entry : fs::directory_iterator(word, failed))
                if (key == "source-directory") found.push_back(entry.path());
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
    if (source.find('/') == std::string::npos &&
        !sysfs::names_in(fs::path("/sys/class/net") / source / "bonding").empty())
        return read_device(source);
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown))
        return fail(ENOENT, fmt::format("{}: no bond and no file of this name", source));
    const auto kind = path.extension();
    if (kind == ".netdev") return read_networkd(source, bond);
    if (kind == ".yaml" || kind == ".yml") {
        const auto text = TEAMO_TRY(read_file(source));
        return choose(TEAMO_TRY(within(source, bonds_of_netplan(text))), source, bond);
    }
    if (kind == ".nmconnection") return read_network_manager(source, bond);
    if (path.filename().string().starts_with("ifcfg-")) return read_ifcfg(source, bond);
    int files = 0;
    return choose(bonds_of_ifupdown(TEAMO_TRY(read_interfaces(path, files))), source, bond);
}

} // namespace teamo::ctl
