// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plan/workers/worker_plan.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using enum WorkerSelector;

const Worker nginx{.id = {10, 1},
                   .command = "nginx",
                   .user = 33,
                   .cgroup = "/system.slice/nginx.service",
                   .unit = "nginx.service",
                   .threads = 1};

bool fits(WorkerSelector selector, const char* name, const Worker& worker = nginx) {
    const std::vector<WorkerRule> rules{{selector, name, WorkerPolicy::follow}};
    return rule_for(worker, rules, {{"www-data", 33}, {"33", 33}, {"root", 0}}) != nullptr;
}

TEST(WorkerRules, matches_unit_patterns) {
    EXPECT_TRUE(fits(unit, "nginx.service"));
    EXPECT_TRUE(fits(unit, "nginx.*"));
    EXPECT_FALSE(fits(unit, "nginx"));
    auto instance = nginx;
    instance.unit = R"(worker@eth0-a\x2db.service)";
    EXPECT_TRUE(fits(unit, "worker@*.service", instance));
    EXPECT_TRUE(fits(unit, R"(worker@eth0-a\x2db.service)", instance));
    instance.unit.clear();
    EXPECT_FALSE(fits(unit, "*", instance));
}

TEST(WorkerRules, matches_control_group_and_descendants) {
    for (const auto* holder : {"/system.slice/nginx.service", "/system.slice", "/system.slice/", "/"})
        EXPECT_TRUE(fits(cgroup, holder)) << holder;
    for (const auto* other :
         {"/system", "/system.slice/nginx", "/user.slice", "/system.slice/nginx.service/x"})
        EXPECT_FALSE(fits(cgroup, other)) << other;
}

TEST(WorkerRules, matches_command_up_to_kernel_length) {
    EXPECT_TRUE(fits(command, "nginx"));
    EXPECT_TRUE(fits(command, "n*x"));
    EXPECT_FALSE(fits(command, "ngin"));
    auto longer = nginx;
    longer.command = "a-very-long-nam";
    EXPECT_TRUE(fits(command, "a-very-long-name-of-a-command", longer));
    EXPECT_FALSE(fits(command, "a-very-long", longer));
}

TEST(WorkerRules, matches_known_user) {
    EXPECT_TRUE(fits(user, "www-data"));
    EXPECT_TRUE(fits(user, "33"));
    EXPECT_FALSE(fits(user, "root"));
    EXPECT_FALSE(fits(user, "nobody-knows"));
}

TEST(WorkerRules, uses_first_matching_rule) {
    const std::vector<WorkerRule> rules{{user, "root", WorkerPolicy::off},
                                        {command, "ng*", WorkerPolicy::spread},
                                        {command, "nginx", WorkerPolicy::follow}};
    EXPECT_EQ(rule_for(nginx, rules, {}), &rules[1]);
    EXPECT_EQ(rule_for(nginx, std::span(rules).first(1), {}), nullptr);
    EXPECT_EQ(rule_for(nginx, {}, {}), nullptr);
}

TEST(WorkerRules, supports_star_and_question_mark) {
    for (const auto& [pattern, name] :
         {std::pair{"*", ""}, {"a*b*c", "aXbYbZc"}, {"?b", "ab"}, {"**a", "bba"}, {"a[b]", "a[b]"}})
        EXPECT_TRUE(matches(pattern, name)) << pattern;
    for (const auto& [pattern, name] :
         {std::pair{"", "a"}, {"?", ""}, {"a*b", "abc"}, {"a", "A"}, {"a[b]", "ab"}})
        EXPECT_FALSE(matches(pattern, name)) << pattern;
    EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(5000, 'a'))); // and quickly
}

} // namespace
} // namespace teamo
