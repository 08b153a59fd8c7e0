// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Binds real processes and restores their affinity.
#include "child.h"
#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "support/traffic/on_cpu.h"
#include "workers/affinity.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

namespace teamo::test {
namespace {

using testing::HasSubstr;

std::vector<pid_t> threads_of(pid_t process) {
    std::vector<pid_t> threads;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone))
        threads.push_back(std::stoi(entry.path().filename()));
    return threads;
}

/// The different affinities of its threads.
std::set<CpuList> masks_of(pid_t process) {
    std::set<CpuList> masks;
    for (const auto thread : threads_of(process))
        if (const auto mask = read_thread_affinity(thread)) masks.insert(*mask);
    return masks;
}

/// Endlessly makes short-lived threads that make threads themselves.
int spawn_threads(int pipe) {
    const auto spawn = [] {
        for (;;) {
            std::thread([] { std::thread([] { std::this_thread::sleep_for(1ms); }).join(); }).join();
        }
    };
    std::vector<std::thread> spawners;
    for (int made = 0; made < 8; ++made)
        spawners.emplace_back(spawn);
    say(pipe);
    return ::pause();
}

/// Sleeps in this many threads.
auto sleep_in(unsigned threads) {
    return [threads](int pipe) {
        std::vector<std::thread> sleepers;
        for (unsigned made = 1; made < threads; ++made)
            sleepers.emplace_back([] { ::pause(); });
        say(pipe);
        return ::pause();
    };
}

void set_mask(pid_t thread, const CpuList& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const auto cpu : cpus)
        CPU_SET(cpu, &set);
    ASSERT_EQ(0, ::sched_setaffinity(thread, sizeof set, &set));
}

milliseconds spent_by_this_thread() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return milliseconds(spent.tv_sec * 1000 + spent.tv_nsec / 1'000'000);
}

class ProcessBinding : public testing::Test {
protected:
    void SetUp() override {
        if (all_.size() < 2) GTEST_SKIP() << "one CPU only";
    }
    const CpuList all_ = usable_cpus();
    const CpuList first_{all_.front()}, last_{all_.back()};
};

TEST_F(ProcessBinding, binds_and_releases_every_thread) {
    const Child child(sleep_in(5));
    child.await_word();
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound) << bound.error().text;
    EXPECT_EQ(bound->cpus, last_);
    EXPECT_EQ(bound->threads.size(), 5U);
    EXPECT_EQ(masks_of(child.pid()), std::set{last_});
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

TEST_F(ProcessBinding, catches_new_threads) {
    const Child child(spawn_threads);
    child.await_word();
    for (int round = 0; round < 20; ++round) {
        const auto bound = bind_process(child.id(), last_);
        ASSERT_TRUE(bound) << bound.error().text;
        EXPECT_TRUE(
            stays("all threads are bound", [&] { return masks_of(child.pid()) == std::set{last_}; }, 20ms));
        ASSERT_TRUE(release_process(*bound));
        EXPECT_TRUE(
            stays("all threads are free", [&] { return masks_of(child.pid()) == std::set{all_}; }, 20ms));
    }
}

/// As many threads as possible, each made by the one before, so that a listing never has all of them. Each
/// takes all CPUs, or they would soon inherit ours.
int make_threads_without_end(int pipe) {
    cpu_set_t all;
    std::memset(&all, 0xFF, sizeof all);
    std::function<void()> next = [&] {
        ::sched_setaffinity(0, sizeof all, &all);
        std::thread(next).detach();
    };
    for (int made = 0; made < 64; ++made)
        std::thread(next).detach();
    say(pipe);
    return ::pause();
}

/// Twelve such processes in one window must not delay the daemon beyond its watchdog of ten seconds, so the
/// time for each one is limited (workers.cpp, window_budget).
TEST_F(ProcessBinding, ends_soon_if_threads_never_stop) {
    const Child child(make_threads_without_end);
    child.await_word();
    const OnCpu apart(first_.front()); // the threads run meanwhile, on the last CPU
    std::vector<milliseconds> times;
    for (int round = 0; round < 5; ++round) {
        const auto start = spent_by_this_thread(); // other programs do not count
        const auto bound = bind_process(child.id(), last_, {}, 20ms);
        if (bound) static_cast<void>(release_process(*bound, 20ms));
        times.push_back(spent_by_this_thread() - start);
    }
    std::ranges::sort(times);
    fmt::print("{} to {} ms, median {}\n", times.front().count(), times.back().count(), times[2].count());
    EXPECT_LT(times[2], 180ms) << "the median of its CPU time; by the usual limit it takes 300 ms";
}

TEST_F(ProcessBinding, restores_affinity_of_each_thread) {
    const Child child(sleep_in(3));
    child.await_word();
    const auto threads = threads_of(child.pid());
    ASSERT_EQ(threads.size(), 3U);
    set_mask(threads[1], first_);
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(read_thread_affinity(threads[0]).value(), all_);
    EXPECT_EQ(read_thread_affinity(threads[1]).value(), first_);
    EXPECT_EQ(read_thread_affinity(threads[2]).value(), all_);
}

TEST_F(ProcessBinding, keeps_original_affinity_when_changed) {
    const Child child(sleep_in(2));
    child.await_word();
    auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    bound = bind_process(child.id(), first_, *bound);
    ASSERT_TRUE(bound);
    EXPECT_EQ(masks_of(child.pid()), std::set{first_});
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

TEST_F(ProcessBinding, releases_interrupted_move) {
    const Child child(sleep_in(3));
    child.await_word();
    auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    set_mask(threads_of(child.pid())[1], first_);
    bound->leaving = std::exchange(bound->cpus, first_);
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
    // The same if the cpuset allows only some of the requested CPUs.
    set_mask(threads_of(child.pid())[1], first_);
    ASSERT_TRUE(release_process({.id = child.id(),
                                 .cpus = united(first_, CpuList{8000}),
                                 .leaving = all_,
                                 .before = all_,
                                 .threads = {}}));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

/// The kernel has moved its threads to other CPUs.
TEST_F(ProcessBinding, restores_affinity_if_its_cpu_is_offline) {
    const Child child(sleep_in(2));
    child.await_word();
    ASSERT_TRUE(
        release_process({.id = child.id(), .cpus = {8000}, .leaving = {}, .before = first_, .threads = {}}));
    EXPECT_EQ(masks_of(child.pid()), std::set{first_});
}

/// Its cpuset may get more CPUs later, and the kernel removes those that it has not.
TEST_F(ProcessBinding, notes_all_cpus_for_a_thread_that_nothing_restricts) {
    const auto possible = sysfs::cpus("/sys/devices/system/cpu/possible");
    ASSERT_TRUE(possible);
    const Child child(sleep_in(2));
    child.await_word();
    set_mask(threads_of(child.pid())[1], first_);
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->threads.at(child.pid()).before, *possible);
    EXPECT_EQ(bound->threads.at(threads_of(child.pid())[1]).before, first_);
}

/// Its cpuset may be the reason, which systemd is about to widen.
TEST_F(ProcessBinding, also_sets_threads_that_run_there_already) {
    const Child child(sleep_in(3));
    child.await_word();
    for (const auto thread : threads_of(child.pid()))
        set_mask(thread, last_);
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->threads.size(), 3U);
    EXPECT_EQ(bound->before, last_);
}

/// A daemon was killed while it bound the threads: the next one does the rest.
TEST_F(ProcessBinding, completes_interrupted_move) {
    const Child child(sleep_in(3));
    child.await_word();
    auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    bound->threads.erase(threads_of(child.pid())[2]); // created since
    set_mask(threads_of(child.pid())[1], first_);
    bound->leaving = std::exchange(bound->cpus, first_);
    const auto completed = bind_process(child.id(), first_, *bound);
    ASSERT_TRUE(completed);
    EXPECT_THAT(completed->leaving, testing::IsEmpty());
    EXPECT_EQ(masks_of(child.pid()), std::set{first_});
    ASSERT_TRUE(release_process(*completed));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

TEST_F(ProcessBinding, keeps_affinity_set_by_other_program) {
    const Child child(sleep_in(2));
    child.await_word();
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    set_mask(child.pid(), first_);
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), (std::set{first_, all_}));
}

/// Its own I/O threads, for example, while their number changes.
TEST_F(ProcessBinding, leaves_a_thread_that_left_it_unless_the_process_was_moved) {
    const Child child(sleep_in(3));
    child.await_word();
    const auto bound = bind_process(child.id(), last_);
    ASSERT_TRUE(bound);
    const auto own = threads_of(child.pid())[1];
    set_mask(own, all_);
    const auto again = bind_process(child.id(), last_, *bound);
    ASSERT_TRUE(again);
    EXPECT_EQ(read_thread_affinity(own).value(), all_);
    EXPECT_EQ(again->threads.size(), 3U);
    set_mask(child.pid(), all_);
    ASSERT_TRUE(bind_process(child.id(), last_, *again));
    EXPECT_EQ(masks_of(child.pid()), std::set{last_});
}

/// A server that starts new workers on reload, for example.
TEST_F(ProcessBinding, gives_back_to_a_child_what_its_parent_had_before) {
    const ProcessId self = read_process(::getpid()).value().worker.id;
    const WorkerBinding parent{.id = self, .cpus = last_, .leaving = {}, .before = all_, .threads = {}};
    set_mask(::gettid(), last_);
    const Child child(sleep_in(2));
    child.await_word();
    set_mask(::gettid(), all_);
    EXPECT_EQ(plan_binding(child.id(), first_, std::span(&parent, 1)).value().before, all_);
    const auto bound = bind_process(child.id(), first_, {}, default_patience, std::span(&parent, 1));
    ASSERT_TRUE(bound);
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

TEST_F(ProcessBinding, is_idempotent) {
    const Child child(sleep_in(2));
    child.await_word();
    const auto once = bind_process(child.id(), last_);
    ASSERT_TRUE(once);
    EXPECT_EQ(bind_process(child.id(), last_, *once).value(), *once);
}

TEST_F(ProcessBinding, rejects_reused_process_id) {
    const Child child(sleep_in(1));
    child.await_word();
    auto id = child.id();
    ++id.started;
    const auto bound = bind_process(id, last_);
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().number, ESRCH);
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
    EXPECT_TRUE(release_process(
        {.id = id, .cpus = all_, .leaving = {}, .before = last_, .threads = {}})); // nothing to release
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

/// systemd's ProtectProc= and the mount option hidepid= hide processes of other users.
TEST_F(ProcessBinding, knows_a_hidden_process_from_one_that_has_ended) {
    std::optional<Child> child(std::in_place, sleep_in(1));
    child->await_word();
    const auto bound = bind_process(child->id(), last_);
    ASSERT_TRUE(bound) << bound.error().text;
    const auto entry = fmt::format("/proc/{}", child->pid());
    ASSERT_EQ(0, ::mount("tmpfs", entry.c_str(), "tmpfs", 0, nullptr));
    EXPECT_FALSE(is_gone(bound->id));
    const auto released = release_process(*bound);
    const auto again = bind_process(bound->id, all_);
    ASSERT_EQ(0, ::umount(entry.c_str()));
    ASSERT_FALSE(released);
    EXPECT_EQ(EACCES, released.error().number) << released.error().text;
    ASSERT_FALSE(again);
    EXPECT_EQ(EACCES, again.error().number) << again.error().text;
    EXPECT_EQ(masks_of(child->pid()), std::set{last_});
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child->pid()), std::set{all_});
    child.reset();
    EXPECT_TRUE(is_gone(bound->id));
}

TEST_F(ProcessBinding, notes_the_affinity_of_each_thread_before) {
    const Child child(sleep_in(3));
    child.await_word();
    const auto threads = threads_of(child.pid());
    set_mask(threads.back(), first_);
    const auto planned = plan_binding(child.id(), last_);
    ASSERT_TRUE(planned) << planned.error().text;
    for (const auto thread : threads) // as if the daemon were killed before it can note more
        set_mask(thread, last_);
    ASSERT_TRUE(release_process(*planned));
    EXPECT_EQ(masks_of(child.pid()), (std::set{all_, first_}));
}

TEST_F(ProcessBinding, rejects_missing_cpus) {
    const Child child(sleep_in(2));
    child.await_word();
    const auto bound = bind_process(child.id(), {8000});
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().number, EINVAL);
    EXPECT_THAT(bound.error().text, HasSubstr("cannot run on CPU 8000: its cpuset has none of them"));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
    EXPECT_EQ(bind_process(child.id(), {}).error().number, EINVAL);
}

TEST_F(ProcessBinding, uses_existing_cpus_of_list) {
    const Child child(sleep_in(2));
    child.await_word();
    const auto bound = bind_process(child.id(), {all_.back(), 8000});
    ASSERT_TRUE(bound) << bound.error().text;
    EXPECT_EQ(bound->cpus, last_);
    ASSERT_TRUE(release_process(*bound));
    EXPECT_EQ(masks_of(child.pid()), std::set{all_});
}

TEST_F(ProcessBinding, rejects_foreign_process_without_privilege) {
    const Child victim(sleep_in(1));
    victim.await_word();
    const auto id = victim.id();
    const Child other([&](int /*pipe*/) {
        constexpr uid_t nobody = 65534;
        if (::setresuid(nobody, nobody, nobody) < 0) return 1;
        const auto bound = bind_process(id, last_);
        return !bound && bound.error().number == EPERM ? 42 : 2;
    });
    EXPECT_EQ(other.wait(), 42);
    EXPECT_EQ(masks_of(victim.pid()), std::set{all_});
}

TEST(Processes, reads_running_process) {
    const Child child(sleep_in(3));
    child.await_word();
    const auto read = read_process(child.pid());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->worker.command, "workers_root_te"); // 15 bytes
    EXPECT_EQ(read->worker.user, ::getuid());
    EXPECT_EQ(read->worker.threads, 3U);
    EXPECT_GT(read->worker.id.started, 0U);
    EXPECT_EQ(read_process(4'000'000).error().number, ESRCH);
}

} // namespace
} // namespace teamo::test
