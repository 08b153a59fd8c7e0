// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announce/proc_groups.h"

#include <gmock/gmock.h>

#include <bit>
#include <random>
#include <string>

namespace teamo::announce {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// Copied from Linux 6.18.
constexpr std::string_view igmp = "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
                                  "1\tlo        :     1      V3\n"
                                  "\t\t\t\t010000E0     1 0:00000000\t\t0\n"
                                  "4\teth0      :     2      V2\n"
                                  "\t\t\t\tFB0000E0     1 0:00000000\t\t0\n"
                                  "\t\t\t\t010000E0     1 0:00000000\t\t0\n";
const IpAddress all_hosts = *parse_ip("224.0.0.1"), mdns = *parse_ip("224.0.0.251");

TEST(ProcIgmp, reads_groups_and_version_of_every_device) {
    if (std::endian::native != std::endian::little)
        GTEST_SKIP() << "the sample is of a little-endian machine";
    const auto devices = parse_proc_igmp(igmp);
    ASSERT_TRUE(devices);
    EXPECT_THAT(*devices, ElementsAre(Pair(IfIndex{1}, Ipv4Groups{IgmpVersion::v3, {all_hosts}}),
                                      Pair(IfIndex{4}, Ipv4Groups{IgmpVersion::v2, {mdns, all_hosts}})));
}

TEST(ProcIgmp, is_empty_without_devices) {
    EXPECT_THAT(parse_proc_igmp("").value(), IsEmpty());
    EXPECT_THAT(parse_proc_igmp("Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n").value(),
                IsEmpty());
}

TEST(ProcIgmp, reads_device_without_groups_and_wide_columns) {
    const auto devices = parse_proc_igmp("70000\taverylongdevice:     0      V1\n").value();
    EXPECT_THAT(devices, ElementsAre(Pair(IfIndex{70000}, Ipv4Groups{IgmpVersion::v1, {}})));
}

TEST(ProcIgmp, rejects_invalid_text) {
    for (const auto* text :
         {"x", "\n", "\t\t\t\t010000E0     1 0:00000000\t\t0\n", "0\tlo : 1 V3\n", "1\tlo : 1 V4\n",
          "1\tlo 1 V3\n", "1\tlo : many V3\n", "99999999999\tlo : 1 V3\n", "1\tlo : 1 V3\n\t\t\t\t010000E\n",
          "1\tlo : 1 V3\n\t\t\t\t0100000E0\n", "1\tlo : 1 V3\n\t\t\t\tghijklmn\n", "1\tlo : 1 V3\n\t\n"})
        EXPECT_FALSE(parse_proc_igmp(text)) << text;
    EXPECT_THAT(parse_proc_igmp("1\tlo : 1 V3\nx\n").error().text, HasSubstr("line 2"));
}

TEST(ProcGroups, limits_input_size) {
    const std::string longest(longest_group_list + 1, '\n');
    EXPECT_EQ(parse_proc_igmp(longest).error().number, EFBIG);
}

TEST(ProcGroups, survives_random_damage) {
    const auto seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int i = 0; i < 20'000; i++) {
        std::string text(igmp);
        for (auto damage = random() % 4; damage > 0; damage--)
            text[random() % text.size()] = static_cast<char>(random());
        text.resize(random() % (text.size() + 1));
        const auto groups = parse_proc_igmp(text);
        EXPECT_TRUE(groups || !groups.error().text.empty()) << "seed " << seed;
    }
}

} // namespace
} // namespace teamo::announce
