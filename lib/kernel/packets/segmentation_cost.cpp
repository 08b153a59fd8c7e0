// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/segmentation_cost.h"

#include "base/bytes.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/netlink/counters.h"
#include "kernel/netlink/links.h"
#include "model/offload.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

namespace teamo {
namespace {

using namespace std::chrono_literals;

// 21 rounds of each kind: the median ignores interrupted rounds and the first with cold caches. 32 packets
// are about 2 MiB and half a millisecond, a thousand times the clock's resolution.
constexpr std::size_t rounds = 21, packets_of_round = 32;
constexpr std::uint32_t link_header = 14, ip_header = 20, tcp_header = 20, time_stamps = 12;
constexpr std::uint32_t headers = link_header + ip_header + tcp_header;
constexpr std::uint32_t largest_packet = 65535;            // an IPv4 packet's length has 16 bits
constexpr std::uint32_t least_mtu = 576, most_mtu = 32000; // above, a packet has fewer than two segments
/// Segments exceed it and are dropped before they are received (net/core/dev.c: is_skb_forwardable); GSO
/// packets are not checked.
constexpr std::uint32_t drain_mtu = 68;
constexpr std::string_view checksum_feature = "tx-checksum-ip-generic"; // veth's

/// The payload of one GSO packet, as TCP sends it: bytes of a segment, number of segments.
struct Bulk {
    std::uint32_t segment, segments;
    std::uint32_t payload() const { return segment * segments; }
    double kibibytes() const { return payload() / 1024.0; }
};

Bulk bulk_for(std::uint32_t mtu) {
    const auto segment = std::clamp(mtu, least_mtu, most_mtu) - ip_header - tcp_header - time_stamps;
    return {.segment = segment, .segments = (largest_packet - ip_header - tcp_header) / segment};
}

/// virtio_net_hdr, in native byte order; linux/virtio_net.h does not compile as C++.
struct OffloadHeader {
    std::uint8_t flags = 1;    // VIRTIO_NET_HDR_F_NEEDS_CSUM
    std::uint8_t gso_type = 1; // VIRTIO_NET_HDR_GSO_TCPV4
    std::uint16_t hdr_len = headers, gso_size;
    std::uint16_t csum_start = link_header + ip_header, csum_offset = 16; // RFC 9293, 3.1
};
static_assert(sizeof(OffloadHeader) == 10);

/// A GSO packet to an unused address: the receiver drops it (PACKET_OTHERHOST).
Bytes gso_packet(const Bulk& bulk) {
    const OffloadHeader offload{.gso_size = static_cast<std::uint16_t>(bulk.segment)};
    FrameWriter frame;
    frame.raw(std::as_bytes(std::span(&offload, 1)));
    frame.mac(MacAddress{{0x02, 0, 0, 0, 0, 0xfe}}).mac(MacAddress{{0x02, 0, 0, 0, 0, 0xff}});
    frame.big_endian(std::uint16_t{0x0800});
    const auto length = ip_header + tcp_header + bulk.payload();
    frame.big_endian(std::uint16_t{0x4500}).big_endian(static_cast<std::uint16_t>(length));
    frame.big_endian(std::uint32_t{0}).big_endian(std::uint16_t{0x4006}).big_endian(std::uint16_t{0});
    frame.big_endian(std::uint32_t{0xc0000201}).big_endian(std::uint32_t{0xc0000202}); // RFC 5737
    frame.big_endian(std::uint16_t{1}).big_endian(std::uint16_t{9}).big_endian(std::uint64_t{0});
    frame.big_endian(std::uint16_t{0x5010}).big_endian(std::uint16_t{0xffff}); // ACK
    frame.big_endian(std::uint32_t{0}).raw(Bytes(bulk.payload()));
    return frame.take();
}

double thread_nanoseconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

/// A veth pair in a new network namespace, which lives as long as the calling thread and this object.
struct Bench {
    LinkControl links;
    Ethtool ethtool;
    NetlinkSocket netlink;
    Segmentation device;
    Bulk bulk = bulk_for(device.mtu);
    Bytes packet = gso_packet(bulk);
    IfIndex near{}, far{};
    UniqueFd socket{};

    static Result<Bench> build(const Segmentation& device) {
        if (::unshare(CLONE_NEWNET) < 0) return fail_errno(errno, "cannot create a network namespace");
        auto links = TEAMO_TRY(LinkControl::open());
        auto ethtool = TEAMO_TRY(Ethtool::open());
        auto netlink = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
        Bench bench{.links = std::move(links),
                    .ethtool = std::move(ethtool),
                    .netlink = std::move(netlink),
                    .device = device};
        TEAMO_TRY(bench.create_pair());
        TEAMO_TRY(bench.open_socket());
        return bench;
    }

    Result<> create_pair() {
        TEAMO_TRY(links.create_pair("veth", "near", "far", MacAddress{}));
        near = IfIndex{::if_nametoindex("near")};
        far = IfIndex{::if_nametoindex("far")};
        TEAMO_TRY(links.set_mtu(near, bulk.segment + ip_header + tcp_header + time_stamps));
        TEAMO_TRY(links.set_mtu(far, drain_mtu));
        for (const auto end : {near, far})
            TEAMO_TRY(links.set_flags(end, IFF_UP, IFF_UP));
        return await_link();
    }

    /// The kernel drops packets until linkwatch has seen the carrier (net/core/link_watch.c).
    Result<> await_link() {
        const auto start = std::chrono::steady_clock::now();
        for (;;) {
            const auto link = TEAMO_TRY(links.read(near));
            if (link.has_link()) return {};
            if (std::chrono::steady_clock::now() - start > 5s)
                return fail(ETIMEDOUT, "the veth pair for the measurement has no carrier after 5 s");
            std::this_thread::sleep_for(1ms);
        }
    }

    Result<> open_socket() {
        // Protocol 0: it receives nothing.
        socket = UniqueFd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
        constexpr int yes = 1;
        constexpr timeval patience{.tv_sec = 1, .tv_usec = 0};
        sockaddr_ll at{};
        at.sll_family = AF_PACKET;
        at.sll_ifindex = static_cast<int>(near.value);
        if (!socket || ::setsockopt(socket.get(), SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes) < 0 ||
            ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0 ||
            ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) < 0)
            return fail_errno(errno, "cannot open a packet socket");
        return {};
    }

    Result<> switch_tso(bool on) {
        const FeatureSettings settings{{std::string(tso), on},
                                       {std::string(scatter_gather), on || device.scatter_gather},
                                       {std::string(checksum_feature), on || device.checksum}};
        if (!TEAMO_TRY(ethtool.set_features(near, settings)).refused.empty())
            return fail(ENOTSUP, "the offloads of the veth pair cannot be changed");
        return {};
    }

    /// Nanoseconds per KiB.
    Result<double> round() {
        const auto start = thread_nanoseconds();
        for (std::size_t sent = 0; sent < packets_of_round; ++sent)
            // ENOBUFS: the far end dropped it, as intended.
            if (::send(socket.get(), packet.data(), packet.size(), 0) < 0 && errno != ENOBUFS)
                return fail_errno(errno, "cannot send a packet");
        return (thread_nanoseconds() - start) / (packets_of_round * bulk.kibibytes());
    }

    Result<SegmentationCost> measure() {
        const auto before = TEAMO_TRY(read_link_stats(netlink, far));
        std::vector<double> whole, cut;
        for (std::size_t number = 0; number < 2 * rounds; ++number) {
            const bool on = number % 2 == 0;
            TEAMO_TRY(switch_tso(on));
            const auto cost = TEAMO_TRY(round());
            (on ? whole : cut).push_back(cost);
        }
        const auto after = TEAMO_TRY(read_link_stats(netlink, far));
        // Rounds without TSO deliver every segment separately to the far end, which drops it; the others
        // none.
        constexpr auto packets = rounds * packets_of_round;
        const auto dropped = after.rx_dropped - before.rx_dropped;
        if (dropped < packets * bulk.segments || dropped > packets * (bulk.segments + 1))
            return fail(ENOTSUP,
                        fmt::format("{} segments arrived instead of {}", dropped, packets * bulk.segments));
        return SegmentationCost{.whole = median(std::move(whole)), .cut = median(std::move(cut))};
    }
};

} // namespace

Result<SegmentationCost> measure_segmentation(const Segmentation& device) {
    Result<SegmentationCost> cost;
    const auto measure = [&device]() -> Result<SegmentationCost> {
        return TEAMO_TRY(Bench::build(device)).measure();
    };
    // unshare(2) affects only the calling thread: the namespace goes away with it.
    std::thread([&] { cost = measure(); }).join();
    return cost;
}

} // namespace teamo
