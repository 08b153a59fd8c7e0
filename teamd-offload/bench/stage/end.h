// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/cpu_list.h"
#include "base/ip_address.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/net_namespace.h"
#include "kernel/netlink/links.h"

#include <functional>
#include <memory>

namespace teamo::bench {

/// One of the two hosts: a network namespace, and sockets that control it.
class End {
public:
    static Result<End> create();

    const NetNamespace& network() const { return *network_; }
    LinkControl& links() { return links_; }
    NetlinkSocket& counters() { return counters_; }
    /// Of its connections: cubic if the kernel has it, else the kernel's choice.
    const std::string& congestion_control() const { return congestion_control_; }

    /// Calls `what` in the namespace.
    Result<> inside(const std::function<Result<>()>& what) const;

    /// The index of a device by its name. ENODEV: there is none.
    Result<IfIndex> index_of(const std::string& device) const;
    Result<> set_up(const std::string& device);
    Result<> add_ip(const std::string& device, const IpAddress& address, std::uint8_t prefix) const;
    /// Switches TSO and GSO of a device off: the kernel cuts large packets before it. ENOTSUP: it cannot.
    Result<> cut_packets_early(const std::string& device);
    /// The softirq of packets that arrive at these devices runs on these CPUs (RPS).
    Result<> receive_on(const std::vector<std::string>& devices, const CpuList& cpus) const;
    /// The device works: it is up and has a carrier.
    Result<> await_link(const std::string& device);

private:
    End(std::unique_ptr<NetNamespace> network, LinkControl links, Ethtool ethtool, NetlinkSocket counters,
        std::string congestion_control)
        : network_(std::move(network)),
          links_(std::move(links)),
          ethtool_(std::move(ethtool)),
          counters_(std::move(counters)),
          congestion_control_(std::move(congestion_control)) {}
    std::unique_ptr<NetNamespace> network_;
    LinkControl links_;
    Ethtool ethtool_;
    NetlinkSocket counters_;
    std::string congestion_control_;
};

} // namespace teamo::bench
