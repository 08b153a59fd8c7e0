// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads the sockets of real processes, with BPF and without. On the loopback device a packet arrives on the
// CPU that sent it.
#include "sockets.h"

#include "support/net/net_ns.h"
#include "support/traffic/on_cpu.h"
#include "workers/socket_traffic.h"

#include <gmock/gmock.h>
#include <net/if.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace teamo::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::uint64_t cookie_of(int socket) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    ::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size);
    return cookie;
}

class Sockets : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(source_.limitations(), ""); }
    std::vector<SocketTraffic> of(pid_t process, Transport transport = Transport::tcp) {
        const auto read = source_.read();
        EXPECT_TRUE(read) << read.error().text;
        return read ? of_process(*read, process, transport) : std::vector<SocketTraffic>();
    }
    std::uint64_t bytes_of(pid_t process) {
        std::uint64_t bytes = 0;
        for (const auto& socket : of(process))
            bytes += socket.bytes;
        return bytes;
    }

    SocketSource source_ = SocketSource::open();
};

TEST_F(Sockets, shows_bytes_and_cpu_of_server) {
    constexpr std::size_t sent = 3'000'000;
    for (const auto cpu : usable_cpus()) {
        const OnCpu both_ends(cpu); // an ACK makes the peer send more on the CPU that processes it
        const TcpServer server;
        const auto client = server.connect();
        send_all(client.get(), sent);
        ASSERT_TRUE(becomes(sent, [&] { return bytes_of(server.pid()); }));
        const auto seen = of(server.pid());
        ASSERT_THAT(seen, SizeIs(1));
        EXPECT_EQ(seen[0].cpu, cpu);
        EXPECT_EQ(seen[0].device, IfIndex{::if_nametoindex("lo")});
        EXPECT_GT(seen[0].packets, 3'000'000U / 65536);
    }
}

TEST_F(Sockets, has_same_cookie_as_owner) {
    const TcpServer server;
    const auto client = server.connect();
    const auto own = of(::getpid());
    const auto found = std::ranges::find(own, cookie_of(client.get()), &SocketTraffic::cookie);
    ASSERT_NE(found, own.end());
    EXPECT_EQ(found->bytes, 0U);
}

TEST_F(Sockets, marks_other_network_namespace) {
    const auto other = NetNs::create();
    const UniqueFd there(other.inside([] { return ::socket(AF_INET, SOCK_DGRAM, 0); })),
        here(::socket(AF_INET, SOCK_DGRAM, 0));
    std::map<std::uint64_t, bool> foreign;
    for (const auto& socket : of(::getpid(), Transport::udp))
        foreign[socket.cookie] = socket.foreign;
    EXPECT_TRUE(foreign.at(cookie_of(there.get())));
    EXPECT_FALSE(foreign.at(cookie_of(here.get())));
}

TEST_F(Sockets, lists_duplicated_descriptor_once) {
    const TcpServer server;
    const auto client = server.connect();
    const UniqueFd again(::dup(client.get()));
    EXPECT_EQ(std::ranges::count(of(::getpid()), cookie_of(client.get()), &SocketTraffic::cookie), 1);
}

TEST_F(Sockets, lists_shared_socket_for_each_process) {
    const TcpServer server;
    const auto client = server.connect();
    const Child remaining([](int pipe) { return say(pipe), ::pause(); });
    remaining.await_word();
    EXPECT_EQ(std::ranges::count(of(remaining.pid()), cookie_of(client.get()), &SocketTraffic::cookie), 1);
    EXPECT_EQ(std::ranges::count(of(::getpid()), cookie_of(client.get()), &SocketTraffic::cookie), 1);
}

TEST_F(Sockets, leaves_out_listening_sockets) {
    const auto before = of(::getpid()).size();
    const auto listener = bound_socket(SOCK_STREAM);
    ASSERT_EQ(0, ::listen(listener.get(), 1));
    EXPECT_THAT(of(::getpid()), SizeIs(before));
}

TEST_F(Sockets, matches_reading_without_bpf) {
    const TcpServer server;
    const auto client = server.connect();
    send_all(client.get(), 700'000);
    ASSERT_TRUE(becomes(std::uint64_t{700'000}, [&] { return bytes_of(server.pid()); }));
    for (const auto process : {server.pid(), ::getpid()}) {
        const auto borrowed = read_descriptors();
        ASSERT_TRUE(borrowed) << borrowed.error().text;
        auto seen = of(process), without = of_process(*borrowed, process);
        ASSERT_FALSE(seen.empty());
        for (auto& socket : seen) { // read_descriptors() does not know these
            socket.device = {};
            socket.queue.reset();
        }
        std::ranges::sort(without, {}, &SocketTraffic::cookie);
        EXPECT_EQ(seen.size(), without.size());
        for (std::size_t index = 0; index < std::min(seen.size(), without.size()); ++index) {
            EXPECT_EQ(seen[index].cookie, without[index].cookie);
            EXPECT_EQ(seen[index].bytes, without[index].bytes);
            EXPECT_EQ(seen[index].packets, without[index].packets);
            EXPECT_EQ(seen[index].cpu, without[index].cpu);
        }
    }
}

TEST_F(Sockets, uses_bpf_if_available) {
    EXPECT_EQ(source_.limitations(), "");
    EXPECT_TRUE(source_.read());
}

/// Mounts a cgroup2 hierarchy: the /sys of this test has none.
class UdpSampling : public Sockets {
protected:
    void SetUp() override {
        Sockets::SetUp();
        ::mkdir("/run/cgroup", 0755);
        if (::mount("cgroup2", "/run/cgroup", "cgroup2", 0, nullptr) < 0) GTEST_SKIP() << "no cgroup2 here";
        auto opened = UdpSampler::open();
        ASSERT_TRUE(opened) << opened.error().text;
        sampler_.emplace(std::move(*opened));
        const auto root = find_unified_cgroup();
        ASSERT_TRUE(root) << root.error().text;
        root_ = *root;
    }

    std::optional<UdpSampler> sampler_;
    std::string root_;
};

TEST_F(UdpSampling, counts_packets_by_socket_and_cpu) {
    EXPECT_EQ(root_, "/run/cgroup");
    const auto bound = bound_socket(SOCK_DGRAM);
    const Child server([&bound](int pipe) { return say(pipe), take_in(bound.get()); });
    server.await_word();
    const auto client = connected_to(bound.get(), SOCK_DGRAM);
    const std::string packet(100, 'x');
    const auto send = [&](unsigned count) {
        for (unsigned sent = 0; sent < count; ++sent)
            ASSERT_EQ(100, ::send(client.get(), packet.data(), packet.size(), 0));
    };
    send(5); // not counted yet
    ASSERT_TRUE(sampler_->start(root_));
    const auto cpus = usable_cpus();
    for (const auto cpu : cpus) {
        const OnCpu sender(cpu);
        send(10 + cpu);
    }
    const auto sample = sampler_->stop();
    send(5); // no longer counted

    const auto sockets = source_.read();
    ASSERT_TRUE(sockets);
    const auto rows = of_process(with_processes(sample, *sockets), server.pid(), Transport::udp);
    ASSERT_THAT(rows, SizeIs(cpus.size()));
    for (std::size_t index = 0; index < cpus.size(); ++index) {
        EXPECT_EQ(rows[index].cpu, cpus[index]);
        EXPECT_EQ(rows[index].packets, 10 + cpus[index]);
        EXPECT_EQ(rows[index].bytes, (10 + cpus[index]) * (100 + 28)); // with the headers of IPv4 and UDP
        EXPECT_EQ(rows[index].device, IfIndex{::if_nametoindex("lo")});
    }
}

TEST_F(UdpSampling, starts_each_sample_at_zero) {
    const auto bound = bound_socket(SOCK_DGRAM);
    const auto client = connected_to(bound.get(), SOCK_DGRAM);
    const auto counted = [&](const std::vector<SocketTraffic>& sample) {
        std::uint64_t packets = 0;
        for (const auto& row : sample)
            packets += row.cookie == cookie_of(bound.get()) ? row.packets : 0;
        return packets;
    };
    ASSERT_TRUE(sampler_->start(root_));
    ASSERT_EQ(1, ::send(client.get(), "x", 1, 0));
    EXPECT_EQ(counted(sampler_->stop()), 1U);
    ASSERT_TRUE(sampler_->start(root_));
    EXPECT_EQ(counted(sampler_->stop()), 0U);
}

TEST_F(UdpSampling, rejects_folder_that_is_no_control_group) {
    const auto started = sampler_->start("/run");
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().text, testing::HasSubstr("/run: cannot count packets there"));
    EXPECT_EQ(sampler_->start("/nowhere").error().number, ENOENT);
}

} // namespace
} // namespace teamo::test
