// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/traffic_control.h"

#include "kernel/netlink/netlink_socket.h"

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>

namespace teamo {
namespace {

// tc(8) numbers filters without a priority from 49152 down, so ours runs last: filters and counters of other
// programs see the port's packets first.
constexpr std::uint32_t our_priority = 50000, guard_priority = 49900;
constexpr std::uint32_t our_handle = 0x7ea0;
// The filter's name is the program's name, cut to 15 letters by the kernel, and ":[id]" from libbpf.
constexpr std::string_view our_names = "teamo_";

bpf_tc_hook hook_of(IfIndex device, bpf_tc_attach_point point) {
    bpf_tc_hook hook{};
    hook.sz = sizeof hook;
    hook.ifindex = static_cast<int>(device.value);
    hook.attach_point = point;
    return hook;
}

bpf_tc_opts our_place(std::uint32_t priority) {
    bpf_tc_opts options{};
    options.sz = sizeof options;
    options.handle = our_handle;
    options.priority = priority;
    return options;
}

NlMessage tc_message(int type, int flags, IfIndex device, std::uint32_t parent) {
    tcmsg header{};
    header.tcm_ifindex = static_cast<int>(device.value);
    header.tcm_parent = parent;
    return make_message(type, NLM_F_REQUEST | flags, header);
}

/// The filters of one direction of clsact; empty if there is no clsact.
Result<std::vector<TcFilter>> read_filters(IfIndex device, std::uint32_t minor) {
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    const auto make = [device, minor] {
        return tc_message(RTM_GETTFILTER, NLM_F_DUMP, device, TC_H_MAKE(TC_H_CLSACT, minor));
    };
    auto filters = socket.list(make, parse_tc_filter);
    const int error = filters ? 0 : filters.error().number;
    if (error == ENOENT || error == EINVAL || error == ENODEV) return std::vector<TcFilter>();
    return within("tc filters", std::move(filters));
}

bool has_name_of_ours(const TcFilter& filter) { return filter.name.starts_with(our_names); }
bool has_our_place(const TcFilter& filter, std::uint32_t priority) {
    return filter.priority == priority && filter.handle == our_handle;
}
bool is_ours(const TcFilter& filter) {
    return (has_our_place(filter, our_priority) || has_our_place(filter, guard_priority)) &&
           has_name_of_ours(filter);
}

Result<> attach(IfIndex device, bpf_tc_attach_point point, std::uint32_t minor, std::uint32_t priority,
                int program) {
    auto hook = hook_of(device, point);
    const int created = bpf_tc_hook_create(&hook);
    if (created < 0 && created != -EEXIST) return fail_errno(-created, "cannot create a clsact qdisc");

    const auto filters = TEAMO_TRY(read_filters(device, minor));
    for (const auto& filter : filters)
        if (has_our_place(filter, priority) && !has_name_of_ours(filter))
            return fail(
                EEXIST,
                fmt::format("another program's tc filter ({}) has priority {} handle {:#x}; remove it",
                            filter.name, priority, our_handle));
    auto place = our_place(priority);
    place.prog_fd = program;
    // A replace swaps the program under RCU (net/sched/cls_bpf.c): no packet passes without a program.
    place.flags = BPF_TC_F_REPLACE;
    if (const int error = bpf_tc_attach(&hook, &place); error < 0) return fail_errno(-error, "tc filter");
    return {};
}

Result<> detach_filters(IfIndex device, bpf_tc_attach_point point, const std::vector<TcFilter>& filters,
                        std::uint32_t priority) {
    const auto is_there = [priority](const TcFilter& filter) {
        return has_our_place(filter, priority) && has_name_of_ours(filter);
    };
    if (std::ranges::none_of(filters, is_there)) return {};
    auto hook = hook_of(device, point);
    auto place = our_place(priority);
    if (const int error = bpf_tc_detach(&hook, &place); error < 0 && error != -ENOENT)
        return fail_errno(-error, "tc filter");
    return {};
}

} // namespace

std::optional<TcFilter> parse_tc_filter(const nlmsghdr* message) {
    const auto* header = header_in<tcmsg>(message, RTM_NEWTFILTER);
    if (header == nullptr || header->tcm_handle == 0) return std::nullopt;
    return TcFilter{.priority = TC_H_MAJ(header->tcm_info) >> 16,
                    .handle = header->tcm_handle,
                    .name = text_in(attribute_in(attribute_in<tcmsg>(message, TCA_OPTIONS), TCA_BPF_NAME))};
}

Result<bool> lacks_clsact(IfIndex device) {
    // A filter shows that it is there. Asked for the qdisc itself, the kernel tells all who listen, as of a
    // change (net/sched/sch_api.c: qdisc_notify).
    for (const auto minor : {TC_H_MIN_INGRESS, TC_H_MIN_EGRESS})
        if (!TEAMO_TRY(read_filters(device, minor)).empty()) return false;
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    bool there = false;
    // With a parent the kernel returns the qdisc only if the request has NLM_F_ECHO, and nothing if it was
    // removed (net/sched/sch_api.c: tc_get_qdisc, qdisc_notify).
    auto read = socket.dump(
        [device] { return tc_message(RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, device, TC_H_CLSACT); },
        [&there](const nlmsghdr* message) { there = there || message->nlmsg_type == RTM_NEWQDISC; }, [] {});
    if (!read && read.error().number != ENOENT) return within("qdiscs", std::move(read.error()));
    return !there;
}

Result<> attach_ingress(IfIndex device, int program) {
    return attach(device, BPF_TC_INGRESS, TC_H_MIN_INGRESS, our_priority, program);
}

Result<> attach_egress(IfIndex device, int program) {
    return attach(device, BPF_TC_EGRESS, TC_H_MIN_EGRESS, our_priority, program);
}

Result<> attach_guard(IfIndex device, int program) {
    return attach(device, BPF_TC_INGRESS, TC_H_MIN_INGRESS, guard_priority, program);
}

Result<> detach_guard(IfIndex device) {
    const auto filters = TEAMO_TRY(read_filters(device, TC_H_MIN_INGRESS));
    return detach_filters(device, BPF_TC_INGRESS, filters, guard_priority);
}

Result<> detach(IfIndex device, bool remove_clsact) {
    bool others = false;
    for (const auto& [point, minor] :
         {std::pair{BPF_TC_INGRESS, TC_H_MIN_INGRESS}, std::pair{BPF_TC_EGRESS, TC_H_MIN_EGRESS}}) {
        const auto filters = TEAMO_TRY(read_filters(device, minor));
        others = others || !std::ranges::all_of(filters, is_ours);
        for (const auto priority : {guard_priority, our_priority})
            TEAMO_TRY(detach_filters(device, point, filters, priority));
    }
    if (!remove_clsact || others) return {};
    // Removed by somebody else: the kernel then has a placeholder there, and answers EINVAL.
    if (TEAMO_TRY(lacks_clsact(device))) return {};
    auto qdisc = hook_of(device, static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS));
    if (const int error = bpf_tc_hook_destroy(&qdisc); error < 0 && error != -ENOENT)
        return fail_errno(-error, "clsact qdisc");
    return {};
}

} // namespace teamo
