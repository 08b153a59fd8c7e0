// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A file of another program gives bonds, and each of them an error text or a document that the daemon reads.
// fuzz: -max_len=2048
#include "config/config_file.h"
#include "ctl/import/bond_options.h"
#include "ctl/import/settings_file.h"

#include <cstdlib>

using namespace teamo;

namespace {

void check(const ctl::BondSetup& bond) {
    const auto team = ctl::team_of(bond);
    if (!team && team.error().text.empty()) std::abort();
    if (team) static_cast<void>(read_document(team->document));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(bytes + 1), size - 1);
    switch (bytes[0] % 4) {
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
    default:
        if (const auto time = ctl::milliseconds_of(text, "s"); time && *time < 0) std::abort();
    }
    return 0;
}
