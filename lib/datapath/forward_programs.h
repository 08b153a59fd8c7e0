// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Loads the programs of lib/datapath/bpf, which choose the port of each packet, and writes their maps. They
// run without the daemon: a tc filter holds its program, and the program its maps.
#pragma once

#include "base/result.h"
#include "datapath/bpf/abi.h"
#include "datapath/write_order.h"
#include "model/balance.h"
#include "model/status.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace teamo {

class ForwardPrograms {
public:
    /// Loads programs and maps, without attaching them. `hash`: of the tables. By CPU there is a map entry
    /// for every flow, about 5 MB; by source one for every address and every pair of them, about 3 MB.
    /// `bonding`: only with TEAMO_EXIT_STEER.
    static Result<ForwardPrograms> load(teamo_exit exit, HashKind hash, const teamo_bonding& bonding = {});
    /// `on`: more will be loaded. load() then loads the next ones of the same kind in a thread, while its
    /// caller goes on: half of its time is the kernel's verifier.
    static void load_ahead(bool on);
    /// Drops those that nobody has asked for.
    static void drop_ahead();
    ForwardPrograms(ForwardPrograms&& other) noexcept;
    ~ForwardPrograms();

    /// True if they avoid ports without a link; the kernel may refuse that.
    bool see_links() const;
    /// First stops the slots that no longer carry, with one write; last starts the new ones, when everything
    /// that they need is written. Writes only differences.
    Result<> apply(const Tables& tables);
    /// True if the device that was applied has been deleted, or moved to another namespace, and may be back:
    /// the programs do not use it any more.
    bool has_lost(IfIndex port) const;
    /// The next apply() writes all.
    void forget_applied() { applied_.reset(); }

    // As those of Datapath.
    Result<std::array<PortCounters, max_ports + 1>> read_counters();
    Result<BucketCounters> read_bucket(std::uint8_t bucket);
    Result<AllBucketCounters> read_buckets();
    bool has_moved(std::uint8_t bucket) const;
    Result<std::vector<LearnedAddress>> read_addresses() const;

    // Descriptors of the programs, to attach.
    int transmit() const;        ///< not with TEAMO_EXIT_DRIVER
    int receive() const;         ///< only with TEAMO_EXIT_REDIRECT
    int recheck() const;         ///< only with TEAMO_EXIT_REDIRECT
    int sift() const;            ///< only with TEAMO_EXIT_STEER, by source
    int avoid_lost_link() const; ///< only with TEAMO_EXIT_DRIVER
    int send_by_backup() const;  ///< only with TEAMO_EXIT_STEER
    int hand_in() const;         ///< only with TEAMO_EXIT_STEER

private:
    struct Loaded;
    explicit ForwardPrograms(std::unique_ptr<Loaded> loaded);
    struct Kind {
        teamo_exit exit{};
        HashKind hash{};
        teamo_bonding bonding{};
    };
    static Result<ForwardPrograms> load_now(const Kind& kind);
    struct Ahead;
    static Ahead& ahead();
    Result<> write_live(const LiveSlots& slots);
    Result<> write_team(const Tables& tables);
    Result<> write_devices(const Tables& now, const Tables& next, bool all, Failures& refused);
    Result<> learn_device(std::uint32_t slot, IfIndex port) const;
    Result<> write_drains(const Tables& now, const Tables& next, bool all);
    Result<> write_cpu_slots(const Tables& now, const Tables& next, bool all);
    Result<> write_buckets(const Tables& now, const Tables& next, bool all);

    std::unique_ptr<Loaded> loaded_;
    std::optional<Tables> applied_;
};

} // namespace teamo
