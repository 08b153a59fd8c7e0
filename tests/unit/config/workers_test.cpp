// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The key "workers": the order of rules, and the errors for wrong ones.
#include "support.h"

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto whose = "one of unit, cgroup, command, user";

TEST(WorkersConfig, keeps_order_of_rules) {
    const auto read = team(R"({"workers": [
        {"unit": "worker@*.service", "policy": "spread"}, {"cgroup": "/system.slice"},
        {"command": "nginx", "policy": "follow"}, {"policy": "off", "user": "www-data"}]})");
    EXPECT_THAT(read.workers,
                ElementsAre(WorkerRule{WorkerSelector::unit, "worker@*.service", WorkerPolicy::spread},
                            WorkerRule{WorkerSelector::cgroup, "/system.slice", WorkerPolicy::follow},
                            WorkerRule{WorkerSelector::command, "nginx", WorkerPolicy::follow},
                            WorkerRule{WorkerSelector::user, "www-data", WorkerPolicy::off}));
    EXPECT_THAT(team("{}").workers, IsEmpty());
    EXPECT_THAT(team(R"({"workers": []})").workers, IsEmpty());
}

TEST(WorkersConfig, refuses_wrong_types) {
    const std::pair<const char*, std::string> cases[] = {
        {R"({"workers": {"unit": "a"}})",
         "1:13: error: /workers: must be an array of objects, not an object"},
        {R"({"workers": ["a"]})", "1:14: error: /workers/0: must be an object, not a string"},
        {R"({"workers": [{"unit": "a"}, 7]})", "1:29: error: /workers/1: must be an object, not an integer"},
        {R"({"workers": [{"unit": 7}]})", "1:23: error: /workers/0/unit: must be a string, not an integer"},
        {R"({"workers": [{"user": 33}]})", "1:23: error: /workers/0/user: must be a string, not an integer"},
        {R"({"workers": [{"unit": "a", "policy": true}]})",
         "1:38: error: /workers/0/policy: must be a string, not a boolean"},
        {R"({"workers": [{"unit": "a", "policy": "folow"}]})",
         "1:38: error: /workers/0/policy: unknown policy \"folow\"; valid values: follow, spread, off; did "
         "you "
         "mean \"follow\"?"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_THAT(complaints(text), ElementsAre(expected));
        EXPECT_EQ(verdict(text), Verdict::refused) << text;
    }
}

TEST(WorkersConfig, requires_exactly_one_selector) {
    const std::pair<const char*, std::string> cases[] = {
        {R"({"workers": [{}]})",
         fmt::format("1:14: error: /workers/0: selects no processes: {} is missing", whose)},
        {R"({"workers": [{"policy": "off"}]})",
         fmt::format("1:14: error: /workers/0: selects no processes: {} is missing", whose)},
        {R"({"workers": [{"user": "x", "unit": "a"}]})",
         fmt::format("1:23: error: /workers/0/user: the rule already has unit: it must have exactly {}",
                     whose)},
        {R"({"workers": [{"command": ""}]})", "1:26: error: /workers/0/command: is empty"},
        {R"({"workers": [{"cgroup": "system.slice"}]})",
         "1:25: error: /workers/0/cgroup: is not the path of a control group; an example: "
         "/system.slice/foo.service"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_THAT(complaints(text), ElementsAre(expected));
        EXPECT_EQ(verdict(text), Verdict::refused) << text;
    }
}

TEST(WorkersConfig, warns_about_unknown_key) {
    const auto text = R"({"workers": [{"unit": "a", "polcy": "off"}]})";
    EXPECT_THAT(
        complaints(text),
        ElementsAre(R"(1:28: warning: /workers/0/polcy: unknown key "polcy"; did you mean "policy"?)"));
    EXPECT_EQ(verdict(text), Verdict::good);
}

TEST(WorkersConfig, keeps_rules_in_document) {
    const auto read = configuration(R"({"workers": [{"user": "www-data"}]})");
    EXPECT_EQ(*read.document.find("workers"), json::Value(json::Array{json::Object{{"user", "www-data"}}}));
}

} // namespace
} // namespace teamo
