// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/processes.h"

#include "unit/kernel/tree.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProcessStat, reads_effective_user) {
    EXPECT_EQ(parse_user("Name:\tnginx\nUmask:\t0022\nUid:\t0\t33\t0\t0\nGid:\t1\t1\t1\t1\n"), 33U);
    EXPECT_EQ(parse_user("Uid:\t0\t4294967295\t0\t0\n"), 4294967295U);
    for (const auto* text : {"", "Name:\tUid:\n", "Uid:\t0\n", "Uid:\t0\tx\t0\t0\n"})
        EXPECT_EQ(parse_user(text), std::nullopt) << text;
}

TEST(ProcessCgroup, reads_unified_hierarchy) {
    EXPECT_EQ(parse_cgroup("0::/system.slice/nginx.service\n"), "/system.slice/nginx.service");
    EXPECT_EQ(parse_cgroup("4:memory:/x\n0::/a:b\n"), "/a:b");
    EXPECT_EQ(parse_cgroup("0::/system.slice/old.service (deleted)\n"), "/system.slice/old.service");
}

TEST(ProcessCgroup, falls_back_to_systemd_hierarchy) {
    EXPECT_EQ(parse_cgroup("9:name=systemd:/system.slice/a.service\n8:pids:/x\n0::/\n"),
              "/system.slice/a.service");
    EXPECT_EQ(parse_cgroup("9:name=systemd:/system.slice/a.service\n"), "/system.slice/a.service");
    EXPECT_EQ(parse_cgroup("0::/\n"), "/");
    for (const auto* text : {"", "8:pids:/x\n", "0::", "::\n", "0:/x\n"})
        EXPECT_EQ(parse_cgroup(text), "") << text;
}

TEST(UnitGroup, is_first_folder_below_slices) {
    const std::pair<const char*, const char*> cases[] = {
        {"/system.slice/nginx.service", "nginx.service"},
        {"/system.slice/nginx.service/workers", "nginx.service"},
        {"/system.slice/system-worker.slice/worker@3.service", "worker@3.service"},
        {R"(/system.slice/system-w.slice/w@a\x2db.service)", R"(w@a\x2db.service)"},
        {"/system.slice/foo@bar.service/_sub.service", "foo@bar.service"},
        {"/system.slice/_cpu.scope", "cpu.scope"}, // escaped
        {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
        {"/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", "user@1000.service"},
        {"/init.scope", "init.scope"},
        {"/dev-hugepages.mount", "dev-hugepages.mount"},
        {"/a.slice/b.slice", ""},
        {"/docker/0123456789ab", ""},
        {"/system.slice/docker-01.scope", "docker-01.scope"},
        {"/.service", ""},
        {"/@x.service", ""},
        {"/a b.service", ""},
        {"/", ""},
        {"", ""},
    };
    for (const auto& [cgroup, unit] : cases)
        EXPECT_EQ(unit_of(cgroup), unit) << cgroup;
    EXPECT_EQ(unit_of("/" + std::string(250, 'a') + ".service"), "");
}

TEST(ProcessCgroup, lists_unified_mounts_latest_first) {
    EXPECT_THAT(
        parse_cgroup_mounts("26 25 0:22 / /sys rw,nosuid - sysfs sysfs rw\n"
                            "30 26 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
                            "31 26 0:26 / /run/c\\040d\\134e rw - cgroup2 none rw\n"
                            "32 26 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
        ElementsAre("/run/c d\\e", "/sys/fs/cgroup"));
    EXPECT_THAT(parse_cgroup_mounts("x - cgroup2\n - cgroup2 \n1 2 3 4 5\n"), IsEmpty());
}

using Cpusets = test::Tree;

TEST_F(Cpusets, are_read_in_both_hierarchies) {
    file("proc/1/cpuset", "/system.slice/a.service");
    file("proc/2/cpuset", "/");
    file("proc/3/cpuset", "/old");
    file("proc/4/cpuset", "/../b");
    file("sys/fs/cgroup/cpuset.cpus.effective", "0-7");
    file("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-5");
    file("sys/fs/cgroup/system.slice/a.service/cpuset.cpus.effective", "4");
    file("sys/fs/cgroup/cpuset/old/cpuset.effective_cpus", "1,3");
    teamo::Cpusets cpusets(root());
    EXPECT_EQ(cpusets.of(1), (CpuList{4}));
    EXPECT_EQ(cpusets.of(2), (CpuList{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(cpusets.of(3), (CpuList{1, 3}));
    EXPECT_EQ(cpusets.of(4), CpuList{});
    EXPECT_EQ(cpusets.of(5), CpuList{});
    // What we have set ourselves does not keep a worker where it is.
    const UnitBinding all{.cpus = {4}, .leaving = {}, .before = {}},
        some{.cpus = {4}, .leaving = {}, .before = {3, 4, 6}};
    EXPECT_EQ(cpusets.of(1, &all), (CpuList{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(cpusets.of(1, &some), (CpuList{3, 4}));
}

TEST(UnitGroup, is_folder_of_unit_and_nothing_below) {
    EXPECT_TRUE(is_own_group("/system.slice/nginx.service", "nginx.service"));
    EXPECT_TRUE(is_own_group("/system.slice/_cpu.service", "cpu.service"));
    EXPECT_FALSE(
        is_own_group("/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope", "user@1000.service"));
    EXPECT_FALSE(is_own_group("/system.slice/docker-1.scope/init.scope", "docker-1.scope"));
    EXPECT_FALSE(is_own_group("/", ""));
}

TEST(UnitGroup, reads_number_of_descendants) {
    EXPECT_EQ(parse_descendants("nr_descendants 2\nnr_dying_descendants 7\n"), 2U);
    EXPECT_EQ(parse_descendants("nr_dying_descendants 7\n"), std::nullopt);
    EXPECT_EQ(parse_descendants("nr_descendants x"), std::nullopt);
    EXPECT_EQ(parse_descendants(""), std::nullopt);
}

} // namespace
} // namespace teamo
