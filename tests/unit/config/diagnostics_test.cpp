// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support.h"

#include <random>

namespace teamo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Diagnostics, names_file_line_column_severity_and_pointer) {
    const Diagnostic error{.place = {3, 5}, .pointer = "/ports/eth1/prio", .text = "text"};
    EXPECT_EQ(text_of(error, "team0.conf"), "team0.conf:3:5: error: /ports/eth1/prio: text");
    const Diagnostic warning{
        .severity = Diagnostic::Severity::warning, .place = {}, .pointer = "/x", .text = "text"};
    EXPECT_EQ(text_of(warning, "team0.conf"), "team0.conf: warning: /x: text");
    const Diagnostic whole{.place = {1, 1}, .pointer = "", .text = "text"};
    EXPECT_EQ(text_of(whole, "a\nb"), "a\\u000ab:1:1: error: text");
}

TEST(Diagnostics, suggests_nearest_key_and_keeps_unknown_one) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"linkwatch": {}})",
         R"(1:2: warning: /linkwatch: unknown key "linkwatch"; did you mean "link_watch"?)"},
        {R"({"runner": {"name": "lacp", "retry_count": 3}})",
         R"(1:29: warning: /runner/retry_count: unknown key "retry_count")"},
        {R"({"runner": {"name": "lacp", "fastrate": true}})",
         R"(1:29: warning: /runner/fastrate: unknown key "fastrate"; did you mean "fast_rate"?)"},
        {R"({"ports": {"eth1": {"priority": 1}}})",
         R"(1:21: warning: /ports/eth1/priority: unknown key "priority")"},
        {R"({"ports": {"eth1": {"stiky": true}}})",
         R"(1:21: warning: /ports/eth1/stiky: unknown key "stiky"; did you mean "sticky"?)"},
        {R"({"link_watch": [{"name": "ethtool", "delayup": 1}]})",
         R"(1:37: warning: /link_watch/0/delayup: unknown key "delayup"; did you mean "delay_up"?)"},
        {R"({"runner": {"tx_balancer": {"nam": 1}}})",
         R"(1:29: warning: /runner/tx_balancer/nam: unknown key "nam"; did you mean "name"?)"},
        {R"({"a/b~c\u001b": 1})", R"(1:2: warning: /a~1b~0c\u001b: unknown key "a/b~c\u001b")"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_THAT(complaints(text), ElementsAre(expected));
        EXPECT_EQ(verdict(text), Verdict::good) << text;
    }
    const auto read = read_configuration(R"({"linkwatch": [1]})");
    EXPECT_EQ(*read.configuration->document.find("linkwatch"), json::Value(json::Array{1}));
}

TEST(Diagnostics, says_where_a_misplaced_key_belongs) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"tx_balancer": {"name": "basic"}})",
         "/tx_balancer: unknown key \"tx_balancer\"; it belongs in runner"},
        {R"({"runner": {"link_watch": {}}})", "/runner/link_watch: unknown key \"link_watch\"; it belongs in "
                                              "the outermost object or ports.PORTIFNAME"},
        {R"({"runner": {"balancing_interval": 5}})",
         "/runner/balancing_interval: unknown key \"balancing_interval\"; it belongs in runner.tx_balancer"},
        {R"({"tso": "require"})", "/tso: unknown key \"tso\"; it belongs in offload"},
        {R"({"ports": {"eth1": {"delay_up": 1}}})",
         "/ports/eth1/delay_up: unknown key \"delay_up\"; it belongs in link_watch"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_THAT(complaints(text), ElementsAre(testing::EndsWith(expected)));
}

TEST(Diagnostics, skips_contents_of_unknown_keys) {
    EXPECT_THAT(complaints(R"({"unknown": {"x": 1}})"), SizeIs(1));
}

TEST(Diagnostics, checks_cpu_lists) {
    EXPECT_THAT(complaints(R"({"interrupts": {"policy": "off", "cpus": "0-3,6", "xps": false}})"), IsEmpty());
    for (const auto* cpus : {"", "0-", "3-1", "all", "9999999"})
        EXPECT_THAT(complaints(fmt::format(R"({{"interrupts": {{"cpus": "{}"}}}})", cpus)),
                    ElementsAre(fmt::format(R"(1:25: error: /interrupts/cpus: "{}" is not a list of CPUs; )"
                                            "an example: 0-3,6",
                                            cpus)));
    EXPECT_THAT(
        complaints(R"({"interrupts": {"policy": "uniqe"}})"),
        ElementsAre(R"(1:27: error: /interrupts/policy: unknown policy "uniqe"; valid values: unique, off; )"
                    R"(did you mean "unique"?)"));
}

TEST(Diagnostics, checks_offload_names) {
    EXPECT_THAT(complaints(R"({"offload": {"tx-tcp-segmentation": "keep", "tso": "require", "lro": "off"}})"),
                IsEmpty());
    EXPECT_THAT(
        complaints(R"({"offload": {"tx-tcp-segmentatoin": "keep"}})"),
        ElementsAre(
            R"(1:14: warning: /offload/tx-tcp-segmentatoin: unknown key "tx-tcp-segmentatoin"; did you mean "tx-tcp-segmentation"?)"));
    EXPECT_THAT(complaints(R"({"offload": {"FEATURE": "keep"}})"), SizeIs(1));
    EXPECT_THAT(
        complaints(R"({"ports": {"eth1": {"offload": {"tso": "on"}}}})"),
        ElementsAre(
            R"(1:40: error: /ports/eth1/offload/tso: unknown value "on"; valid values: keep, require, off)"));
    EXPECT_EQ(verdict(R"({"offload": {"lacking": "ignore"}})"), Verdict::refused);
}

TEST(Diagnostics, names_values_that_exclude_each_other) {
    const auto* slb = R"({"datapath": "team", "runner": {"name": "slb"}})";
    EXPECT_THAT(complaints(slb), ElementsAre(testing::StartsWith(
                                     "1:41: error: /runner/name: the kernel's team driver cannot")));
    EXPECT_EQ(verdict(slb), Verdict::refused);
    EXPECT_TRUE(read_configuration(slb, "", false, DatapathChoice::bpf).configuration)
        << "an option overrides the key";
    EXPECT_THAT(
        complaints(R"({"datapath": "bpf", "runner": {"name": "loadbalance"},
        "ports": {"eth1": {"offload": {"tls-hw-tx-offload": "require"}}}})"),
        ElementsAre(testing::StartsWith("2:61: error: /ports/eth1/offload/tls-hw-tx-offload: device TLS "
                                        "works only with the datapath bond")));
    EXPECT_THAT(
        complaints(R"({"runner": {"name": "lacp"}, "offload": {"tls-hw-tx-offload": "require"}})"),
        ElementsAre("1:63: error: /offload/tls-hw-tx-offload: device TLS needs the runner loadbalance"));
}

TEST(Diagnostics, names_values_without_effect) {
    const auto with = [](const char* runner) {
        return complaints(
            fmt::format(R"({{"runner": {}, "ports": {{"eth1": {{"weight": 2}}, "eth2": {{}}}}}})", runner));
    };
    EXPECT_THAT(with(R"({"name": "slb"})"), IsEmpty());
    EXPECT_THAT(with(R"({"name": "activebackup"})"),
                ElementsAre(testing::EndsWith("warning: /ports/eth1/weight: has no effect with the runner "
                                              "activebackup, which has no buckets")));
    for (const auto* name : {"loadbalance", "lacp"})
        EXPECT_THAT(
            with(fmt::format(R"({{"name": "{}", "tx_hash": ["cpu"], "tx_balancer": {{"name": "basic"}}}})",
                             name)
                     .c_str()),
            ElementsAre(testing::EndsWith("/runner/tx_balancer: has no effect with \"cpu\" in tx_hash: "
                                          "the sending CPU decides"),
                        testing::EndsWith("/ports/eth1/weight: has no effect with \"cpu\" in tx_hash: "
                                          "the sending CPU decides")))
            << name;
}

TEST(Diagnostics, gives_exact_place_and_default) {
    EXPECT_THAT(
        complaints(R"({
    "runner": {"name": "lacp", "sys_prio": "high"},
    "ports": {
        "eth1": {"prio": 1.5,
                 "sticky": 1}
    },
    "notfy_peers": {}
})"),
        ElementsAre(
            "2:44: error: /runner/sys_prio: must be an integer, not a string; the daemon uses the default "
            "65535",
            "4:26: error: /ports/eth1/prio: must be an integer, not a real number; the daemon uses the "
            "default 0",
            "5:28: error: /ports/eth1/sticky: must be true or false, not an integer; the daemon uses the "
            "default "
            "false",
            R"(7:5: warning: /notfy_peers: unknown key "notfy_peers"; did you mean "notify_peers"?)"));
}

TEST(Diagnostics, suggests_known_word) {
    EXPECT_THAT(
        complaints(R"({"runner": {"name": "lcap"}})"),
        ElementsAre("1:21: error: /runner/name: unknown runner \"lcap\"; valid values: broadcast, "
                    "roundrobin, random, activebackup, loadbalance, lacp, slb; did you mean \"lacp\"?"));
    EXPECT_THAT(complaints(R"({"link_watch": {"name": "x"}})"),
                ElementsAre("1:25: error: /link_watch/name: unknown link_watch \"x\"; valid values: ethtool, "
                            "arp_ping, nsna_ping, tipc, loss"));
    EXPECT_THAT(
        complaints(R"({"runner": {"name": "loadbalance", "tx_hash": ["eth", "ipv5", 4]}})"),
        ElementsAre(
            AllOf(HasSubstr("1:55: error: /runner/tx_hash/1: unknown tx_hash \"ipv5\""),
                  HasSubstr("did you mean \"ipv4\"?; the daemon ignores it")),
            "1:63: error: /runner/tx_hash/2: must be a string, not an integer; the daemon ignores it"));
}

TEST(Diagnostics, names_missing_option) {
    EXPECT_THAT(
        complaints(R"({"ports": {"eth1": {"link_watch": {"name": "arp_ping"}}}})"),
        ElementsAre("1:35: error: /ports/eth1/link_watch: target_host is missing: arp_ping needs it"));
    EXPECT_THAT(complaints(R"({"link_watch": [{}]})"),
                ElementsAre("1:17: error: /link_watch/0: name is missing: every link watch needs it"));
}

TEST(Diagnostics, names_target_that_cannot_be_probed) {
    const auto watch = [](std::string_view name, std::string_view target) {
        return complaints(
            fmt::format(R"({{"link_watch": {{"name": "{}", "target_host": "{}"}}}})", name, target));
    };
    EXPECT_THAT(watch("arp_ping", "fe80::1"),
                ElementsAre("1:52: error: /link_watch/target_host: \"fe80::1\" is not a host name or an IPv4 "
                            "address"));
    EXPECT_THAT(watch("arp_ping", ""), ElementsAre(HasSubstr("\"\" is not a host name")));
    EXPECT_THAT(watch("nsna_ping", "192.0.2.1"), ElementsAre(HasSubstr("is not a host name or an IPv6")));
    EXPECT_THAT(watch("arp_ping", "router"), testing::IsEmpty());
    EXPECT_THAT(watch("nsna_ping", "2001:db8::1"), testing::IsEmpty());
}

TEST(Diagnostics, has_no_place_for_document_in_memory) {
    const auto document = json::parse("{\n\"devise\": 1}").value();
    EXPECT_THAT(complaints(read_document(document)),
                ElementsAre(" warning: /devise: unknown key \"devise\"; did you mean \"device\"?"));
}

TEST(Diagnostics, stops_at_syntax_error) {
    const auto read = read_configuration("{\n\"a\": 1,}");
    EXPECT_THAT(complaints(read),
                ElementsAre("2:7: error: a comma before '}': nothing follows it; remove it"));
    EXPECT_FALSE(read.configuration);
    EXPECT_TRUE(read.has_errors());
    EXPECT_THAT(complaints(std::string(1'000'000, '[')),
                ElementsAre("1:65: error: objects and arrays are nested more than 64 deep"));
}

TEST(Diagnostics, requires_an_object) {
    EXPECT_THAT(complaints(" []"),
                ElementsAre("1:2: error: a configuration must be an object, not an array"));
}

TEST(Diagnostics, limits_number_of_messages) {
    std::string text = "{";
    for (int number = 0; number < 50'000; ++number)
        text += fmt::format("\"k{}\":1,", number);
    text.back() = '}';
    EXPECT_THAT(read_configuration(text).diagnostics, SizeIs(100));
}

TEST(Diagnostics, survives_random_damage) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const std::string_view whole =
        R"({"device": "team0", "runner": {"name": "lacp", "tx_hash": ["eth", "l3"], "min_ports": 2},
            "link_watch": [{"name": "arp_ping", "target_host": "192.0.2.1", "interval": 100}],
            "ports": {"eth1": {"prio": -10, "sticky": true, "link_watch": {"name": "ethtool"}}, "eth2": {}}})";
    for (int round = 0; round < 20'000; ++round) {
        std::string text(whole);
        for (auto times = random() % 3; times < 3; ++times) {
            const auto at = random() % text.size();
            switch (random() % 4) {
            case 0: text[at] = static_cast<char>(random()); break;
            case 1: text.insert(at, 1, whole[random() % whole.size()]); break;
            case 2: text[at] = whole[random() % whole.size()]; break;
            default: text.erase(at, 1 + random() % 3); break;
            }
        }
        const auto read = read_configuration(text);
        for (const auto& line : complaints(read))
            for (const char letter : line)
                ASSERT_GE(static_cast<unsigned char>(letter), 0x20) << text;
        if (!read.configuration)
            ASSERT_TRUE(read.has_errors()) << text;
        else
            ASSERT_EQ(read_document(read.configuration->document).configuration->document,
                      read.configuration->document)
                << text;
    }
}

} // namespace
} // namespace teamo
