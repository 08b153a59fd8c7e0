// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/tcp_sockets.h"

#include "kernel/netlink/netlink_socket.h"

#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <arpa/inet.h>

#include <new>

namespace teamo {
namespace {

inet_diag_msg connection(int family, const char* from, const char* to) {
    inet_diag_msg report{};
    report.idiag_family = static_cast<std::uint8_t>(family);
    ::inet_pton(family, from, report.id.idiag_src);
    ::inet_pton(family, to, report.id.idiag_dst);
    report.id.idiag_sport = htons(40000);
    report.id.idiag_dport = htons(80);
    report.id.idiag_if = 7;
    report.idiag_inode = 4711;
    return report;
}

std::optional<TcpSocket> parse(const inet_diag_msg& report, std::size_t size = sizeof(inet_diag_msg),
                               int type = SOCK_DIAG_BY_FAMILY) {
    auto message = make_message(type, 0);
    auto copy = report;
    if (nlmsg_append(message.get(), &copy, size, NLMSG_ALIGNTO) < 0) throw std::bad_alloc();
    return parse_tcp_socket(nlmsg_hdr(message.get()));
}

TcpSocket expected(const char* from, const char* to) {
    return {.local = *parse_ip(from),
            .remote = *parse_ip(to),
            .local_port = 40000,
            .remote_port = 80,
            .device = IfIndex{7},
            .inode = 4711};
}

TEST(TcpSockets, reads_ipv4_and_ipv6) {
    EXPECT_EQ(parse(connection(AF_INET, "10.0.0.1", "10.0.0.2")), expected("10.0.0.1", "10.0.0.2"));
    EXPECT_EQ(parse(connection(AF_INET6, "fd00::1", "fd00::2")), expected("fd00::1", "fd00::2"));
}

TEST(TcpSockets, unmaps_ipv4_in_ipv6) {
    EXPECT_EQ(parse(connection(AF_INET6, "::ffff:10.0.0.1", "::ffff:10.0.0.2")),
              expected("10.0.0.1", "10.0.0.2"));
}

TEST(TcpSockets, rejects_other_and_truncated_messages) {
    const auto report = connection(AF_INET, "10.0.0.1", "10.0.0.2");
    EXPECT_EQ(parse(report, sizeof report - 4), std::nullopt);
    EXPECT_EQ(parse(report, 0), std::nullopt);
    EXPECT_EQ(parse(report, sizeof report, 77), std::nullopt);
    EXPECT_EQ(parse(connection(AF_UNIX, "", "")), std::nullopt);
}

} // namespace
} // namespace teamo
