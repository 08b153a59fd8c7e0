// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/guard_program.h"

#include "base/handle.h"
#include "guard.skel.h"
#include "kernel/bpf/load_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <vector>

namespace teamo {
namespace {

static_assert(static_cast<unsigned>(GuardMode::off) == TEAMO_GUARD_ASIDE);
static_assert(static_cast<unsigned>(GuardMode::arp) == TEAMO_GUARD_ARP);
static_assert(static_cast<unsigned>(GuardMode::full) == TEAMO_GUARD_FULL);

using GuardSkeleton = Handle<::teamo_guard, teamo_guard__destroy>;

/// A quarter of a second of the rate at once: a burst is normal after a link comes up.
teamo_guard_rate abi_of(std::uint32_t per_second) {
    constexpr std::uint64_t second = 1'000'000'000;
    if (per_second == 0) return {};
    return {.interval = second / per_second, .tolerance = second / 4};
}

std::uint64_t key_of(const MacAddress& mac) {
    std::uint64_t key = 0;
    for (const auto byte : mac.bytes)
        key = key << 8 | byte;
    return key;
}

Result<> change(int error, const char* what) {
    if (error < 0) return fail_errno(errno, what);
    return {};
}

Result<> put_key(const bpf_map* map, const void* key) {
    const std::uint8_t is_there = 1;
    return change(bpf_map_update_elem(bpf_map__fd(map), key, &is_there, BPF_ANY),
                  "cannot write an address of the guard");
}

/// Into a map of one element.
Result<> put_setting(const bpf_map* map, const void* value) {
    const std::uint32_t first = 0;
    return change(bpf_map_update_elem(bpf_map__fd(map), &first, value, BPF_ANY),
                  "cannot write the settings of the guard");
}

Result<> remove_key(const bpf_map* map, const void* key) {
    const int error = bpf_map_delete_elem(bpf_map__fd(map), key);
    if (error < 0 && errno == ENOENT) return {};
    return change(error, "cannot remove an address of the guard");
}

} // namespace

struct GuardProgram::Loaded {
    GuardSkeleton skeleton;

    /// `act`: put_key or remove_key, for each value of `these` that `others` does not have.
    Result<> each(const GuardTables& these, const GuardTables& others,
                  Result<> (*act)(const bpf_map*, const void*)) const {
        const auto& maps = skeleton->maps;
        for (const auto& address : these.addresses)
            if (!others.addresses.contains(address))
                TEAMO_TRY(act(address.ipv6 ? maps.guard_ipv6 : maps.guard_ipv4, address.bytes.data()));
        for (const auto& mac : these.macs)
            if (const auto key = key_of(mac); !others.macs.contains(mac))
                TEAMO_TRY(act(maps.guard_macs, &key));
        for (const std::uint32_t vlan : these.vlans)
            if (!others.vlans.contains(static_cast<std::uint16_t>(vlan)))
                TEAMO_TRY(act(maps.guard_vlans, &vlan));
        return {};
    }

    Result<> write_settings(const GuardTables& tables) const {
        teamo_guard_settings settings{.mode = static_cast<std::uint32_t>(tables.mode),
                                      .unused = 0,
                                      .ips = 0,
                                      .macs = 0,
                                      .all = abi_of(tables.rate),
                                      .sender = abi_of(tables.rate_by_sender)};
        // The program on another CPU may read the mode of before and these, or the other way round.
        if (tables.mode == GuardMode::off) settings.ips = settings.macs = ~std::uint64_t{0};
        for (const auto& address : tables.addresses)
            settings.ips |= teamo_guard_bit(address.bytes[address.ipv6 ? 15 : 3]);
        for (const auto& mac : tables.macs)
            settings.macs |= teamo_guard_bit(mac.bytes.back());
        return put_setting(skeleton->maps.guard_settings, &settings);
    }
};

GuardProgram::GuardProgram(std::unique_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}
GuardProgram::GuardProgram(GuardProgram&&) noexcept = default;
GuardProgram& GuardProgram::operator=(GuardProgram&&) noexcept = default;
GuardProgram::~GuardProgram() = default;

Result<GuardProgram> GuardProgram::load() {
    auto loaded = std::make_unique<Loaded>();
    loaded->skeleton.reset(teamo_guard__open());
    if (!loaded->skeleton) return fail_errno(errno, "cannot open the BPF program of the guard");
    auto* skeleton = loaded->skeleton.get();
    TEAMO_TRY(
        load_programs("the BPF program of the guard", [skeleton] { return teamo_guard__load(skeleton); }));
    return GuardProgram(std::move(loaded));
}

int GuardProgram::program() const { return bpf_program__fd(loaded_->skeleton->progs.teamo_guard); }

Result<> GuardProgram::write_tables(const GuardTables& tables) {
    TEAMO_TRY(loaded_->each(tables, applied_.value_or(GuardTables{}), put_key));
    TEAMO_TRY(loaded_->write_settings(tables));
    return loaded_->each(keys_, tables, remove_key);
}

Result<> GuardProgram::apply(const GuardTables& tables) {
    if (applied_ == tables) return {};
    keys_.addresses.insert(tables.addresses.begin(), tables.addresses.end());
    keys_.macs.insert(tables.macs.begin(), tables.macs.end());
    keys_.vlans.insert(tables.vlans.begin(), tables.vlans.end());
    auto written = write_tables(tables);
    if (written) {
        applied_ = keys_ = tables;
        return {};
    }
    applied_.reset();
    // While the program may still drop, it needs every address.
    if (!loaded_->write_settings({})) return written;
    if (loaded_->each(keys_, {}, remove_key)) applied_ = keys_ = {};
    return written;
}

Result<> GuardProgram::drop_until(Clock::time_point until) const {
    const auto nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(until.time_since_epoch()).count();
    const auto value = static_cast<std::uint64_t>(nanoseconds);
    return put_setting(loaded_->skeleton->maps.guard_until, &value);
}

Result<GuardCounters> GuardProgram::read_counters() const {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "cannot read the number of CPUs");
    std::vector<std::uint64_t> each(static_cast<std::size_t>(cpus));
    GuardCounters counters{};
    for (std::uint32_t reason = 0; reason < counters.size(); ++reason) {
        if (bpf_map_lookup_elem(bpf_map__fd(loaded_->skeleton->maps.guard_counters), &reason, each.data()) <
            0)
            return fail_errno(errno, "cannot read the counters of the guard");
        for (const auto count : each)
            counters[reason] += count;
    }
    return counters;
}

} // namespace teamo
