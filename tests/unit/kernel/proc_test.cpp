// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/cpus/cpu_time.h"
#include "kernel/files/socket_owners.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/handle.h"

namespace teamo {
namespace {

using namespace std::chrono_literals;

TEST(ProcFiles, reads_socket_inode_from_link) {
    EXPECT_EQ(socket_inode("socket:[4711]"), 4711);
    for (const auto* link : {"pipe:[4711]", "socket:[]", "socket:[4711", "socket:[47x]", "/dev/null", ""})
        EXPECT_EQ(socket_inode(link), std::nullopt) << link;
}

TEST(ProcFiles, finds_process_of_socket) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    struct stat status {};
    ASSERT_EQ(0, ::fstat(socket.get(), &status));
    const auto owners = find_socket_owners({status.st_ino});
    ASSERT_TRUE(owners.contains(status.st_ino));
    EXPECT_EQ(owners.at(status.st_ino), (SocketOwner{.pid = ::getpid(), .name = "kernel_test"}));
    EXPECT_TRUE(find_socket_owners({}).empty());
}

TEST(ProcFiles, excludes_idle_and_waiting_from_busy_time) {
    const auto* stat = "cpu  100 10 50 9999 8888 1 2 4 77 88\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
    EXPECT_EQ(parse_busy_time(stat, 100).value(), 1'670'000us);
    EXPECT_EQ(parse_busy_time(stat, 1000).value(), 167'000us);
    for (const auto* text : {"", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4 x 6 7 8\n"})
        EXPECT_FALSE(parse_busy_time(text, 100).has_value()) << text;
}

} // namespace
} // namespace teamo
