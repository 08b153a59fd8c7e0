// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A bound unit gets its former CPUs back, even if systemd answers late.
//
// lab: UnitBinder.* by none: no team is made
#include "daemon/cpus/worker_subsystem.h"
#include "kernel/cpus/cpus.h"
#include "support/daemon/fake_systemd.h"
#include "support/eventually.h"

#include <gmock/gmock.h>

#include <unistd.h>

namespace teamo::test {
namespace {

TEST(UnitBinder, withdraws_a_change_that_systemd_makes_late) {
    FakeSystemd systemd("w@1.service");
    UnitBinder binder([&] { return Result<UnitCpus>(systemd.connect()); },
                      [](const Worker&) { return true; });
    Worker worker;
    worker.unit = "w@1.service";
    BoundWorkers bound;
    systemd.unit().late = 1500ms; // UnitBinder waits one second
    EXPECT_EQ(false, binder.bind(worker, {1}, bound, [] { return Result<>(); }).value())
        << "the result is not known yet";
    ASSERT_TRUE(eventually("systemd makes the change late", [&] { return !systemd.unit().cpus.empty(); }));
    systemd.unit().late = 0ms;
    UnitBinder later([&] { return Result<UnitCpus>(systemd.connect()); }, [](const Worker&) { return true; });
    EXPECT_TRUE(later.release(worker.unit, bound));
    EXPECT_THAT(systemd.unit().cpus, testing::IsEmpty());
    EXPECT_TRUE(bound.empty());
}

/// systemd is not asked: a call would make it write the property again.
TEST(UnitBinder, leaves_a_unit_that_an_earlier_daemon_bound_as_it_is) {
    const auto cpus = read_thread_affinity(0).value();
    Worker worker;
    worker.id.pid = ::getpid();
    worker.unit = "w@1.service";
    BoundWorkers bound;
    bound.units[worker.unit] = {.cpus = cpus, .leaving = {}, .before = {7}, .process = worker.id};
    const auto before = bound;
    UnitBinder binder([]() -> Result<UnitCpus> { return ADD_FAILURE(), fail(EIO, "systemd was asked"); },
                      [](const Worker&) { return true; });
    EXPECT_EQ(true, binder.bind(worker, cpus, bound, [] { return Result<>(); }).value());
    EXPECT_EQ(bound, before);
}

/// A program that forks, such as a database that writes its dump. systemd answers before it widens the
/// cpuset.
TEST(UnitBinder, releases_a_unit_of_two_processes_before_their_threads_are_bound) {
    FakeSystemd systemd("w@1.service");
    Worker worker;
    worker.id.pid = ::getpid();
    worker.unit = "w@1.service";
    const auto cpus = read_thread_affinity(0).value();
    BoundWorkers bound;
    UnitBinder binder([&] { return Result<UnitCpus>(systemd.connect()); },
                      [](const Worker&) { return false; });
    const auto bind = [&](const CpuList& wanted) {
        return binder.bind(worker, wanted, bound, [] { return Result<>(); });
    };
    for (const auto& wanted : {cpus, CpuList{7}}) {
        bound.units[worker.unit] = {.cpus = cpus, .leaving = {}, .before = {}, .process = worker.id};
        systemd.unit().cpus = cpu_bytes(cpus);
        const auto first = bind(wanted);
        ASSERT_FALSE(first);
        EXPECT_EQ(EAGAIN, first.error().number);
        EXPECT_THAT(systemd.unit().cpus, testing::IsEmpty());
        EXPECT_TRUE(bound.empty());
        EXPECT_EQ(false, bind(wanted).value()) << "its threads are bound now";
    }
}

} // namespace
} // namespace teamo::test
