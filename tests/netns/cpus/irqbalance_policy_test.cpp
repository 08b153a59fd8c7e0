// SPDX-License-Identifier: LGPL-2.1-or-later
//
// packaging/irqbalance/teamd-offload-policy, which irqbalance runs for each new interrupt.
//
// lab: IrqBalancePolicy.* by none: no daemon runs
#include "runtime/journal.h"
#include "support/daemon/process.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;

class IrqBalancePolicy : public testing::Test {
protected:
    IrqBalancePolicy() {
        std::string name = fs::temp_directory_path() / "teamo-policy-XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~IrqBalancePolicy() override { fs::remove_all(root_); }

    void file(const std::string& path, const std::string& text = "") {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    /// In teamd-offload's format.
    void team_has(const std::string& port) {
        Journal journal;
        journal.team = IfIndex{7};
        auto& member = journal.ports.emplace_back();
        member.index = IfIndex{3};
        member.slot = Slot{1};
        member.name = port;
        journal.removed_by_hand = {"eth9"};
        file("run/teamd-offload/team0.json", text_of(journal));
    }
    Output ask(const std::string& device) const {
        return run({.argv = {TEAMO_SOURCE_DIR "/packaging/irqbalance/teamd-offload-policy", device, "33"},
                    .environment = {"TEAMD_OFFLOAD_ROOT=" + root_.native()}});
    }
    testing::AssertionResult bans(const std::string& device) const {
        const auto answer = ask(device);
        if (answer.status == 0 && answer.out == "ban=true\n") return testing::AssertionSuccess();
        return testing::AssertionFailure() << answer.status << answer.out << answer.err;
    }
    testing::AssertionResult leaves(const std::string& device) const {
        const auto answer = ask(device);
        if (answer.status == 1 && answer.out.empty() && answer.err.empty())
            return testing::AssertionSuccess();
        return testing::AssertionFailure() << answer.status << answer.out << answer.err;
    }

    fs::path root_;
    const std::string card_ = "/sys/bus/pci/devices/0000:00:03.0",
                      other_ = "/sys/bus/pci/devices/0000:00:04.0";
};

TEST_F(IrqBalancePolicy, bans_interrupts_of_ports) {
    file(card_.substr(1) + "/net/eth0/ifindex");
    file(other_.substr(1) + "/net/eth1/ifindex");
    EXPECT_TRUE(leaves(card_)) << "no team";
    team_has("eth0");
    EXPECT_TRUE(bans(card_));
    EXPECT_TRUE(leaves(other_));
    EXPECT_TRUE(leaves("/sys"));
    file(other_.substr(1) + "/net/eth9/ifindex");
    EXPECT_TRUE(leaves(other_)) << "was removed by hand";
}

TEST_F(IrqBalancePolicy, finds_virtio_devices_by_pci_device) {
    file(card_.substr(1) + "/virtio0/net/eth0/ifindex");
    team_has("eth0");
    EXPECT_TRUE(bans(card_));
}

TEST_F(IrqBalancePolicy, bans_ports_of_teams_that_start_at_boot) {
    file(card_.substr(1) + "/net/eth0/ifindex");
    file(other_.substr(1) + "/net/eth00/ifindex");
    file("etc/teamd-offload/team0.conf", R"({"ports": {"eth0": {}}})");
    EXPECT_TRUE(leaves(card_)) << "the unit is not enabled";
    fs::create_directories(root_ / "etc/systemd/system/multi-user.target.wants");
    fs::create_symlink("/lib/systemd/system/teamd-offload@.service",
                       root_ / "etc/systemd/system/multi-user.target.wants/teamd-offload@team0.service");
    EXPECT_TRUE(bans(card_));
    EXPECT_TRUE(leaves(other_));
}

TEST_F(IrqBalancePolicy, bans_ports_of_all_teams_if_their_unit_starts_at_boot) {
    file(card_.substr(1) + "/net/eth0/ifindex");
    file(other_.substr(1) + "/net/eth1/ifindex");
    file("etc/teamd-offload/team0.conf", R"({"ports": {"eth0": {}}})");
    fs::create_directories(root_ / "etc/systemd/system/multi-user.target.wants");
    fs::create_symlink("/lib/systemd/system/teamd-offload.service",
                       root_ / "etc/systemd/system/multi-user.target.wants/teamd-offload.service");
    EXPECT_TRUE(bans(card_));
    EXPECT_TRUE(leaves(other_)) << "is in no team's file";
}

TEST_F(IrqBalancePolicy, falls_back_to_the_udev_database) {
    team_has("enp0s3");
    file("run/udev/data/n3", "I:1\nE:ID_PATH=pci-0000:00:03.0\nE:ID_NET_NAME=enp0s3\nV:1\n");
    EXPECT_TRUE(bans(card_));
    EXPECT_TRUE(leaves(other_));
}

} // namespace
} // namespace teamo::test
