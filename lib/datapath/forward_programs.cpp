// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/forward_programs.h"

#include "base/handle.h"
#include "datapath/bpf/flow_hash.h"
#include "datapath/team/bucket_meter.h"
#include "forward.skel.h"
#include "forward_probed.skel.h"
#include "kernel/bpf/cpu_array.h"
#include "kernel/bpf/load_program.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <future>
#include <span>
#include <vector>

namespace teamo {
namespace {

static_assert(static_cast<unsigned>(HashField::eth) == TEAMO_HASH_ETH);
static_assert(static_cast<unsigned>(HashField::vlan) == TEAMO_HASH_VLAN);
static_assert(static_cast<unsigned>(HashField::ipv4) == TEAMO_HASH_IPV4);
static_assert(static_cast<unsigned>(HashField::ipv6) == TEAMO_HASH_IPV6);
static_assert(static_cast<unsigned>(HashField::tcp) == TEAMO_HASH_TCP);
static_assert(static_cast<unsigned>(HashField::udp) == TEAMO_HASH_UDP);
static_assert(static_cast<unsigned>(HashField::sctp) == TEAMO_HASH_SCTP);
static_assert(static_cast<unsigned>(HashField::cpu) == TEAMO_HASH_CPU);
static_assert(static_cast<unsigned>(HashField::source) == TEAMO_HASH_SOURCE);
static_assert(static_cast<unsigned>(TransmitMode::broadcast) == TEAMO_MODE_BROADCAST);
static_assert(bucket_count == TEAMO_BUCKETS && max_ports + 1 == TEAMO_SLOTS);

using Skeleton = Handle<teamo_forward, teamo_forward__destroy>;

Result<> write(const UniqueFd& map, std::uint32_t key, const void* value) {
    if (bpf_map_update_elem(map.get(), &key, value, BPF_ANY) < 0)
        return fail_errno(errno, "cannot write a BPF map");
    return {};
}

/// Slots in order as the program reads them: one number, the first slot in its first byte.
std::uint64_t abi_of(const Preference& preference, Slot leaving = {}) {
    teamo_bucket bucket{};
    for (std::size_t place = 0; place < preference.size(); ++place)
        bucket.slot[place] = preference[place].value;
    bucket.slot[0] |= static_cast<std::uint8_t>(leaving.value << TEAMO_LEAVING_SHIFT);
    return std::bit_cast<std::uint64_t>(bucket);
}

/// The mapped memory of the map of buckets. Each entry is read and written as a whole, as the program does.
class Entries {
public:
    static Result<Entries> open(int map) {
        void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
        if (mapped == MAP_FAILED) return fail_errno(errno, "cannot map a BPF map");
        return Entries(static_cast<std::uint64_t*>(mapped));
    }

    std::atomic_ref<std::uint64_t> operator[](std::size_t bucket) const {
        return std::atomic_ref(first_.get()[bucket]);
    }

private:
    static constexpr std::size_t size = bucket_count * sizeof(std::uint64_t);
    struct Unmap {
        void operator()(std::uint64_t* first) const noexcept { munmap(first, size); }
    };
    explicit Entries(std::uint64_t* first) : first_(first) {}
    std::unique_ptr<std::uint64_t, Unmap> first_;
};

std::uint64_t now_in_nanoseconds() {
    using namespace std::chrono; // steady_clock is CLOCK_MONOTONIC, as bpf_ktime_get_ns() is
    return static_cast<std::uint64_t>(
        duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

} // namespace

/// Descriptors of its own for what was loaded: libbpf's object takes 150 kB. Empty: it was not loaded.
struct ForwardPrograms::Loaded {
    Loaded(const teamo_forward& from, teamo_exit its_exit, teamo_link_reading its_reading)
        : exit(its_exit), reading(its_reading) {
        const auto& maps = from.maps;
        const auto& programs = from.progs;
        const auto map = [this](const bpf_map* one) { return own(bpf_map__fd(one)); };
        const auto program = [this](const bpf_program* one) { return own(bpf_program__fd(one)); };
        team = map(maps.teamo_team);
        live = map(maps.teamo_live);
        devices = map(maps.teamo_devices);
        there = map(maps.teamo_there);
        drains = map(maps.teamo_drains);
        cpu_slots = map(maps.teamo_cpu_slots);
        last_sent = map(maps.teamo_last_sent);
        buckets = map(maps.teamo_buckets);
        bucket_counters = map(maps.teamo_bucket_counters);
        port_counters = map(maps.teamo_port_counters);
        sources = map(maps.teamo_sources);
        transmit = program(programs.teamo_transmit);
        receive = program(programs.teamo_receive);
        recheck = program(programs.teamo_recheck);
        sift = program(programs.teamo_sift);
        avoid_lost_link = program(programs.teamo_avoid_lost_link);
        send_by_backup = program(programs.teamo_send_by_backup);
        hand_in = program(programs.teamo_hand_in);
        learn_device = program(programs.teamo_learn_device);
    }

    teamo_exit exit;
    teamo_link_reading reading;
    UniqueFd team, live, devices, there, drains, cpu_slots, last_sent, buckets, bucket_counters,
        port_counters, sources;
    UniqueFd transmit, receive, recheck, sift, avoid_lost_link, send_by_backup, hand_in, learn_device;
    std::optional<Entries> entries;

    int refused = 0; ///< errno of a descriptor that could not be copied

private:
    UniqueFd own(int fd) {
        if (fd < 0) return {};
        UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
        if (!copy) refused = errno;
        return copy;
    }
};

namespace {

/// With bpf_rdonly_cast() or without it (bpf/forward_probed.bpf.c). 0, or libbpf's error.
int open_forward(Skeleton& skeleton, bool with_cast) {
    if (with_cast) {
        skeleton.reset(teamo_forward__open());
        return skeleton ? 0 : -errno;
    }
    skeleton.reset(static_cast<teamo_forward*>(std::calloc(1, sizeof(teamo_forward))));
    if (!skeleton) return -ENOMEM;
    if (const int error = teamo_forward__create_skeleton(skeleton.get()); error != 0) return error;
    auto& description = *skeleton->skeleton;
    description.data = const_cast<void*>(teamo_forward_probed__elf_bytes(&description.data_sz));
    return bpf_object__open_skeleton(&description, nullptr);
}

/// 0, or libbpf's error.
int load_forward(Skeleton& skeleton, teamo_exit exit, HashKind hash, const teamo_bonding& bonding,
                 teamo_link_reading reading) {
    if (const int error = open_forward(skeleton, reading == TEAMO_LINKS_READ); error != 0) return error;
    const auto& maps = skeleton->maps;
    if (hash != HashKind::by_cpu) static_cast<void>(bpf_map__set_max_entries(maps.teamo_flows, 1));
    if (hash != HashKind::by_source)
        for (auto* map : {maps.teamo_sources, maps.teamo_streams})
            static_cast<void>(bpf_map__set_max_entries(map, 1));
    skeleton->rodata->teamo_by_source = hash == HashKind::by_source ? 1 : 0;
    skeleton->rodata->teamo_link_reading = reading;
    skeleton->rodata->teamo_exit_by = exit;
    std::memcpy(&skeleton->rodata->teamo_bonding, &bonding, sizeof bonding);
    auto& programs = skeleton->progs;
    bpf_program__set_autoload(programs.teamo_transmit, exit != TEAMO_EXIT_DRIVER);
    bpf_program__set_autoload(programs.teamo_receive, exit == TEAMO_EXIT_REDIRECT);
    bpf_program__set_autoload(programs.teamo_recheck, exit == TEAMO_EXIT_REDIRECT);
    bpf_program__set_autoload(programs.teamo_sift, exit == TEAMO_EXIT_STEER && hash == HashKind::by_source);
    bpf_program__set_autoload(programs.teamo_avoid_lost_link, exit == TEAMO_EXIT_DRIVER);
    bpf_program__set_autoload(programs.teamo_send_by_backup, exit == TEAMO_EXIT_STEER);
    bpf_program__set_autoload(programs.teamo_hand_in, exit == TEAMO_EXIT_STEER);
    bpf_program__set_autoload(programs.teamo_learn_device, reading != TEAMO_LINKS_UNSEEN);
    return teamo_forward__load(skeleton.get());
}

} // namespace

ForwardPrograms::ForwardPrograms(std::unique_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}
ForwardPrograms::ForwardPrograms(ForwardPrograms&&) noexcept = default;
ForwardPrograms::~ForwardPrograms() = default;

struct ForwardPrograms::Ahead {
    bool on = false;
    Kind kind{};
    std::future<Result<ForwardPrograms>> next{}; ///< its destructor waits
};

/// Of the one thread that loads.
ForwardPrograms::Ahead& ForwardPrograms::ahead() {
    static Ahead one;
    return one;
}

void ForwardPrograms::load_ahead(bool on) { ahead().on = on; }
void ForwardPrograms::drop_ahead() { ahead().next = {}; }

Result<ForwardPrograms> ForwardPrograms::load(teamo_exit exit, HashKind hash, const teamo_bonding& bonding) {
    const Kind kind{.exit = exit, .hash = hash, .bonding = bonding};
    auto next = std::exchange(ahead().next, {});
    const auto& of = ahead().kind;
    const bool is_wanted = next.valid() && of.exit == exit && of.hash == hash &&
                           std::memcmp(&of.bonding, &bonding, sizeof bonding) == 0;
    auto loaded = is_wanted ? next.get() : load_now(kind);
    if (loaded && ahead().on) {
        ahead().kind = kind;
        ahead().next = std::async(std::launch::async, [kind] { return load_now(kind); });
    }
    return loaded;
}

Result<ForwardPrograms> ForwardPrograms::load_now(const Kind& kind) {
    Skeleton skeleton;
    auto used = TEAMO_LINKS_UNSEEN;
    // The best that this kernel accepts.
    Result<> done;
    for (const auto reading : {TEAMO_LINKS_READ, TEAMO_LINKS_PROBED, TEAMO_LINKS_UNSEEN}) {
        // What names a slave reads bonding's memory as well.
        if (kind.exit == TEAMO_EXIT_STEER && reading == TEAMO_LINKS_UNSEEN) break;
        used = reading;
        int tries = 0;
        do // what the kernel has no memory for is not what it refuses
            done = load_programs("the BPF datapath", [&] {
                return load_forward(skeleton, kind.exit, kind.hash, kind.bonding, reading);
            });
        while (!done && may_load_later(done.error()) && ++tries < 3);
        if (done) break;
    }
    if (!done) return tl::unexpected(std::move(done.error()));
    auto loaded = std::make_unique<Loaded>(*skeleton, kind.exit, used);
    if (loaded->refused != 0) return fail_errno(loaded->refused, "cannot keep a BPF program");
    loaded->entries.emplace(TEAMO_TRY(Entries::open(loaded->buckets.get())));
    return ForwardPrograms(std::move(loaded));
}

int ForwardPrograms::transmit() const { return loaded_->transmit.get(); }
int ForwardPrograms::receive() const { return loaded_->receive.get(); }
int ForwardPrograms::recheck() const { return loaded_->recheck.get(); }
int ForwardPrograms::sift() const { return loaded_->sift.get(); }
int ForwardPrograms::avoid_lost_link() const { return loaded_->avoid_lost_link.get(); }
int ForwardPrograms::send_by_backup() const { return loaded_->send_by_backup.get(); }
int ForwardPrograms::hand_in() const { return loaded_->hand_in.get(); }

bool ForwardPrograms::see_links() const { return loaded_->reading != TEAMO_LINKS_UNSEEN; }

Result<> ForwardPrograms::write_live(const LiveSlots& slots) {
    const teamo_live live{.tx = slots.transmit, .rx = slots.receive, .standby = abi_of(slots.standby)};
    return write(loaded_->live, 0, &live);
}

/// The tables decide alone about a device that cannot be learned. `refused`: those that may be in a moment.
Result<> ForwardPrograms::write_devices(const Tables& now, const Tables& next, bool all, Failures& refused) {
    if (loaded_->reading == TEAMO_LINKS_UNSEEN) return {};
    if (all && loaded_->exit == TEAMO_EXIT_STEER) refused.add(learn_device(TEAMO_NO_SLOT, next.team));
    for (std::uint32_t slot = 1; slot < next.ports.size(); ++slot) {
        const auto mask = bit(Slot{static_cast<std::uint8_t>(slot)});
        const bool learns = all || now.ports[slot] != next.ports[slot];
        if (!learns && (now.waits & mask) == (next.waits & mask) &&
            now.carrier_losses[slot] == next.carrier_losses[slot])
            continue;
        teamo_device device{};
        if (learns) {
            TEAMO_TRY(write(loaded_->devices, slot, &device));
            refused.add(learn_device(slot, next.ports[slot]));
        }
        if (!next.ports[slot]) continue;
        if (bpf_map_lookup_elem(loaded_->devices.get(), &slot, &device) < 0)
            return fail_errno(errno, "cannot read a BPF map");
        device.waits = (next.waits & mask) != 0 ? 1 : 0;
        device.losses = next.carrier_losses[slot];
        TEAMO_TRY(write(loaded_->devices, slot, &device));
    }
    return {};
}

/// Runs the program on the port's device, so that it sees where the kernel keeps it. The programs use no slot
/// without a device: that it is there is noted before, so if it goes meanwhile, and another one gets its
/// index, the program has seen that one, and does not use it.
Result<> ForwardPrograms::learn_device(std::uint32_t slot, IfIndex port) const {
    const auto index = static_cast<std::uint32_t>(port.value);
    if (!port || bpf_map_update_elem(loaded_->there.get(), &slot, &index, BPF_ANY) < 0) {
        if (port && errno != EINVAL) return fail_errno(errno, "cannot write a BPF map"); // EINVAL: it is gone
        if (bpf_map_delete_elem(loaded_->there.get(), &slot) < 0 && errno != ENOENT)
            return fail_errno(errno, "cannot delete an entry of a BPF map");
        return {};
    }
    std::array<std::byte, 64> packet{}; // not sent
    __sk_buff context{};
    context.ifindex = port.value;
    bpf_test_run_opts run{};
    run.sz = sizeof run;
    run.data_in = packet.data();
    run.data_size_in = packet.size();
    run.ctx_in = &context;
    run.ctx_size_in = sizeof context;
    if (bpf_prog_test_run_opts(loaded_->learn_device.get(), &run) == 0 || !is_passing({errno, ""})) return {};
    return fail_errno(errno, "cannot learn where the kernel keeps a device");
}

Result<> ForwardPrograms::write_team(const Tables& tables) {
    teamo_team team{};
    // activebackup needs no mode of its own: only one slot is live.
    const auto mode = tables.mode == TransmitMode::activebackup ? TransmitMode::hash : tables.mode;
    team.mode = static_cast<std::uint32_t>(mode);
    team.hash_fields = tables.hash_fields;
    team.team_ifindex = tables.team.value;
    team.inner_ifindex = tables.inner.value;
    for (std::size_t slot = 0; slot < tables.ports.size(); ++slot)
        team.port_ifindex[slot] = tables.ports[slot].value;
    team.port_protocol = htons(tables.port_protocol);
    return write(loaded_->team, 0, &team);
}

Result<> ForwardPrograms::write_drains(const Tables& now, const Tables& next, bool all) {
    for (std::uint32_t slot = 0; slot < next.drain.size(); ++slot) {
        if (!all && now.drain[slot] == next.drain[slot]) continue;
        const auto nanoseconds = static_cast<std::uint64_t>(next.drain[slot].count());
        TEAMO_TRY(write(loaded_->drains, slot, &nanoseconds));
    }
    return {};
}

Result<> ForwardPrograms::write_cpu_slots(const Tables& now, const Tables& next, bool all) {
    if (!has(next.hash_fields, HashField::cpu)) return {};
    const auto slot_of = [](const Tables& tables, std::uint32_t cpu) {
        return cpu < tables.cpu_slots.size() ? tables.cpu_slots[cpu] : Slot{0};
    };
    const auto cpus = all ? TEAMO_CPUS : std::max(now.cpu_slots.size(), next.cpu_slots.size());
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const auto slot = slot_of(next, cpu);
        if (!all && slot_of(now, cpu) == slot) continue;
        TEAMO_TRY(write(loaded_->cpu_slots, cpu, &slot.value));
    }
    return {};
}

Result<> ForwardPrograms::write_buckets(const Tables& now, const Tables& next, bool all) {
    // Counts the gap from now on: earlier packets were not timed.
    const auto start_gap = [this](std::uint32_t bucket) {
        const auto time = now_in_nanoseconds();
        return write(loaded_->last_sent, bucket, &time);
    };
    for (std::uint32_t bucket = 0; bucket < next.buckets.size(); ++bucket) {
        const bool begins = next.leaving[bucket] && now.leaving[bucket] != next.leaving[bucket];
        if (!all && now.buckets[bucket] == next.buckets[bucket] &&
            now.leaving[bucket] == next.leaving[bucket])
            continue;
        if (begins) TEAMO_TRY(start_gap(bucket));
        const auto entry = (*loaded_->entries)[bucket];
        const auto wanted = abi_of(next.buckets[bucket], next.leaving[bucket]);
        auto waiting = abi_of(now.buckets[bucket], now.leaving[bucket]);
        if (begins || !now.leaving[bucket]) {
            entry = wanted;
        } else if (!entry.compare_exchange_strong(waiting, wanted)) {
            // The program has just moved it. To another port, also back, it has to wait for a gap again.
            const auto left_by = now.buckets[bucket].front();
            const bool waits = left_by != next.buckets[bucket].front();
            if (waits) TEAMO_TRY(start_gap(bucket));
            entry = abi_of(next.buckets[bucket], waits ? left_by : Slot{0});
        }
    }
    return {};
}

bool ForwardPrograms::has_moved(std::uint8_t bucket) const {
    // Without a wait that was applied there is nothing to see yet.
    if (!applied_ || !applied_->leaving[bucket]) return false;
    return (*loaded_->entries)[bucket] == abi_of(applied_->buckets[bucket], Slot{0});
}

Result<std::vector<LearnedAddress>> ForwardPrograms::read_addresses() const {
    std::vector<std::uint64_t> keys(TEAMO_SOURCES);
    std::vector<teamo_source> values(TEAMO_SOURCES);
    std::uint32_t cursor = 0, count = TEAMO_SOURCES;
    // ENOENT: the end of the map.
    if (bpf_map_lookup_batch(loaded_->sources.get(), nullptr, &cursor, keys.data(), values.data(), &count,
                             nullptr) < 0 &&
        errno != ENOENT)
        return fail_errno(errno, "cannot read the addresses that the team sends from");
    // Switches forget an address after five minutes. What comes back comes at once, so an address that is
    // heard later is elsewhere.
    constexpr std::uint64_t known_for = 300'000'000'000, comes_back_for = 500'000'000;
    const auto now = now_in_nanoseconds();
    std::vector<LearnedAddress> list;
    for (std::size_t place = 0; place < count; ++place) {
        const auto key = keys[place];
        if (now - values[place].sent > known_for || values[place].heard > values[place].sent + comes_back_for)
            continue;
        const auto mac = key >> TEAMO_ADDRESS_VLAN;
        const auto vlan = static_cast<std::uint32_t>(key & ((1U << TEAMO_ADDRESS_VLAN) - 1));
        LearnedAddress address{.address = {},
                               .vlan = static_cast<std::uint16_t>(vlan),
                               .bucket =
                                   static_cast<std::uint8_t>(teamo_bucket_of(teamo_hash_source(mac, vlan)))};
        for (std::size_t byte = 0; byte < address.address.bytes.size(); ++byte)
            address.address.bytes[byte] =
                static_cast<std::uint8_t>(mac >> 8 * (address.address.bytes.size() - 1 - byte));
        list.push_back(address);
    }
    return list;
}

Result<BucketCounters> ForwardPrograms::read_bucket(std::uint8_t bucket) {
    return read_bucket_counters(loaded_->bucket_counters.get(), bucket);
}

Result<AllBucketCounters> ForwardPrograms::read_buckets() {
    return read_all_bucket_counters(loaded_->bucket_counters.get());
}

Result<> ForwardPrograms::apply(const Tables& tables) {
    if (applied_ == tables) return {};
    const Tables now = applied_.value_or(Tables{});
    applied_.reset(); // unknown until everything is written; after a failure the next call writes all

    const bool all = now == Tables{};
    Failures refused; // devices that the programs do not use until the next call
    const auto write_one = [&](TableWrite what) -> Result<> {
        switch (what) {
        case TableWrite::stop: return write_live(staying_live(now, tables));
        case TableWrite::drains: return write_drains(now, tables, all);
        case TableWrite::team: return write_team(tables);
        case TableWrite::devices: return write_devices(now, tables, all, refused);
        case TableWrite::cpu_slots: return write_cpu_slots(now, tables, all);
        case TableWrite::buckets: return write_buckets(now, tables, all);
        case TableWrite::start: return write_live(live_slots(tables));
        }
        return {};
    };
    for (const auto what : write_order(now, tables))
        TEAMO_TRY(write_one(what));
    TEAMO_TRY(refused.result());
    applied_ = tables;
    return {};
}

bool ForwardPrograms::has_lost(IfIndex port) const {
    if (loaded_->reading == TEAMO_LINKS_UNSEEN || !applied_) return false;
    for (std::uint32_t slot = 1; slot < applied_->ports.size(); ++slot) {
        std::uint32_t there = 0;
        if (applied_->ports[slot] == port && bpf_map_lookup_elem(loaded_->there.get(), &slot, &there) < 0)
            return true;
    }
    return false;
}

Result<std::array<PortCounters, max_ports + 1>> ForwardPrograms::read_counters() {
    std::array<PortCounters, max_ports + 1> counters{};
    const auto add = [&counters](std::uint32_t slot, std::span<const teamo_counters> each) {
        auto& sum = counters.at(slot);
        for (const auto& cpu : each) {
            sum.tx_packets += cpu.tx_packets;
            sum.tx_bytes += cpu.tx_bytes;
            sum.rx_packets += cpu.rx_packets;
            sum.rx_bytes += cpu.rx_bytes;
            sum.rx_dropped += cpu.rx_dropped;
            sum.rx_left += cpu.rx_left;
        }
    };
    TEAMO_TRY(read_cpu_array<teamo_counters>(loaded_->port_counters.get(),
                                             static_cast<std::uint32_t>(counters.size()), add));
    return counters;
}

} // namespace teamo
