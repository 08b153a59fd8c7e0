// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/bpf_datapath.h"

#include "base/handle.h"
#include "datapath/bpf/abi.h"
#include "datapath/netkit.h"
#include "datapath/pair_device.h"
#include "forward.skel.h"
#include "kernel/traffic_control.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

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
static_assert(static_cast<unsigned>(TransmitMode::broadcast) == TEAMO_MODE_BROADCAST);
static_assert(bucket_count == TEAMO_BUCKETS && max_ports + 1 == TEAMO_SLOTS);

using Skeleton = Handle<teamo_forward, teamo_forward__destroy>;

/// libbpf's own words go nowhere: what failed comes back as errno, and is said by who called.
int say_nothing(libbpf_print_level /*level*/, const char* /*format*/, va_list /*arguments*/) { return 0; }

Result<> write(int map, std::uint32_t key, const void* value) {
    if (bpf_map_update_elem(map, &key, value, BPF_ANY) < 0) return fail_errno(errno, "a BPF map");
    return {};
}

teamo_bucket abi_of(const Preference& preference) {
    teamo_bucket bucket{};
    for (std::size_t place = 0; place < preference.size(); ++place)
        bucket.slot[place] = preference[place].value;
    return bucket;
}

} // namespace

struct BpfDatapath::Programs {
    Skeleton skeleton;
    int team() const { return bpf_map__fd(skeleton->maps.teamo_team); }
    int live() const { return bpf_map__fd(skeleton->maps.teamo_live); }
    int buckets() const { return bpf_map__fd(skeleton->maps.teamo_buckets); }
    int counters() const { return bpf_map__fd(skeleton->maps.teamo_port_counters); }
    int transmit() const { return bpf_program__fd(skeleton->progs.teamo_transmit); }
    int receive() const { return bpf_program__fd(skeleton->progs.teamo_receive); }
};

BpfDatapath::BpfDatapath(std::unique_ptr<Programs> programs) : programs_(std::move(programs)) {}
BpfDatapath::~BpfDatapath() = default;

Result<std::unique_ptr<BpfDatapath>> BpfDatapath::load() {
    libbpf_set_print(say_nothing);
    auto programs = std::make_unique<Programs>();
    programs->skeleton.reset(teamo_forward__open());
    if (!programs->skeleton) return fail_errno(errno, "the BPF datapath cannot be opened");
    if (const int error = teamo_forward__load(programs->skeleton.get()); error < 0)
        return fail_errno(-error, "the kernel does not load the BPF datapath (5.15 or later is needed)");
    return std::unique_ptr<BpfDatapath>(new BpfDatapath(std::move(programs)));
}

Result<> BpfDatapath::write_live(SlotSet transmit, SlotSet receive) {
    const teamo_live live{.tx = transmit, .rx = receive};
    return write(programs_->live(), 0, &live);
}

Result<> BpfDatapath::write_team(const Tables& tables) {
    teamo_team team{};
    // One live slot needs no mode of its own: there is nothing to choose.
    const auto mode = tables.mode == TransmitMode::activebackup ? TransmitMode::hash : tables.mode;
    team.mode = static_cast<std::uint32_t>(mode);
    team.hash_fields = tables.hash_fields;
    team.team_ifindex = tables.team.value;
    team.inner_ifindex = tables.inner.value;
    for (std::size_t slot = 0; slot < tables.ports.size(); ++slot)
        team.port_ifindex[slot] = tables.ports[slot].value;
    return write(programs_->team(), 0, &team);
}

Result<> BpfDatapath::write_buckets(const Buckets& now, const Buckets& next, bool all) {
    for (std::uint32_t bucket = 0; bucket < next.size(); ++bucket) {
        if (!all && now[bucket] == next[bucket]) continue;
        const auto value = abi_of(next[bucket]);
        if (auto done = write(programs_->buckets(), bucket, &value); !done) return done;
    }
    return {};
}

Result<> BpfDatapath::apply(const Tables& tables) {
    if (applied_ == tables) return {};
    const Tables now = applied_.value_or(Tables{});
    applied_.reset(); // unknown until all is written; the next call writes everything

    const bool same_ports = now.ports == tables.ports && now.buckets == tables.buckets;
    // A slot that gets another device must not carry while it does.
    SlotSet steady = 0;
    for (std::uint8_t slot = 1; slot <= max_ports; ++slot)
        if (now.ports[slot] == tables.ports[slot]) steady |= bit(Slot{slot});
    const SlotSet transmit = now.transmit & tables.transmit & steady,
                  receive = now.receive & tables.receive & steady;
    if (!same_ports && (transmit != now.transmit || receive != now.receive))
        if (auto done = write_live(transmit, receive); !done) return done;

    Tables before = now, after = tables;
    before.transmit = after.transmit = before.receive = after.receive = 0;
    before.buckets = after.buckets = Buckets{};
    if (before != after)
        if (auto done = write_team(tables); !done) return done;
    if (auto done = write_buckets(now.buckets, tables.buckets, now == Tables{}); !done) return done;
    if (auto done = write_live(tables.transmit, tables.receive); !done) return done;
    applied_ = tables;
    return {};
}

Result<TeamDevice> BpfDatapath::create_device(LinkControl& links, const std::string& name,
                                              const MacAddress& address) {
    return create_pair_device(links, name, address);
}

Result<std::optional<TeamDevice>> BpfDatapath::find_device(const Links& links, const std::string& name,
                                                           bool /*take_over*/) const {
    return find_pair_device(links, name);
}

Result<> BpfDatapath::attach_team(const TeamDevice& device, const Tables& tables) {
    if (auto applied = apply(tables); !applied) return applied;
    if (device.kind == "netkit") return attach_netkit(device.team, programs_->transmit());
    auto attached = attach_ingress(device.inner, programs_->transmit());
    if (!attached) return tl::unexpected(attached.error());
    return {};
}

Result<bool> BpfDatapath::attach_port(IfIndex port) { return attach_ingress(port, programs_->receive()); }

Result<> BpfDatapath::detach_port(IfIndex port, bool made) { return detach_ingress(port, made); }

Result<std::array<PortCounters, max_ports + 1>> BpfDatapath::read_counters() {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "the number of CPUs");
    std::vector<teamo_counters> each(static_cast<std::size_t>(cpus));
    std::array<PortCounters, max_ports + 1> counters{};
    for (std::uint32_t slot = 0; slot < counters.size(); ++slot) {
        if (bpf_map_lookup_elem(programs_->counters(), &slot, each.data()) < 0)
            return fail_errno(errno, "a BPF map");
        for (const auto& cpu : each) {
            counters[slot].tx_packets += cpu.tx_packets;
            counters[slot].tx_bytes += cpu.tx_bytes;
            counters[slot].rx_packets += cpu.rx_packets;
            counters[slot].rx_bytes += cpu.rx_bytes;
            counters[slot].rx_dropped += cpu.rx_dropped;
        }
    }
    return counters;
}

} // namespace teamo
