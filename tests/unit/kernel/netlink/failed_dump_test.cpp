// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/netlink_socket.h"

#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

namespace teamo {
namespace {

/// The kernel answers with the error in NLMSG_DONE, and has told of no socket.
TEST(FailedDump, is_no_empty_list) {
    auto socket = NetlinkSocket::open(NETLINK_SOCK_DIAG);
    ASSERT_TRUE(socket) << socket.error().text;
    const auto dump = [] {
        inet_diag_req_v2 request{};
        request.sdiag_family = AF_INET;
        request.sdiag_protocol = 250; // nobody's
        return make_message(SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, request);
    };
    const auto done = socket->dump(dump, [](const nlmsghdr*) { ADD_FAILURE(); }, [] {});
    ASSERT_FALSE(done);
    EXPECT_EQ(ENOENT, done.error().number) << done.error().text;
}

} // namespace
} // namespace teamo
