// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/process_files.h"

#include "base/handle.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace teamo {
namespace {

constexpr auto stat_tail = " S 1 2 3 4 5 6 7 8 9 10 30 12 13 14 20 0 9 0 4711 18 19 20\n";

TEST(ProcessStat, has_the_name_the_time_the_threads_and_the_start) {
    EXPECT_EQ(parse_process_stat(std::string("42 (nginx)") + stat_tail),
              (ProcessStat{.command = "nginx", .parent = 1, .ticks = 42, .threads = 9, .started = 4711}));
}

TEST(ProcessStat, has_whatever_name_a_process_gave_itself) {
    for (const auto* name : {"a b", "(sd-pam)", ") S 1 2", "", "x)\n(y"})
        EXPECT_EQ(parse_process_stat("1 (" + std::string(name) + ")" + stat_tail).value().command, name);
}

TEST(ProcessStat, is_none_where_it_is_cut_off_or_something_else) {
    const auto whole = std::string("42 (nginx)") + stat_tail;
    for (std::size_t size = 0; size < whole.find("4711"); ++size)
        EXPECT_EQ(parse_process_stat(whole.substr(0, size)), std::nullopt) << size;
    for (const auto* text : {")(", "1 )x( S 1", "1 (a)S 1 2"})
        EXPECT_EQ(parse_process_stat(text), std::nullopt) << text;
    EXPECT_EQ(parse_process_stat("1 (a) S 1 2 3 4 5 6 7 8 9 10 x 12 13 14 20 0 9 0 4711 18"), std::nullopt);
}

TEST(ProcessStat, can_be_read_here) {
    EXPECT_EQ(read_process_stat("/proc/self").value().command, "kernel_test");
    EXPECT_EQ(read_start_time("/proc/self"), read_start_time("/proc/thread-self"));
    EXPECT_EQ(read_start_time("/proc/0"), std::nullopt);
}

TEST(ProcFiles, reads_socket_inode_from_link) {
    EXPECT_EQ(socket_inode("socket:[4711]"), 4711);
    for (const auto* link : {"pipe:[4711]", "socket:[]", "socket:[4711", "socket:[47x]", "/dev/null", ""})
        EXPECT_EQ(socket_inode(link), std::nullopt) << link;
}

TEST(ProcFiles, reads_number_in_pid_file) {
    EXPECT_EQ(parse_pid_file("4711\n"), 4711);
    EXPECT_EQ(parse_pid_file("4711"), 4711);
    for (const auto* text : {"", "\n", "0\n", "-1\n", "47x\n", " 4711\n", "99999999999\n"})
        EXPECT_EQ(parse_pid_file(text), std::nullopt) << text;
}

TEST(ProcFiles, finds_process_of_socket) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    struct stat status{};
    ASSERT_EQ(0, ::fstat(socket.get(), &status));
    const auto owners = find_socket_owners({status.st_ino});
    ASSERT_TRUE(owners.contains(status.st_ino));
    EXPECT_EQ(owners.at(status.st_ino), (SocketOwner{.pid = ::getpid(), .name = "kernel_test"}));
    EXPECT_TRUE(find_socket_owners({}).empty());
}

TEST(ProcFiles, finds_sockets_of_process) {
    const UniqueFd one(::socket(AF_UNIX, SOCK_STREAM, 0)), other(::socket(AF_UNIX, SOCK_STREAM, 0));
    struct stat status{};
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
