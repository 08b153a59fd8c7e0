// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/usock_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace teamo::control {
namespace {

using namespace std::string_literals;

using Parsed = std::variant<Request, Refusal>;

const Parsed invalid_arguments = Refusal{"InvalidArgs", "Did not receive correct message arguments."};

std::string code_of(const Parsed& parsed) {
    const auto* refusal = std::get_if<Refusal>(&parsed);
    return refusal ? refusal->code : "";
}

struct Method {
    std::string message;
    Request request;
};

const Method methods[]{
    {"REQUEST\nPortAdd\neth1\n", PortAdd{"eth1"}},
    {"REQUEST\nPortRemove\neth1\n", PortRemove{"eth1"}},
    {"REQUEST\nPortConfigUpdate\neth1\n{\"prio\": 5}\n", PortConfigUpdate{"eth1", "{\"prio\": 5}"}},
    {"REQUEST\nPortConfigDump\neth1.100\n", PortConfigDump{"eth1.100"}},
    {"REQUEST\nConfigDump\n", ConfigDump{}},
    {"REQUEST\nConfigDumpActual\n", ConfigDumpActual{}},
    {"REQUEST\nStateDump\n", StateDump{}},
    {"REQUEST\nStateItemValueGet\nsetup.pid\n", StateItemValueGet{"setup.pid"}},
    {"REQUEST\nStateItemValueSet\nrunner.active_port\neth1\n",
     StateItemValueSet{"runner.active_port", "eth1"}},
    {"REQUEST\nPortChannelClearStats\n", PortChannelClearStats{}},
    {"REQUEST\nPortChannelMemberClearStats\neth1\n", PortChannelMemberClearStats{"eth1"}},
};

TEST(ControlRequest, reads_and_writes_every_method) {
    for (const auto& [message, request] : methods) {
        EXPECT_EQ(parse_request(message), Parsed{request}) << message;
        EXPECT_EQ(encode(request), message);
    }
}

TEST(ControlRequest, needs_root_unless_it_only_reads) {
    const std::vector<std::string> reading{"PortConfigDump", "ConfigDump",        "ConfigDumpActual",
                                           "StateDump",      "StateItemValueGet", "InterruptsPlan"};
    for (const auto& [message, request] : methods)
        EXPECT_EQ(needed_for(request), std::ranges::count(reading, parts_of(request).first.name) > 0
                                           ? Permission::read
                                           : Permission::change)
            << message;
    EXPECT_EQ(needed_for(ConfigReload{"", "{}", true}), Permission::change) << "it reads a text as root";
}

TEST(ControlRequest, escapes_backslashes_and_newlines) {
    const std::pair<std::string, std::string> escapes[]{
        {"a\nb", R"(a\nb)"},     {R"(a\b)", R"(a\\b)"}, {"\n", R"(\n)"},
        {R"(\)", R"(\\)"},       {R"(\n)", R"(\\n)"},   {R"(\\)", R"(\\\\)"},
        {"\\\n\\", R"(\\\n\\)"}, {"\n\n", R"(\n\n)"},   {"tab\there", "tab\there"},
    };
    for (const auto& [plain, escaped] : escapes) {
        const auto message = "REQUEST\nPortConfigUpdate\neth1\n" + escaped + "\n";
        EXPECT_EQ(encode(Request{PortConfigUpdate{"eth1", plain}}), message);
        EXPECT_EQ(parse_request(message), (Parsed{PortConfigUpdate{"eth1", plain}})) << escaped;
    }
}

TEST(ControlRequest, rejects_wrong_escapes) {
    for (const auto* argument : {R"(\t)", R"(\)", R"(eth\)", R"(\\\)", R"(\x41)", R"(\N)"})
        EXPECT_EQ(parse_request("REQUEST\nPortAdd\n"s + argument + "\n"), invalid_arguments) << argument;
}

TEST(ControlRequest, rejects_missing_arguments) {
    for (const auto* message :
         {"REQUEST\nPortAdd\n", "REQUEST\nPortAdd", "REQUEST\nPortConfigUpdate\neth1\n",
          "REQUEST\nPortConfigUpdate\neth1", "REQUEST\nPortRemove\n", "REQUEST\nPortConfigDump\n",
          "REQUEST\nStateItemValueGet\n", "REQUEST\nStateItemValueSet\nsetup.debug_level\n"})
        EXPECT_EQ(parse_request(message), invalid_arguments) << message;
}

TEST(ControlRequest, rejects_empty_arguments) {
    for (const auto* message : {"REQUEST\nPortAdd\n\n", "REQUEST\nPortConfigUpdate\n\n{}\n",
                                "REQUEST\nPortConfigUpdate\neth1\n\n", "REQUEST\nStateItemValueSet\n\n\n"})
        EXPECT_EQ(parse_request(message), invalid_arguments) << message;
}

TEST(ControlRequest, ignores_extra_arguments) {
    EXPECT_EQ(parse_request("REQUEST\nPortAdd\neth1\neth2\n"), Parsed{PortAdd{"eth1"}});
    EXPECT_EQ(parse_request("REQUEST\nStateDump\nall\n\n"), Parsed{StateDump{}});
    EXPECT_EQ(parse_request("REQUEST\nPortAdd\neth1\n\\x\n"), Parsed{PortAdd{"eth1"}});
}

TEST(ControlRequest, refuses_extra_arguments_of_methods_that_teamd_does_not_have) {
    for (const auto* message : {"REQUEST\nPortDrain\neth1\ntrue\nat night\n", "REQUEST\nHandOver\nnow\n",
                                "REQUEST\nConfigReload\n/etc/team0.conf\n{}\ntrue\nunless busy\n",
                                "REQUEST\nBalanceMove\n3\neth1\ngap\n60\n"}) {
        const auto parsed = parse_request(message);
        EXPECT_EQ(code_of(parsed), "InvalidArgs") << message;
        EXPECT_THAT(std::get<Refusal>(parsed).message, testing::HasSubstr("of another version")) << message;
    }
}

TEST(ControlRequest, accepts_missing_newline_and_trailing_nul) {
    EXPECT_EQ(parse_request("REQUEST\nStateDump"), Parsed{StateDump{}});
    EXPECT_EQ(parse_request("REQUEST\nPortAdd\neth1"), Parsed{PortAdd{"eth1"}});
    EXPECT_EQ(parse_request("REQUEST\nStateDump\n\0"s), Parsed{StateDump{}});
}

TEST(ControlRequest, reports_unknown_method) {
    for (const auto* method : {"PortChannelClear", "statedump", "StateDumpX", "State", " StateDump"})
        EXPECT_EQ(code_of(parse_request("REQUEST\n"s + method + "\n")), "UnknownMethod") << method;
}

TEST(ControlRequest, rejects_other_text) {
    for (const auto& message :
         {""s, "\n"s, "REQUEST"s, "REQUEST\n"s, "request\nStateDump\n"s, "REPLY_SUCCESS\n"s,
          "REQUESTStateDump\n"s, "\0"s, "\xff\xfe\n\n"s, "StateDump\nREQUEST\n"s})
        EXPECT_EQ(parse_request(message), invalid_arguments) << message;
}

TEST(ControlRequest, has_maximum_length) {
    const std::string head = "REQUEST\nPortConfigUpdate\neth1\n";
    const std::string longest(longest_request - head.size(), 'x');
    EXPECT_EQ(parse_request(head + longest), (Parsed{PortConfigUpdate{"eth1", longest}}));
    EXPECT_EQ(parse_request(head + longest + "x"), invalid_arguments);
}

TEST(ControlReply, carries_payload_unescaped) {
    EXPECT_EQ(encode(Reply{"{\n \"a\": \"\\\\\"\n}"}), "REPLY_SUCCESS\n{\n \"a\": \"\\\\\"\n}");
    EXPECT_EQ(parse_reply("REPLY_SUCCESS\n{\n\\n}\n"), Reply{"{\n\\n}\n"});
}

// libteamdctl calls strdup(NULL) if the newline is missing.
TEST(ControlReply, keeps_newline_without_payload) {
    EXPECT_EQ(encode(Reply{""}), "REPLY_SUCCESS\n");
    EXPECT_EQ(parse_reply("REPLY_SUCCESS\n"), Reply{""});
    EXPECT_EQ(parse_reply("REPLY_SUCCESS"), std::nullopt);
}

TEST(ControlReply, carries_error_code_and_message) {
    const Reply refusal = Refusal{"NoSuchDev", "No such device."};
    EXPECT_EQ(encode(refusal), "REPLY_ERROR\nNoSuchDev\nNo such device.\n");
    EXPECT_EQ(parse_reply("REPLY_ERROR\nNoSuchDev\nNo such device.\n"), refusal);
}

TEST(ControlReply, writes_errors_as_three_nonempty_lines) {
    EXPECT_EQ(encode(Reply{Refusal{"PortAddFail", "two\nlines"}}), "REPLY_ERROR\nPortAddFail\ntwo lines\n");
    EXPECT_EQ(encode(Reply{Refusal{"PortAddFail", ""}}), "REPLY_ERROR\nPortAddFail\n \n");
}

TEST(ControlReply, rejects_other_text) {
    for (const auto* message : {"", "\n", "REPLY", "REPLY_ERROR", "REPLY_ERROR\n", "REPLY_ERROR\nNoSuchDev\n",
                                "REQUEST\nStateDump\n", "REPLY_SUCCESSFUL\n"})
        EXPECT_EQ(parse_reply(message), std::nullopt) << message;
}

} // namespace
} // namespace teamo::control
