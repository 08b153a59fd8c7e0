// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads a device's .link file from a fake udev database.
//
// lab: UdevIrqPolicy.* by none: no daemon runs
#include "kernel/interrupts/udev_policy.h"

#include "support/daemon/process.h"
#include "support/net/net_ns.h"

#include <gmock/gmock.h>
#include <net/if.h>

#include <filesystem>
#include <fstream>

namespace teamo::test {
namespace {

TEST(UdevIrqPolicy, reads_the_file_that_udevd_applied) {
    NetNs::current().ip("link add eth0 type veth peer name far0");
    const IfIndex eth0{if_nametoindex("eth0")};
    const auto none = read_udev_irq_policy(eth0);
    ASSERT_TRUE(none) << none.error().text;
    EXPECT_EQ(std::nullopt, *none) << "the device is not in the database";

    std::filesystem::create_directories("/run/udev/data");
    std::filesystem::create_directories("/run/systemd/network/10-lan.link.d");
    std::ofstream(fmt::format("/run/udev/data/n{}", eth0.value))
        << "E:ID_NET_LINK_FILE=/run/systemd/network/10-lan.link\n"
           "E:ID_NET_LINK_FILE_DROPINS=/run/systemd/network/10-lan.link.d/irq.conf\nV:1\n";
    std::ofstream("/run/systemd/network/10-lan.link") << "[Link]\nIRQAffinityPolicy=spread\n";
    auto policy = read_udev_irq_policy(eth0);
    ASSERT_TRUE(policy) << policy.error().text;
    EXPECT_EQ((UdevIrqPolicy{"/run/systemd/network/10-lan.link", "IRQAffinityPolicy=spread"}), *policy);

    std::ofstream("/run/systemd/network/10-lan.link.d/irq.conf") << "[Link]\nIRQAffinityPolicy=single\n";
    policy = read_udev_irq_policy(eth0);
    ASSERT_TRUE(policy && *policy);
    EXPECT_EQ("/run/systemd/network/10-lan.link.d/irq.conf", (*policy)->file);

    EXPECT_FALSE(read_udev_irq_policy(IfIndex{9999}));
}

} // namespace
} // namespace teamo::test
