// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Adopting a running team whose journal is lost. Needs real cards: only they have a permanent address.
//
// lab: *LostJournal.adopts_* *LostJournal.restores_permanent_* in -k 6.1 -p 2, 10 s
// lab: *LostJournal.* in -k 6.1 -p 2, 20 s, long
#include "lab/guest.h"
#include "lab/lab.h"
#include "support/daemon/team_under_test.h"
#include "support/net/links.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace teamo::test {
namespace {

using testing::HasSubstr;

constexpr const char* journal = "/run/teamd-offload/team0.json";
constexpr const char *administrators = "02:00:00:00:01:01", *teams = "02:00:00:00:07:07";
const std::map<std::string, std::string> permanent{{"eth0", "52:54:00:00:01:01"},
                                                   {"eth1", "52:54:00:00:01:02"}};

std::string address_of(const std::string& device) { return look(NetNs::current(), device).address; }

class LostJournal : public testing::TestWithParam<const char*> {
protected:
    LostJournal() {
        in_guest(
            fmt::format("ip link set eth0 down; ip link set eth1 down mtu 1400; ip link set eth0 address {}",
                        administrators));
        team_.emplace(fmt::format(R"({{"device": "team0", "hwaddr": "{}",
                                      "runner": {{"name": "loadbalance"}}, "ports": {{"eth0": {{}}, "eth1": {{}}}}}})",
                                  teams),
                      datapath_);
    }
    ~LostJournal() override {
        team_.reset();
        for (const auto& [port, address] : permanent)
            in_guest(
                fmt::format("ip link set {0} down; ip link set {0} address {1} mtu 1500", port, address));
    }

    /// Starts the next daemon with the same datapath.
    void start(std::vector<std::string> options = {}) {
        options.insert(options.end(), datapath_.begin(), datapath_.end());
        team_->start(options);
    }

    testing::AssertionResult both_carry() const {
        return eventually(
            "both ports carry",
            [&] {
                return team_->item("ports.eth0.link_watches.up") == "true" &&
                       team_->item("ports.eth1.link_watches.up") == "true";
            },
            20s);
    }

    /// An option, because the default option of the lab takes precedence over a key of the configuration.
    const std::vector<std::string> datapath_{"--datapath", GetParam()};
    std::optional<TeamUnderTest> team_;
};

TEST_P(LostJournal, adopts_and_restores_permanent_addresses) {
    ASSERT_TRUE(both_carry());
    const auto index = look(NetNs::current(), "team0").index;
    team_->kill();
    ASSERT_TRUE(std::filesystem::remove(journal)) << "the journal must have existed";
    start();
    EXPECT_THAT(team_->log(), HasSubstr("adopted the running team with 2 ports"));
    EXPECT_TRUE(both_carry());
    EXPECT_EQ(index, look(NetNs::current(), "team0").index);
    for (const auto& entry : permanent)
        EXPECT_EQ(teams, address_of(entry.first)) << "as long as it is a port";
    EXPECT_EQ(0, team_->stop());
    EXPECT_FALSE(exists(NetNs::current(), "team0"));
    for (const auto& [port, address] : permanent)
        EXPECT_EQ(address, address_of(port)) << port;
    // Only a driver still knows it.
    EXPECT_EQ(GetParam() == std::string_view("team") ? 1400U : 1500U, look(NetNs::current(), "eth1").mtu);
}

TEST_P(LostJournal, restores_permanent_addresses_without_the_device) {
    ASSERT_TRUE(both_carry());
    team_->kill();
    in_guest("ip link del team0");
    ASSERT_TRUE(std::filesystem::remove(journal));
    start({"-n"});
    for (const auto& [port, address] : permanent) {
        EXPECT_EQ(address, address_of(port)) << port;
        EXPECT_EQ("0\n", in_guest(fmt::format("cat /proc/sys/net/ipv6/conf/{}/disable_ipv6", port)));
        EXPECT_TRUE(look(NetNs::current(), port).altnames.empty());
    }
    EXPECT_EQ(0, team_->stop());
}

TEST_P(LostJournal, reports_an_unreadable_journal) {
    ASSERT_TRUE(both_carry());
    team_->kill();
    ASSERT_TRUE(std::filesystem::exists(journal));
    std::ofstream(journal) << R"({"version": )";
    start();
    EXPECT_THAT(team_->log(), HasSubstr("cannot read the earlier state of the ports: "));
    EXPECT_TRUE(both_carry());
    EXPECT_EQ(0, team_->stop());
    for (const auto& [port, address] : permanent)
        EXPECT_EQ(address, address_of(port)) << port;
}

TEST_P(LostJournal, restores_the_former_address_if_kept) {
    ASSERT_TRUE(both_carry());
    team_->kill();
    start();
    EXPECT_EQ(0, team_->stop());
    EXPECT_EQ(administrators, address_of("eth0")) << "with its journal";
}

INSTANTIATE_TEST_SUITE_P(Datapath, LostJournal, testing::Values("team", "bpf"),
                         [](const auto& which) { return std::string(which.param); });

} // namespace
} // namespace teamo::test
