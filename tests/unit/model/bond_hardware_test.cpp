// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/bond_hardware.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

TEST(BondHardware, follows_the_rules_of_the_kernel) {
    for (const auto& [mode, policy, said] :
         {std::tuple{"active-backup", "layer2",
                     "RoCE and virtual functions over all ports, native XDP, IPsec offload, "
                     "hardware time stamps (PTP); not device TLS"},
          {"balance-xor", "encap3+4",
           "RoCE and virtual functions over all ports, native XDP; not IPsec offload, "
           "hardware time stamps (PTP), device TLS"},
          {"802.3ad", "layer3+4",
           "RoCE and virtual functions over all ports, native XDP, device TLS; not IPsec offload, "
           "hardware time stamps (PTP)"},
          {"802.3ad", "vlan+srcmac",
           "RoCE and virtual functions over all ports; not native XDP, IPsec offload, "
           "hardware time stamps (PTP), device TLS"},
          {"balance-rr", "",
           "native XDP; not RoCE and virtual functions over all ports, IPsec offload, "
           "hardware time stamps (PTP), device TLS"},
          {"balance-alb", "",
           "nothing of this; not RoCE and virtual functions over all ports, native XDP, "
           "IPsec offload, hardware time stamps (PTP), device TLS"}})
        EXPECT_EQ(std::string("bonding in mode ") + mode + ": cards can do " + said,
                  hardware_of(mode, policy));
}

} // namespace
} // namespace teamo
