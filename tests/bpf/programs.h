// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The programs as the kernel runs them, one packet at a time (BPF_PROG_TEST_RUN): nothing is attached.
#pragma once

#include "base/bytes.h"
#include "datapath/bpf/abi.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

struct teamo_forward;

namespace teamo::test {

/// When a move ends, in nanoseconds: after the test, or with the next packet.
inline constexpr std::uint64_t never = 1'000'000'000'000, at_once = 0;

inline constexpr int redirected = 7, dropped = 2, passed = -1; ///< TC_ACT_REDIRECT, _SHOT, _UNSPEC

/// The result for a packet.
struct Verdict {
    int action = 0;
    std::uint32_t slot = 0;        ///< the slot whose counters changed; of several the highest
    std::uint32_t slots = 0;       ///< all slots whose counters changed, one bit each
    teamo_counters counters{};     ///< the change, summed over all slots
    std::uint32_t nanoseconds = 0; ///< mean of a run
};

/// One bit per slot.
constexpr std::uint32_t slot_set(std::initializer_list<unsigned> slots) {
    std::uint32_t set = 0;
    for (const auto slot : slots)
        set |= 1U << slot;
    return set;
}
inline constexpr std::uint32_t all_slots = 0x1fe;

class Programs {
public:
    /// Loaded; slot n is device 1000 + n, all live, bucket b uses slot b / 32 + 1 first, then the next ones.
    /// `reading`: how they see the links of devices; std::runtime_error: the kernel refuses that.
    /// `by_source`: for the hash by source.
    explicit Programs(teamo_link_reading reading = TEAMO_LINKS_UNSEEN, bool by_source = false);
    ~Programs();

    teamo_team team{}; ///< takes effect with the next run
    teamo_live live{};
    std::uint32_t gso_size = 0; ///< of the next packets; 0: not GSO packets
    void prefer(const std::function<teamo_bucket(std::uint32_t bucket)>& order);

    Verdict transmit(const Bytes& packet, int repeat = 1);
    /// `device`: 0 is the loopback; another must exist in this network namespace.
    Verdict receive(const Bytes& packet, std::uint32_t device = 0);
    /// Runs the program of that descriptor on the maps here.
    Verdict run(int program, const Bytes& packet, std::uint32_t device, std::uint32_t mark, int repeat);
    /// The bucket that the transmit program, or a program that calls it, selects for a packet. The packet
    /// must not be dropped. Found digit by digit: there are 256 buckets and 8 slots.
    std::uint32_t bucket_of(const Bytes& packet, std::uint32_t hash_fields);
    std::uint32_t bucket_by(const std::function<Verdict()>& run, std::uint32_t hash_fields);

    int transmit_program() const;
    int receive_program() const;
    int recheck_program() const;
    teamo_counters counters_of(std::uint32_t slot) const;
    teamo_bucket_counters bucket_counters_of(std::uint32_t bucket) const;
    void set_drain(std::uint32_t slot, std::uint64_t nanoseconds);
    /// The slot of the port whose interrupts that CPU serves.
    void set_cpu_slot(std::uint32_t cpu, std::uint8_t slot);
    /// Shows the slot's device to the programs. It must be in the caller's network namespace.
    void learn_device(std::uint32_t slot);
    /// The slot must not carry again before it has lost its link as often as that.
    void set_losses(std::uint32_t slot, std::uint32_t losses);
    /// Of all buckets, CLOCK_MONOTONIC.
    void set_last_sent(std::uint64_t nanoseconds);
    /// Applies `team` and `live` and clears the counters. Every run does this first.
    void write_maps();

private:
    std::unique_ptr<teamo_forward, void (*)(teamo_forward*)> skeleton_;
};

} // namespace teamo::test
