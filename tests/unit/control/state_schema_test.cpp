// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The schema of the state that we ship: what the daemon writes is in it, and what is wrong is not. Tests in
// namespaces check each state of the real daemon (TeamUnderTest).
#include "support/daemon/state_schema.h"

#include "control/state_document.h"
#include "json/write.h"

#include <gmock/gmock.h>
#include <rapidjson/pointer.h>
#include <rapidjson/writer.h>

#include <span>

namespace teamo::control {
namespace {

TeamStatus team_of_one() {
    TeamStatus status;
    status.name = "team0";
    status.runner = LacpRunner{};
    status.datapath = "bpf";
    status.device_kind = "veth";
    PortStatus port;
    port.name = "eth1";
    port.lacp = lacp::PortStatus{};
    port.lacp->state = "current";
    port.watches.emplace_back().watch = EthtoolWatch{};
    port.weight = 3;
    status.ports = {port};
    status.balance = BalanceStatus{};
    status.balance->tx_hash = default_tx_hash;
    status.guard = GuardStatus{};
    status.refused = {{.where = "eth2", .what = "busy"}};
    status.programs.emplace_back().by = "tcx";
    return status;
}

std::string text_of_team() { return json::write(state_document(team_of_one())); }

TEST(StateSchema, allows_what_the_daemon_writes) {
    EXPECT_EQ("", test::fault_of_state(text_of_team()));
    TeamStatus least;
    least.runner = RandomRunner{};
    least.datapath = least.device_kind = "bond";
    EXPECT_EQ("", test::fault_of_state(json::write(state_document(least))));
}

/// The words of "enum" at that place of the schema.
std::vector<std::string> words_at(const char* pointer) {
    std::stringstream text;
    text << std::ifstream(TEAMO_SOURCE_DIR "/packaging/schema/teamd-offload.state.schema.json").rdbuf();
    rapidjson::Document schema;
    schema.Parse(text.str().c_str());
    std::vector<std::string> words;
    const auto* list = rapidjson::Pointer(pointer).Get(schema);
    if (list == nullptr) return words;
    for (const auto& word : list->GetArray())
        words.emplace_back(word.GetString());
    return words;
}

TEST(StateSchema, has_every_word) {
    const std::string port = "/definitions/port/properties", move = "/definitions/move/properties";
    const std::pair<std::string, std::span<const std::string_view>> places[] = {
        {"/properties/attached/properties/unsteered_by", enum_names<Unsteered>},
        {"/properties/guard/properties/mode", enum_names<GuardMode>},
        {"/properties/interrupts/properties/policy", enum_names<InterruptPolicy>},
        {"/properties/interrupts/properties/writers/items/properties/program",
         enum_names<InterruptWriter::Program>},
        {"/properties/offload/properties/lacking", enum_names<Lacking>},
        {"/properties/runner/oneOf/1/properties/select_policy", enum_names<AggSelectPolicy>},
        {"/properties/setup/properties/runner_name", runner_names},
        {"/properties/workers/properties/rules/items/properties/policy", enum_names<WorkerPolicy>},
        {"/definitions/worker/properties/policy", enum_names<WorkerPolicy>},
        {"/definitions/failure_domain/properties/switch/properties/source", enum_names<SwitchSource>},
        {"/definitions/lacp_port/properties/detail/properties/actor_churn", enum_names<lacp::ChurnState>},
        {"/definitions/lacp_port/properties/detail/properties/partner_churn", enum_names<lacp::ChurnState>},
        {"/definitions/port_interrupts/properties/source", enum_names<VectorSource>},
        {port + "/drain/properties/phase", enum_names<DrainPhase>},
        {move + "/end", enum_names<MoveEnd>},
        {move + "/reason", enum_names<MoveReason>},
    };
    for (const auto& [place, words] : places)
        EXPECT_THAT(words_at((place + "/enum").c_str()), testing::UnorderedElementsAreArray(words)) << place;
}

TEST(StateSchema, refuses_broken_documents) {
    const std::pair<const char*, const char*> broken[] = {
        {"/datapath", nullptr}, // without it
        {"/setup/pid", nullptr},
        {"/setup/pid", R"("7")"},
        {"/setup/runner_name", R"("fast")"},
        {"/datapath/name", R"("xdp")"},
        {"/datapath/buckets/eth1", "-1"},
        {"/datapath/new_member", "1"},
        {"/team_device/link/up", "1"},
        {"/team_device/link/duplex", R"("unknown")"},
        {"/team_device/ifinfo/dev_addr", R"("52:54:00")"},
        {"/ports", "[]"},
        {"/ports/eth1/datapath/transmits", "null"},
        {"/ports/eth1/drain/phase", nullptr},
        {"/ports/eth1/drain/phase", R"("gone")"},
        {"/ports/eth1/link/speed", R"("1000")"},
        {"/ports/eth1/link_watches/list/link_watch_0/name", R"("ping")"},
        {"/ports/eth1/runner/actor_lacpdu_info/state", "256"},
        {"/ports/eth1/runner/state", R"("fine")"},
        {"/ports/eth1/weight", "-1"},
        {"/balance/buckets/port", R"(["eth1"])"},
        {"/balance/tx_hash/0", R"("l9")"},
        {"/guard/dropped/arp_request", "1.5"},
        {"/refused", "{}"},
        {"/programs/0/by", R"("xdp")"},
        {"/runner", "{}"},
    };
    for (const auto& [path, value] : broken) {
        rapidjson::Document document;
        document.Parse(text_of_team().c_str());
        const rapidjson::Pointer pointer(path);
        if (value == nullptr) {
            ASSERT_TRUE(pointer.Erase(document)) << path;
        } else {
            rapidjson::Document other(&document.GetAllocator());
            other.Parse(value);
            pointer.Set(document, other);
        }
        rapidjson::StringBuffer text;
        rapidjson::Writer<rapidjson::StringBuffer> writer(text);
        document.Accept(writer);
        EXPECT_NE("", test::fault_of_state(text.GetString())) << path << ": " << (value ? value : "erased");
    }
    EXPECT_EQ("it is not JSON", test::fault_of_state("{"));
}

} // namespace
} // namespace teamo::control
