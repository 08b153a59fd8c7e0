// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/attached.h"

#include <fmt/format.h>

#include <array>

namespace teamo {

std::string runner_like(std::string_view mode, std::string_view runner) {
    constexpr std::string_view by_source = "slb", its_mode = "balance-xor";
    if (runner == by_source && mode == its_mode) return std::string(runner);
    constexpr auto runners =
        std::to_array<std::pair<std::string_view, const char*>>({{"802.3ad", "lacp"},
                                                                 {"active-backup", "activebackup"},
                                                                 {"broadcast", "broadcast"},
                                                                 {"balance-rr", "roundrobin"}});
    for (const auto& [name, like] : runners)
        if (name == mode) return like;
    return "loadbalance";
}

std::string text_of(const AttachedStatus& attached) {
    switch (attached.unsteered) {
    case Unsteered::nothing: return {};
    case Unsteered::mode: return fmt::format("bonding chooses the slaves: its mode is {}", attached.mode);
    case Unsteered::policy:
        return fmt::format("bonding chooses the slaves: its policy is {}", attached.own_policy);
    case Unsteered::device_tls:
        return "bonding chooses the slaves: device TLS works only with the policy layer3+4";
    case Unsteered::slaves:
        return fmt::format("the bond is only watched: it has more than {} slaves", max_ports);
    case Unsteered::addresses:
        return "a lost link costs packets until bonding has noticed it: with fail_over_mac a backup has an "
               "address of its own";
    case Unsteered::delay:
        return "a lost link costs packets until bonding has noticed it: downdelay wants it to wait";
    case Unsteered::arp:
        return "bonding chooses the slaves: by its ARP monitor the switches would learn the bond's address "
               "at "
               "every slave, and slb needs it at one";
    case Unsteered::programs:
        return fmt::format("the bond is watched, and the daemon's programs are not there: {}",
                           attached.detail);
    case Unsteered::waits:
        return fmt::format("bonding chooses the slaves: another program has just set the policy {}",
                           attached.own_policy);
    case Unsteered::owner:
        return fmt::format("bonding chooses the slaves: another program sets the policy {} again and again",
                           attached.own_policy);
    case Unsteered::refused:
        return fmt::format("bonding chooses the slaves: the kernel refuses the policy encap3+4: {}",
                           attached.detail);
    }
    return {};
}

std::string cure_of(const AttachedStatus& attached, std::string_view bond) {
    switch (attached.unsteered) {
    case Unsteered::mode: return "use the mode 802.3ad or balance-xor";
    case Unsteered::policy: return "use another xmit_hash_policy if the bond does not need this one";
    case Unsteered::device_tls:
        return "switch device TLS off on the slaves if it is not worth it: ethtool -K SLAVE "
               "tls-hw-tx-offload off";
    case Unsteered::slaves: return "take slaves out of the bond";
    case Unsteered::addresses: return "set fail_over_mac to none if the slaves' drivers can have one address";
    case Unsteered::delay: return "set downdelay to 0 if no link is lost for a moment only";
    case Unsteered::arp: return "use bonding's miimon instead of arp_interval";
    case Unsteered::programs:
    case Unsteered::refused: return fmt::format("see the log: journalctl TEAM={}", bond);
    case Unsteered::waits: return "wait two seconds";
    case Unsteered::owner:
        return "set xmit_hash_policy to encap3+4 where the bond is configured: NetworkManager bond.options, "
               "networkd TransmitHashPolicy=, netplan transmit-hash-policy:, ifupdown bond-xmit-hash-policy";
    case Unsteered::nothing: break;
    }
    return {};
}

} // namespace teamo
