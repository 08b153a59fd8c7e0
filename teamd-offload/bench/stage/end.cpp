// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/stage/end.h"

#include "base/clock.h"
#include "kernel/files/files.h"
#include "kernel/netlink/addresses.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <system_error>
#include <thread>

namespace teamo::bench {

using namespace std::chrono_literals;

namespace {

/// cubic is the kernel's own default. BBR, for instance, paces each connection by a timer, and on a virtual
/// machine these cost more than the packets. The namespace's sysctl takes only what the machine's
/// tcp_allowed_congestion_control has, so each socket is asked for it.
std::string choose_congestion_control() {
    const std::string wanted = "cubic";
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool has = socket && ::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, wanted.data(),
                                            static_cast<socklen_t>(wanted.size())) == 0;
    return has ? wanted : sysfs::first_line("/proc/sys/net/ipv4/tcp_congestion_control");
}

} // namespace

Result<End> End::create() {
    auto network = std::make_unique<NetNamespace>(TEAMO_TRY(NetNamespace::create()));
    const auto there = TEAMO_TRY(network->visit());
    auto links = TEAMO_TRY(LinkControl::open());
    auto ethtool = TEAMO_TRY(Ethtool::open());
    auto counters = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    // No address is checked for duplicates: a test of a second would wait for it.
    for (const auto* scope : {"all", "default"})
        (void)write_into(fmt::format("/proc/sys/net/ipv6/conf/{}/accept_dad", scope), "0");
    return End(std::move(network), std::move(links), std::move(ethtool), std::move(counters),
               choose_congestion_control());
}

Result<> End::inside(const std::function<Result<>()>& what) const {
    const auto there = TEAMO_TRY(network_->visit());
    return what();
}

Result<IfIndex> End::index_of(const std::string& device) const {
    const auto there = TEAMO_TRY(network_->visit());
    const IfIndex index{::if_nametoindex(device.c_str())};
    if (!index) return fail(ENODEV, fmt::format("{}: {}", device, errno_text(ENODEV)));
    return index;
}

Result<> End::set_up(const std::string& device) {
    return within(device, links_.set_flags(TEAMO_TRY(index_of(device)), IFF_UP, IFF_UP));
}

Result<> End::add_ip(const std::string& device, const IpAddress& address, std::uint8_t prefix) const {
    const auto index = TEAMO_TRY(index_of(device));
    return inside([&] { return add_address({.device = index, .ip = address, .prefix = prefix}); });
}

Result<> End::cut_packets_early(const std::string& device) {
    const FeatureSettings settings{
        {std::string(tso), false}, {std::string(tso6), false}, {std::string(gso), false}};
    const auto index = TEAMO_TRY(index_of(device));
    const auto set = TEAMO_TRY(ethtool_.set_features(index, settings));
    for (const auto& [name, on] : set.refused)
        return fail(ENOTSUP, fmt::format("{}: {} cannot be switched off", device, name));
    return {};
}

Result<> End::receive_on(const std::vector<std::string>& devices, const CpuList& cpus) const {
    Result<> done;
    const auto set = [&]() -> Result<> {
        const auto there = TEAMO_TRY(network_->visit());
        // sysfs shows the devices of the namespace in which it was mounted; this thread's mounts alone.
        if (::unshare(CLONE_FS | CLONE_NEWNS) < 0 || ::mount("sysfs", "/sys", "sysfs", 0, nullptr) < 0)
            return fail_errno(errno, "cannot mount /sys");
        for (const auto& device : devices) {
            const auto queues = fmt::format("/sys/class/net/{}/queues", device);
            for (const auto number : sysfs::numbers_in(queues, "rx-"))
                TEAMO_TRY(write_into(fmt::format("{}/rx-{}/rps_cpus", queues, number), mask_of(cpus)));
        }
        return {};
    };
    try {
        std::thread([&] { done = set(); }).join();
    } catch (const std::system_error& error) {
        return fail_errno(error.code().value(), "cannot start a thread");
    }
    return within("RPS", std::move(done));
}

Result<> End::await_link(const std::string& device) {
    const auto index = TEAMO_TRY(index_of(device));
    const auto start = Clock::now();
    for (;;) {
        if (TEAMO_TRY(links_.read(index)).has_link()) return {};
        if (Clock::now() - start > 10s) return fail(ETIMEDOUT, fmt::format("{} has no carrier", device));
        std::this_thread::sleep_for(5ms);
    }
}

} // namespace teamo::bench
