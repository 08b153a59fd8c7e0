// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/far_switch.h"

#include "lab/lab.h"
#include "support/daemon/team_under_test.h"
#include "support/eventually.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <cstdlib>

namespace teamo::test {

FarSwitch::FarSwitch(unsigned ports) {
    std::string lines = "ip link del br0 2>/dev/null; ip link add br0 type bridge; ";
    for (unsigned port = 0; port < ports; ++port)
        lines += fmt::format("ip link set tap{} master br0; ", port);
    // The host may have no ping: use busybox.
    const char* busybox = std::getenv("TEAMO_LAB_BUSYBOX");
    if (busybox == nullptr) throw SetupError("not in the lab");
    // A client of our own: others exit if the network is unreachable for a moment.
    pinging_ = Lab::must_peer(fmt::format("{}ip addr add 10.9.0.2/24 dev br0; ip link set br0 up; "
                                          "{} ping -i 0.05 10.9.0.255 </dev/null >/dev/null 2>&1 & echo $!",
                                          lines, busybox));
    if (Lab::peer("kill -0 " + pinging_).status != 0) throw SetupError("cannot send into the cables");
}

FarSwitch::~FarSwitch() {
    try {
        Lab::peer("kill " + pinging_);
    } catch (const SetupError&) { // the guest is ending
    }
}

void FarSwitch::flood(const TeamUnderTest&, const std::string& device) {
    must(NetNs::current(), fmt::format("ip link set {} up", device));
    flooding_.emplace_back([device](const std::stop_token& stop) {
        // To a link-local address, which the switch does not forward to the other cables.
        const auto frame =
            ethernet(mac("01:80:c2:00:00:0e"), mac("02:00:00:00:00:02"), ether_experiment, "so");
        try {
            for (const PacketSocket team(NetNs::current(), device); !stop.stop_requested();) {
                team.send(frame);
                std::this_thread::sleep_for(5ms);
            }
        } catch (const SetupError&) { // the team is gone
        }
    });
}

} // namespace teamo::test
