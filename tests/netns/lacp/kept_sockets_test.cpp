// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The sockets of ports outlive the daemon.
//
// lab: KeptSockets.* by none: they are the same with every datapath
#include "netns/configs.h"
#include "support/daemon/service_manager.h"
#include "support/traffic/lldp_frames.h"
#include "support/traffic/packet_socket.h"

#include <gmock/gmock.h>

#include <csignal>

namespace teamo::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(KeptSockets, have_what_arrived_without_a_daemon) {
    const Cabling wires(2, FarSide::open);
    ServiceManager manager;
    const ConfigFile config(ranked_activebackup(2));
    const auto command = daemon_command({"-f", config.path()});
    const auto name_of_switch = [] {
        return run({.argv = {teamoctl_program(), "team0", "state", "item", "get",
                             "ports.eth1.failure_domain.switch.name"}})
            .out;
    };
    const PacketSocket far(wires.peer(), "p1");
    const auto announce = [&far](const std::string& name) { far.send(lldp_frame("c", "7", 120, name)); };
    const auto index = [&wires](const std::string& port) { return look(wires.host(), port).index; };

    auto first = Process::start({.argv = command, .environment = manager.environment()});
    ASSERT_TRUE(manager.received("READY=1"));
    for (const auto* port : {"eth1", "eth2"})
        ASSERT_TRUE(manager.received(fmt::format("FDNAME=lldp-{}\n", index(port))));
    ASSERT_TRUE(becomes("leaf-7\n", [&] {
        announce("leaf-7");
        return name_of_switch();
    }));
    first.signal(SIGKILL);
    first.wait(long_enough);
    announce("leaf-8");
    manager.forget();

    const auto second =
        Process::start({.argv = manager.with_store(command), .environment = manager.environment()});
    ASSERT_TRUE(manager.received("READY=1"));
    EXPECT_TRUE(becomes("leaf-8\n", name_of_switch)) << second.err();
    EXPECT_THAT(manager.said(), Not(HasSubstr("FDSTORE"))) << "a socket is kept already, and none is left";
    EXPECT_EQ(0, run({.argv = {teamoctl_program(), "team0", "port", "remove", "eth2"}}).status);
    EXPECT_TRUE(manager.received(fmt::format("FDSTOREREMOVE=1\nFDNAME=lldp-{}", index("eth2"))));
}

} // namespace
} // namespace teamo::test
