// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/affinity.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace teamo {
namespace {

namespace fs = std::filesystem;

class FlowSteering : public testing::Test {
protected:
    FlowSteering() {
        char name[] = "/tmp/teamo-steering-XXXXXX";
        root_ = ::mkdtemp(name);
        write("/proc/sys/net/core/rps_sock_flow_entries", "0\n");
        for (const auto* queue :
             {"eth0/queues/rx-0", "eth0/queues/tx-0", "eth1/queues/rx-0", "eth1/queues/rx-1"})
            write(std::string("/sys/class/net/") + queue + "/rps_flow_cnt", "0\n");
    }
    ~FlowSteering() override { fs::remove_all(root_); }
    void write(const std::string& path, const std::string& text) const {
        fs::create_directories(fs::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    std::string conflict(const std::vector<std::string>& ports = {"eth0", "eth1"}) const {
        return flow_steering_conflict(ports, root_);
    }
    std::string root_;
};

TEST_F(FlowSteering, conflicts_if_both_tables_have_entries) {
    EXPECT_EQ(conflict(), "");
    write("/proc/sys/net/core/rps_sock_flow_entries", "32768\n");
    EXPECT_EQ(conflict(), "");
    write("/sys/class/net/eth1/queues/rx-1/rps_flow_cnt", "4096\n");
    EXPECT_EQ(conflict(), "RFS is on (net.core.rps_sock_flow_entries is 32768, eth1 rx-1 rps_flow_cnt 4096): "
                          "it moves packets to their process, which conflicts with binding workers");
    EXPECT_EQ(conflict({"eth0"}), "");
    write("/proc/sys/net/core/rps_sock_flow_entries", "0\n");
    EXPECT_EQ(conflict(), "");
}

TEST_F(FlowSteering, does_not_conflict_without_kernel_support) {
    EXPECT_EQ(flow_steering_conflict(std::vector<std::string>{"eth0"}, "/nowhere"), "");
    EXPECT_EQ(conflict({"eth7"}), "");
}

} // namespace
} // namespace teamo
