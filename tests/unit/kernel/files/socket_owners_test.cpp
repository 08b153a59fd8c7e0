// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/socket_owners.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/handle.h"

namespace teamo {
namespace {

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

TEST(ProcFiles, finds_sockets_of_process) {
    const UniqueFd one(::socket(AF_UNIX, SOCK_STREAM, 0)), other(::socket(AF_UNIX, SOCK_STREAM, 0));
    struct stat status {};
    ASSERT_EQ(0, ::fstat(one.get(), &status));
    std::vector<int> descriptors;
    const auto seen = each_socket(::getpid(), [&](int descriptor, std::uint64_t inode) {
        if (inode == status.st_ino) descriptors.push_back(descriptor);
        return true;
    });
    EXPECT_EQ(descriptors, std::vector{one.get()});
    EXPECT_GE(seen, 2U);
    int calls = 0;
    each_socket(::getpid(), [&calls](int, std::uint64_t) { return ++calls < 1; });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(each_socket(0, [](int, std::uint64_t) { return true; }), 0U) << "no such process";
}

} // namespace
} // namespace teamo
