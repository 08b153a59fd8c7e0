// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/bonds.h"

#include "lab/guest.h"
#include "support/daemon/process.h"
#include "support/eventually.h"

#include <fmt/format.h>

#include <regex>
#include <utility>
#include <vector>

namespace teamo::test {
namespace {

/// Of a bridge.
std::string without_timers(const std::string& settings) {
    return std::regex_replace(settings, std::regex("\"[a-z_]*timer\": [0-9.]*"), "");
}

} // namespace

std::string policy_of(const std::string& bond) {
    return in_guest(fmt::format(
        "ip -d link show {} | grep -o 'xmit_hash_policy [^ ]*' | cut -d' ' -f2 | tr -d '\\n'", bond));
}

testing::AssertionResult is_steered(const TeamUnderTest& team) {
    if (const auto steered = team.await_item("attached.steered", "true"); !steered) return steered;
    return becomes(std::string("encap3+4"), policy);
}

HiddenTypes::HiddenTypes() { in_guest("modprobe bonding; mount --bind /dev/null /sys/kernel/btf/bonding"); }
HiddenTypes::~HiddenTypes() { static_cast<void>(sh(NetNs::current(), "umount /sys/kernel/btf/bonding")); }

Bonded::Bonded(std::string mode, std::string policy) : mode_(std::move(mode)), policy_(std::move(policy)) {
    for (unsigned number = 0; number < slaves; ++number)
        in_guest(fmt::format("ip link add p{0} type veth peer name f{0} netns {1}", number, far_.path()));
    make();
    make_end(far_, "f");
    far_.ip(fmt::format("link add link bond0 name bond0.7 type vlan id 7\naddr add {}/24 dev bond0.7\n"
                        "link set bond0.7 up",
                        far_address));
    await_path();
}

Bonded::~Bonded() {
    static_cast<void>(sh(NetNs::current(), "ip link del br0; ip link del bond0; "
                                           "for port in p0 p1 p2 p3; do ip link del $port; done"));
}

void Bonded::make() const {
    make_end(NetNs::current(), "p");
    in_guest(fmt::format("ip link add br0 type bridge; ip link add link bond0 name bond0.7 type vlan id 7; "
                         "ip link set bond0.7 master br0; ip addr add {}/24 dev br0; "
                         "ip link set bond0.7 up; ip link set br0 up",
                         near_address));
}

void Bonded::remove() const { in_guest("ip link del br0; ip link del bond0"); }

void Bonded::await_path() const {
    if (!reaches(NetNs::current(), far_address, 15s)) throw SetupError("the bond does not carry");
    if (mode_ == "802.3ad" && !becomes(slaves, [this] { return collecting(); }, 15s))
        throw SetupError("LACP does not aggregate all slaves");
}

unsigned Bonded::collecting() const {
    unsigned count = 0;
    for (unsigned number = 0; number < slaves; ++number)
        if (must(far_, fmt::format("ip -d link show f{}", number)).find("ad_actor_oper_port_state 63") !=
            std::string::npos)
            ++count;
    return count;
}

std::string Bonded::settings() {
    std::string all;
    for (const auto* device : {"bond0", "p0", "p1", "p2", "p3", "br0", "bond0.7"})
        all += snapshot(NetNs::current(), device) + in_guest(fmt::format("ethtool -k {}", device));
    return without_timers(all);
}

std::string Bonded::busiest() {
    std::vector<std::uint64_t> before;
    const auto sent = [](unsigned number) {
        return counters(NetNs::current(), fmt::format("p{}", number)).tx_packets;
    };
    for (unsigned number = 0; number < slaves; ++number)
        before.push_back(sent(number));
    std::this_thread::sleep_for(100ms);
    unsigned most = 0;
    std::uint64_t packets = 0;
    for (unsigned number = 0; number < slaves; ++number)
        if (const auto now = sent(number) - before[number]; now > packets) {
            packets = now;
            most = number;
        }
    return fmt::format("p{}", most);
}

void Bonded::make_end(const NetNs& in, const char* port) const {
    in.ip(fmt::format("link add bond0 type bond mode {} miimon 100 xmit_hash_policy {} {}", mode_, policy_,
                      mode_ == "802.3ad" ? "lacp_rate fast" : ""));
    for (unsigned number = 0; number < slaves; ++number)
        in.ip(fmt::format("link set {0}{1} down\nlink set {0}{1} master bond0", port, number));
    in.ip("link set bond0 up");
}

BackedUp::BackedUp(unsigned miimon, const std::string& options) {
    in_guest(
        fmt::format("for i in 0 1; do ip link add p$i type veth peer name f$i netns {}; done", far_.path()));
    far_.ip(fmt::format("link add br0 type bridge mcast_snooping 0\nlink set f0 master br0 up\n"
                        "link set f1 master br0 up\naddr add {}/24 dev br0\nlink set br0 up\n"
                        "link add link br0 name br0.7 type vlan id 7\naddr add {}/24 dev br0.7\n"
                        "link set br0.7 up",
                        far_address, far_in_vlan));
    in_guest(fmt::format("ip link add bond0 type bond mode active-backup miimon {} {}; "
                         "for i in 0 1; do ip link set p$i master bond0; done; ip link set bond0 up; "
                         "ip link add br0 type bridge mcast_snooping 0; ip link set bond0 master br0; "
                         "ip addr add {}/24 dev br0; ip link set br0 up; "
                         "ip link add link bond0 name bond0.7 type vlan id 7; "
                         "ip addr add {}/24 dev bond0.7; ip link set bond0.7 up",
                         miimon, options, near_address, near_in_vlan));
    for (const auto* device : {"p0", "p1"})
        await_operation(here_, device);
    if (!reaches(here_, far_address, 15s)) throw SetupError("the bond does not carry");
}

BackedUp::~BackedUp() {
    static_cast<void>(sh(here_, "ip link del br0; ip link del bond0; ip link del p0; ip link del p1"));
}

std::string BackedUp::settings() const {
    return without_timers(snapshot(here_, "bond0") + snapshot(here_, "p0") + snapshot(here_, "p1"));
}

void BackedUp::plug(const std::string& port, const char* how) const {
    must(far_, fmt::format("ip link set f{} {}", port.substr(1), how));
}

std::string BackedUp::active() {
    return in_guest("cat /sys/class/net/bond0/bonding/active_slave | tr -d '\\n'");
}

} // namespace teamo::test
