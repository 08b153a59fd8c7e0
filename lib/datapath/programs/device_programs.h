// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Every program of ours on every device of a team: attached here, looked for here, and attached again when it
// is lost (docs/adr/0034). Nothing else in the daemon attaches a program to a device.
#pragma once

#include "base/clock.h"
#include "base/handle.h"
#include "datapath/programs/hook_plan.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace teamo {

/// The names of the kernel's BPF programs, of all processes. The kernel does not use an id again soon.
class ProgramNames {
public:
    /// False if the kernel does not tell names: it has no iterator over programs (bpf/names.bpf.c). The first
    /// call loads it, which takes some 35 ms. An error passes.
    Result<bool> are_known();
    /// Empty: the program has no name, or is gone. An error passes.
    Result<std::string> of(ProgramId id);

private:
    std::optional<UniqueFd> link_; ///< of the iterator; -1: the kernel refuses it
    std::map<ProgramId, std::string> names_;
};

/// When to put back what another program has removed or displaced: the first times at once, then with growing
/// pauses. Time passes only by the argument.
class Rounds {
public:
    static constexpr unsigned at_once = 8;
    static constexpr std::chrono::seconds longest{30};
    static constexpr std::chrono::minutes peace{10}; ///< without a round; then they count from 0

    /// Whether to put it back now, which counts as a round.
    bool begin(Clock::time_point now);
    /// The rounds so far.
    unsigned count(Clock::time_point now) const { return count_ > 0 && now - last_ < peace ? count_ : 0; }

private:
    unsigned count_ = 0;
    Clock::time_point last_{};
};

/// What check() found: a program was not there, or ran behind others.
struct LostProgram {
    IfIndex device{};
    Hook hook{};
    Duty duty{};
    bool displaced = false;
    bool is_left = false;  ///< it was put back three times; it stays as it is now
    std::string failure{}; ///< why it is still not there; empty: it is there again
};

class DevicePrograms {
public:
    /// `names` must outlive it.
    static Result<std::unique_ptr<DevicePrograms>> open(ProgramNames& names);

    /// Called before clsact is made on a device, so that it can be noted; its failure ends the attempt.
    void set_note_clsact(std::function<Result<>(IfIndex)> note) { note_clsact_ = std::move(note); }
    /// Tells that a device is another team's by now: that team has put its programs in the places of those
    /// that were here, or will, so that detach() and detach_all() leave them.
    void set_is_of_another(std::function<bool(IfIndex)> is_of_another) {
        is_of_another_ = std::move(is_of_another);
    }

    /// Puts the program on the device and keeps it there, in place of an earlier daemon's with that duty.
    /// EEXIST: the device has a qdisc "ingress" with filters, which has no egress hook.
    Result<> attach(IfIndex device, Hook hook, Duty duty, Order order, int program);
    /// Takes the program of that duty from the device, also an earlier daemon's.
    Result<> detach(IfIndex device, Hook hook, Duty duty);
    /// Takes all programs of ours from the device, also those of an earlier daemon, then clsact if
    /// `remove_clsact` is set and it is empty.
    Result<> detach_all(IfIndex device, bool remove_clsact);
    /// The device is gone, or another one has its index.
    void forget(IfIndex device);

    /// True if a program of ours with that duty is on the device, of this daemon or of an earlier one.
    Result<bool> has(IfIndex device, Hook hook, Duty duty);
    /// True if attach() would make clsact.
    Result<bool> makes_clsact(IfIndex device, Hook hook, Duty duty);

    /// The devices whose frames a program of ours redirects, with programs before it that may accept them
    /// (TC_ACT_OK, TCX_PASS), so that it does not see them.
    std::set<IfIndex> shadowed() const;

    std::set<IfIndex> devices() const;
    bool has_any(IfIndex device) const;
    /// Compares the hooks of a device with what was attached, and puts back what is lost.
    std::vector<LostProgram> check(IfIndex device, Clock::time_point now);
    /// The devices to check: a hook without events (tcx, netkit) has changed, or a program is not there.
    std::set<IfIndex> suspects() const;

    std::vector<ProgramStatus> status(Clock::time_point now) const;

private:
    struct Program {
        WantedProgram wanted{};
        UniqueFd fd{}; ///< of its own
        std::uint64_t lost = 0;
        std::string failure{};
    };
    struct Place {
        std::vector<Program> programs{}; ///< in the order in which they run
        HookView view{};                 ///< as last read
        Rounds removals{}, displacements{};
    };
    using Key = std::pair<IfIndex, Hook>;

    DevicePrograms(NetlinkSocket socket, ProgramNames& names) : socket_(std::move(socket)), names_(names) {}
    Result<HookView> read(Key key);
    Result<> settle(Key key, Place& place, bool may_move);
    Result<> apply(Key key, const Place& place, const HookStep& step);
    Result<> prepare_clsact(Key key);
    std::vector<LostProgram> check_place(Key key, Place& place, Clock::time_point now);
    static bool is_left(const Place& place, ProgramId id, Clock::time_point now);
    static std::vector<WantedProgram> wanted_of(const Place& place);

    NetlinkSocket socket_;
    ProgramNames& names_;
    std::function<Result<>(IfIndex)> note_clsact_;
    std::function<bool(IfIndex)> is_of_another_;
    std::map<Key, Place> places_;
};

} // namespace teamo
