// SPDX-License-Identifier: LGPL-2.1-or-later
//
// For the tests of the guard: its program, and frames of a neighbour.
#pragma once

#include "base/handle.h"
#include "bpf/programs.h"
#include "datapath/guard_program.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet.h"

#include <gmock/gmock.h>

#include <bpf/bpf.h>

namespace teamo::test {

inline const MacAddress ours = mac("02:00:00:00:00:01"), neighbour = mac("02:00:00:00:00:02"),
                        all = broadcast_mac;

struct Guard : testing::Test {
    GuardProgram program = std::move(*GuardProgram::load());
    GuardTables tables{
        .mode = GuardMode::full, .addresses = {*parse_ip("10.0.0.1"), *parse_ip("fd00::1")}, .macs = {ours}};

    Guard() {
        EXPECT_TRUE(program.drop_until(Clock::now() + std::chrono::hours(1)));
        EXPECT_TRUE(passes(arp_request(neighbour, "10.0.0.2", "10.0.0.1"))); // known from now on
    }
    bool passes(const Bytes& frame) {
        const auto written = program.apply(tables);
        if (!written) throw std::runtime_error(written.error().text);
        return passes_now(frame);
    }
    bool passes_now(const Bytes& frame) const { // by the tables that the program has
        LIBBPF_OPTS(bpf_test_run_opts, options);
        options.data_in = frame.data();
        options.data_size_in = static_cast<__u32>(frame.size());
        if (bpf_prog_test_run_opts(program.program(), &options) < 0)
            throw std::runtime_error("BPF_PROG_TEST_RUN");
        EXPECT_TRUE(static_cast<int>(options.retval) == passed || options.retval == dropped)
            << options.retval;
        return static_cast<int>(options.retval) == passed;
    }
    unsigned passing(unsigned times, const Bytes& frame) {
        unsigned came = 0;
        for (unsigned time = 0; time < times; ++time)
            came += passes(frame) ? 1 : 0;
        return came;
    }
    UniqueFd map(std::string_view name) const {
        std::array<__u32, 32> maps{};
        bpf_prog_info info{};
        info.nr_map_ids = maps.size();
        info.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
        __u32 size = sizeof info;
        if (bpf_obj_get_info_by_fd(program.program(), &info, &size) < 0)
            throw std::runtime_error("BPF_OBJ_GET_INFO_BY_FD");
        for (const auto id : std::span(maps).first(info.nr_map_ids)) {
            UniqueFd map(bpf_map_get_fd_by_id(id));
            bpf_map_info of_map{};
            size = sizeof of_map;
            if (bpf_obj_get_info_by_fd(map.get(), &of_map, &size) == 0 && name == of_map.name) return map;
        }
        throw std::runtime_error("no such map");
    }
    void forget_told() const { // as if the stack was told long ago
        const auto told = map("guard_told");
        teamo_guard_neighbour key{};
        for (void* last = nullptr; bpf_map_get_next_key(told.get(), last, &key) == 0; last = &key) {
            teamo_guard_told value{};
            EXPECT_EQ(0, bpf_map_lookup_elem(told.get(), &key, &value));
            value.due = 1;
            EXPECT_EQ(0, bpf_map_update_elem(told.get(), &key, &value, BPF_ANY));
        }
    }
    void forget_repeated() const { // as if a second passed
        const auto repeated = map("guard_repeated");
        const teamo_guard_repeated none{};
        for (__u32 slot = 0; slot < TEAMO_GUARD_REPEATED; ++slot)
            EXPECT_EQ(0, bpf_map_update_elem(repeated.get(), &slot, &none, BPF_ANY));
    }
    std::uint64_t count(teamo_guard_reason reason) const { return program.read_counters()->at(reason); }
};

inline Bytes asks_for(const char* target, const char* from = "10.0.0.2") {
    return arp_request(neighbour, from, target);
}
inline Bytes to(const MacAddress& address) {
    return PacketBuilder(address, neighbour).ipv4({}).udp(1000, 2000).bytes();
}
inline Bytes udp_to_all(std::uint16_t from, std::uint16_t to) {
    return PacketBuilder(all, neighbour).ipv4({}).udp(from, to).bytes();
}

} // namespace teamo::test
