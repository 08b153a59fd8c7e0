// SPDX-License-Identifier: LGPL-2.1-or-later
//
// AllowedCPUs= over D-Bus.
#include "workers/unit_cpus.h"

#include "support/daemon/fake_systemd.h"

#include <gmock/gmock.h>

#include <optional>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SystemdUnitCpus : public testing::Test {
protected:
    test::FakeSystemd systemd_{"w@1.service"};
    test::SystemdUnit& manager_ = systemd_.unit();
    std::optional<UnitCpus> units_{systemd_.connect()};
};

TEST_F(SystemdUnitCpus, encodes_cpu_0_as_bit_0_of_byte_0) {
    EXPECT_THAT(cpu_bytes({0, 3, 8, 15}), ElementsAre(0x09, 0x81));
    EXPECT_THAT(cpu_bytes({}), IsEmpty());
    for (const auto& cpus : {CpuList{}, CpuList{0}, CpuList{7, 8, 8191}})
        EXPECT_EQ(cpus_of_bytes(cpu_bytes(cpus)), cpus);
    EXPECT_THAT(cpus_of_bytes(std::vector<std::uint8_t>(100'000, 0)), IsEmpty());
    EXPECT_EQ(cpus_of_bytes(std::vector<std::uint8_t>(100'000, 0xff)).size(), 8192U);
}

TEST_F(SystemdUnitCpus, sets_and_reads_runtime_cpus) {
    EXPECT_THAT(units_->read("w@1.service").value(), IsEmpty());
    ASSERT_TRUE(units_->set("w@1.service", {1, 9}));
    EXPECT_EQ(manager_.runtime, 1);
    EXPECT_EQ(units_->read("w@1.service").value(), (CpuList{1, 9}));
    ASSERT_TRUE(units_->set("w@1.service", {}));
    EXPECT_THAT(units_->read("w@1.service").value(), IsEmpty());
}

TEST_F(SystemdUnitCpus, passes_on_error_for_unknown_unit) {
    const auto set = units_->set("nobody.service", {1});
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().text, HasSubstr("nobody.service: Unit nobody.service not loaded."));
    EXPECT_FALSE(units_->read("nobody.service"));
}

} // namespace
} // namespace teamo
