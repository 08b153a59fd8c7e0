// SPDX-License-Identifier: LGPL-2.1-or-later
#include "programs.h"
#include "base/result.h"

#include "forward.skel.h"

#include <bpf/bpf.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace teamo::test {

namespace {

void require(int result, const char* what) {
    if (result < 0) throw std::runtime_error(std::string(what) + ": " + errno_text(-result));
}

template <class Value>
void put(const bpf_map* map, std::uint32_t key, const Value& value) {
    require(bpf_map__update_elem(map, &key, sizeof key, &value, sizeof value, BPF_ANY), bpf_map__name(map));
}

template <class Counters>
std::vector<Counters> per_cpu(const bpf_map* map, std::uint32_t place) {
    std::vector<Counters> counters(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    require(bpf_map__lookup_elem(map, &place, sizeof place, counters.data(),
                                 counters.size() * sizeof counters[0], 0),
            "counters");
    return counters;
}

void add(teamo_counters& sum, const teamo_counters& one) {
    sum.tx_packets += one.tx_packets;
    sum.tx_bytes += one.tx_bytes;
    sum.rx_packets += one.rx_packets;
    sum.rx_bytes += one.rx_bytes;
    sum.rx_dropped += one.rx_dropped;
    sum.rx_left += one.rx_left;
}

teamo_bucket from_slot(std::uint32_t first) {
    teamo_bucket order{};
    for (std::uint32_t i = 0; i < 8; i++)
        order.slot[i] = static_cast<std::uint8_t>((first - 1 + i) % 8 + 1);
    return order;
}

} // namespace

Programs::Programs(teamo_link_reading reading, bool by_source)
    : skeleton_(teamo_forward::open(), teamo_forward::destroy) {
    if (!skeleton_) throw std::runtime_error("the programs cannot be opened");
    skeleton_->rodata->teamo_link_reading = reading;
    skeleton_->rodata->teamo_by_source = by_source ? 1 : 0;
    if (teamo_forward::load(skeleton_.get()) < 0)
        throw std::runtime_error("the programs do not load: is this root?");
    team = {.mode = TEAMO_MODE_HASH,
            .hash_fields = by_source ? TEAMO_HASH_SOURCE : TEAMO_HASH_ETH,
            .team_ifindex = 0,
            .inner_ifindex = 2000,
            .port_ifindex = {},
            .port_protocol = 0};
    for (std::uint32_t slot = 1; slot < TEAMO_SLOTS; slot++)
        team.port_ifindex[slot] = 1000 + slot;
    live = {.tx = all_slots, .rx = all_slots, .standby = 0};
    prefer([](std::uint32_t bucket) { return from_slot(bucket / 32 + 1); });
}

Programs::~Programs() = default;

void Programs::prefer(const std::function<teamo_bucket(std::uint32_t)>& order) {
    for (std::uint32_t bucket = 0; bucket < TEAMO_BUCKETS; bucket++)
        put(skeleton_->maps.teamo_buckets, bucket, order(bucket));
}

int Programs::transmit_program() const { return bpf_program__fd(skeleton_->progs.teamo_transmit); }
int Programs::recheck_program() const { return bpf_program__fd(skeleton_->progs.teamo_recheck); }
int Programs::receive_program() const { return bpf_program__fd(skeleton_->progs.teamo_receive); }

void Programs::write_maps() {
    put(skeleton_->maps.teamo_team, 0, team);
    put(skeleton_->maps.teamo_live, 0, live);
    const std::vector<teamo_counters> none(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    for (std::uint32_t slot = 0; slot < TEAMO_SLOTS; slot++)
        require(bpf_map__update_elem(skeleton_->maps.teamo_port_counters, &slot, sizeof slot, none.data(),
                                     none.size() * sizeof none[0], BPF_ANY),
                "counters");
}

teamo_counters Programs::counters_of(std::uint32_t slot) const {
    teamo_counters sum{};
    for (const auto& one : per_cpu<teamo_counters>(skeleton_->maps.teamo_port_counters, slot))
        add(sum, one);
    return sum;
}

teamo_bucket_counters Programs::bucket_counters_of(std::uint32_t bucket) const {
    teamo_bucket_counters sum{};
    for (const auto& one : per_cpu<teamo_bucket_counters>(skeleton_->maps.teamo_bucket_counters, bucket)) {
        sum.bytes += one.bytes;
        sum.packets += one.packets;
        sum.gso_bytes += one.gso_bytes;
        sum.tcp_segments += one.tcp_segments;
        sum.tcp_again += one.tcp_again;
    }
    return sum;
}

void Programs::set_drain(std::uint32_t slot, std::uint64_t nanoseconds) {
    put(skeleton_->maps.teamo_drains, slot, nanoseconds);
}

void Programs::set_cpu_slot(std::uint32_t cpu, std::uint8_t slot) {
    put(skeleton_->maps.teamo_cpu_slots, cpu, slot);
}

void Programs::learn_device(std::uint32_t slot) {
    put(skeleton_->maps.teamo_there, slot, team.port_ifindex[slot]);
    const auto program = bpf_program__fd(skeleton_->progs.teamo_learn_device);
    const auto learned = run(program, Bytes(64), team.port_ifindex[slot], 0, 1).action;
    if (learned != static_cast<int>(slot)) throw std::runtime_error("the program has not learned the device");
}

void Programs::set_losses(std::uint32_t slot, std::uint32_t losses) {
    teamo_device device{};
    require(
        bpf_map__lookup_elem(skeleton_->maps.teamo_devices, &slot, sizeof slot, &device, sizeof device, 0),
        "teamo_devices");
    device.waits = 1;
    device.losses = losses;
    put(skeleton_->maps.teamo_devices, slot, device);
}

void Programs::set_last_sent(std::uint64_t nanoseconds) {
    for (std::uint32_t bucket = 0; bucket < TEAMO_BUCKETS; bucket++)
        put(skeleton_->maps.teamo_last_sent, bucket, nanoseconds);
}

Verdict Programs::run(int program, const Bytes& packet, std::uint32_t device, std::uint32_t mark,
                      int repeat) {
    write_maps();
    __sk_buff context{};
    context.ifindex = device;
    context.ingress_ifindex = device;
    context.mark = mark;
    context.gso_size = gso_size;
    LIBBPF_OPTS(bpf_test_run_opts, options);
    options.data_in = packet.data();
    options.data_size_in = static_cast<__u32>(packet.size());
    options.ctx_in = &context;
    options.ctx_size_in = sizeof context;
    options.repeat = repeat;
    require(bpf_prog_test_run_opts(program, &options), "BPF_PROG_TEST_RUN");

    Verdict verdict{.action = static_cast<int>(options.retval), .nanoseconds = options.duration};
    for (std::uint32_t slot = 0; slot < TEAMO_SLOTS; slot++) {
        const auto here = counters_of(slot);
        if (here.tx_packets + here.rx_packets + here.rx_dropped == 0) continue;
        verdict.slot = slot;
        verdict.slots |= 1U << slot;
        add(verdict.counters, here);
    }
    return verdict;
}

Verdict Programs::transmit(const Bytes& packet, int repeat) {
    return run(transmit_program(), packet, 0, 0, repeat);
}

Verdict Programs::receive(const Bytes& packet, std::uint32_t device) {
    return run(receive_program(), packet, device, 0, 1);
}

std::uint32_t Programs::bucket_by(const std::function<Verdict()>& run, std::uint32_t hash_fields) {
    team.mode = TEAMO_MODE_HASH;
    team.hash_fields = hash_fields;
    live.tx = all_slots;
    std::uint32_t bucket = 0;
    for (const std::uint32_t place : {1U, 8U, 64U}) {
        prefer([=](std::uint32_t b) { return from_slot(b / place % 8 + 1); });
        bucket += (run().slot - 1) * place;
    }
    return bucket;
}

std::uint32_t Programs::bucket_of(const Bytes& packet, std::uint32_t hash_fields) {
    return bucket_by([&] { return transmit(packet); }, hash_fields);
}

} // namespace teamo::test
