// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A file of another program gives bonds, and each of them a document or an error text. Reading the documents,
// as config_fuzz.cpp does, would take four fifths of the time.
//
// fuzz: -max_len=2048
#include "ctl/import/bond_options.h"
#include "ctl/import/settings_file.h"

#include "require.h"

#include <array>
#include <cstdlib>

using namespace teamo;

namespace {

void check(const ctl::BondSetup& bond) {
    const auto team = ctl::team_of(bond);
    require(team || !team.error().text.empty());
}

/// The file of a bond, and after a form feed one of a port.
template <class Read>
void check_with_port(Read read, std::string_view text) {
    const auto end = std::min(text.find('\f'), text.size());
    const std::array others{
        ctl::FileText{.file = "port", .text = std::string(text.substr(std::min(end + 1, text.size())))}};
    const Result<ctl::BondSetup> bond = read(text.substr(0, end), others);
    if (!bond) return require(!bond.error().text.empty());
    require(!bond->device.empty());
    for (const auto& port : bond->ports)
        require(!port.name.empty());
    check(*bond);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(bytes + 1), size - 1);
    switch (bytes[0] % 8) {
    case 0:
        for (const auto& bond : ctl::bonds_of_ifupdown(text))
            check(bond);
        break;
    case 1:
        if (const auto bonds = ctl::bonds_of_netplan(text))
            for (const auto& bond : *bonds)
                check(bond);
        break;
    case 2: {
        ctl::BondSetup bond{.device = "bond0", .ports = {{.name = "eth1"}}};
        for (const auto& setting : ctl::read_settings(text))
            bond.options[setting.key] = setting.value;
        check(bond);
        break;
    }
    case 3: check_with_port(ctl::bond_of_networkd, text); break;
    case 4: check_with_port(ctl::bond_of_network_manager, text); break;
    case 5: check_with_port(ctl::bond_of_ifcfg, text); break;
    default:
        if (const auto time = ctl::milliseconds_of(text, "s")) require(*time >= 0);
    }
    return 0;
}
