// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/traffic_control.h"

#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>

#include <algorithm>
#include <array>
#include <limits>

namespace teamo {
namespace {

bpf_tc_hook hook_of(IfIndex device, TcHook point) {
    bpf_tc_hook hook{};
    hook.sz = sizeof hook;
    hook.ifindex = static_cast<int>(device.value);
    hook.attach_point = point == TcHook::ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS;
    return hook;
}

bpf_tc_opts place_of(std::uint32_t priority, std::uint32_t handle) {
    bpf_tc_opts options{};
    options.sz = sizeof options;
    options.handle = handle;
    options.priority = priority;
    return options;
}

NlMessage tc_message(int type, int flags, IfIndex device, std::uint32_t parent) {
    tcmsg header{};
    header.tcm_ifindex = static_cast<int>(device.value);
    header.tcm_parent = parent;
    return make_message(type, NLM_F_REQUEST | flags, header);
}

/// The attribute of the actions in TCA_OPTIONS; 0: a kind that we do not know.
int actions_attribute(std::string_view kind) {
    constexpr std::array<std::pair<std::string_view, int>, 7> known{{{"u32", TCA_U32_ACT},
                                                                     {"matchall", TCA_MATCHALL_ACT},
                                                                     {"flower", TCA_FLOWER_ACT},
                                                                     {"basic", TCA_BASIC_ACT},
                                                                     {"fw", TCA_FW_ACT},
                                                                     {"flow", TCA_FLOW_ACT},
                                                                     {"bpf", TCA_BPF_ACT}}};
    for (const auto& [name, attribute] : known)
        if (name == kind) return attribute;
    return 0;
}

/// struct tc_gen of all actions: index, capab, action; tc_police has no capab, and another attribute.
int control_of(const std::string& kind, const nlattr* options) {
    if (kind == "police")
        return static_cast<int>(
            struct_in<std::array<std::uint32_t, 2>>(attribute_in(options, TCA_POLICE_TBF))[1]);
    constexpr int parameters = 2; // TCA_*_PARMS
    const auto* found = attribute_in(options, parameters);
    if (found == nullptr) return TC_ACT_OK;
    return static_cast<int>(struct_in<std::array<std::uint32_t, 3>>(found)[2]);
}

/// The last action decides, if the ones before it continue with it. A list that ends with "pipe" ends the
/// classification as "ok" does (net/sched/act_api.c: tcf_action_exec).
TcVerdict verdict_of(const nlattr* actions) {
    for (int place = 1; place <= TCA_ACT_MAX_PRIO; ++place) {
        const auto* action = attribute_in(actions, place);
        if (action == nullptr) break;
        const auto kind = text_in(attribute_in(action, TCA_ACT_KIND));
        switch (control_of(kind, attribute_in(action, TCA_ACT_OPTIONS))) {
        case TC_ACT_UNSPEC: return TcVerdict::goes_on;
        case TC_ACT_PIPE: break;
        case TC_ACT_STOLEN:
        case TC_ACT_QUEUED:
        case TC_ACT_REDIRECT:
        case TC_ACT_TRAP: return TcVerdict::takes;
        default: return TcVerdict::ends;
        }
    }
    return TcVerdict::ends;
}

/// The device was removed, or has no such hook.
bool has_no_hook(int error) { return error == ENOENT || error == EINVAL || error == ENODEV; }

} // namespace

Result<std::vector<TcFilter>> read_filters(NetlinkSocket& socket, IfIndex device, TcHook hook) {
    const auto minor = hook == TcHook::ingress ? TC_H_MIN_INGRESS : TC_H_MIN_EGRESS;
    const auto make = [device, minor] {
        return tc_message(RTM_GETTFILTER, NLM_F_DUMP, device, TC_H_MAKE(TC_H_CLSACT, minor));
    };
    auto filters = socket.list(make, parse_tc_filter);
    if (!filters && has_no_hook(filters.error().number)) return std::vector<TcFilter>();
    return within("tc filters", std::move(filters));
}

Result<std::string> read_hook_qdisc(NetlinkSocket& socket, IfIndex device) {
    std::string kind;
    // With a parent the kernel returns the qdisc only if the request has NLM_F_ECHO, and nothing if it was
    // removed (net/sched/sch_api.c: tc_get_qdisc, qdisc_notify).
    auto read = socket.dump(
        [device] { return tc_message(RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, device, TC_H_CLSACT); },
        [&kind](const nlmsghdr* message) {
            if (header_in<tcmsg>(message, RTM_NEWQDISC) != nullptr)
                kind = text_in(attribute_in<tcmsg>(message, TCA_KIND));
        },
        [] {});
    if (!read && !has_no_hook(read.error().number)) return within("qdiscs", std::move(read.error()));
    return kind;
}

Result<> create_clsact(IfIndex device) {
    auto hook = hook_of(device, TcHook::ingress);
    const int created = bpf_tc_hook_create(&hook);
    if (created == -EEXIST) return fail(ESTALE, "another program has just added a clsact or ingress qdisc");
    if (created < 0) return fail_errno(-created, "cannot create a clsact qdisc");
    return {};
}

Result<> remove_hook_qdisc(NetlinkSocket& socket, IfIndex device) {
    // Of either kind: bpf_tc_hook_destroy() removes clsact alone.
    auto removed = socket.request(tc_message(RTM_DELQDISC, NLM_F_ACK, device, TC_H_CLSACT));
    if (!removed && has_no_hook(removed.error().number)) return {};
    return within("qdiscs", std::move(removed));
}

Result<> attach_filter(IfIndex device, TcHook hook, std::uint32_t priority, std::uint32_t handle,
                       int program) {
    auto on = hook_of(device, hook);
    auto place = place_of(priority, handle);
    place.prog_fd = program;
    // A replace swaps the program under RCU (net/sched/cls_bpf.c): no packet passes without a program.
    place.flags = BPF_TC_F_REPLACE;
    if (const int error = bpf_tc_attach(&on, &place); error < 0) return fail_errno(-error, "tc filter");
    return {};
}

Result<> detach_filter(IfIndex device, TcHook hook, std::uint32_t priority, std::uint32_t handle) {
    auto on = hook_of(device, hook);
    auto place = place_of(priority, handle);
    if (const int error = bpf_tc_detach(&on, &place); error < 0 && !has_no_hook(-error))
        return fail_errno(-error, "tc filter");
    return {};
}

Result<> add_shaper(IfIndex device, const Shaper& shaper) {
    auto message = tc_message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, device, TC_H_ROOT);
    nla_put_string(message.get(), TCA_KIND, "tbf");
    tc_tbf_qopt parameters{};
    parameters.rate.linklayer = TC_LINKLAYER_ETHERNET; // else the kernel wants a table of rates
    parameters.rate.rate = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(shaper.rate, std::numeric_limits<std::uint32_t>::max()));
    parameters.limit = shaper.limit;
    {
        const Nest options(message.get(), TCA_OPTIONS);
        nla_put(message.get(), TCA_TBF_PARMS, sizeof parameters, &parameters);
        nla_put_u32(message.get(), TCA_TBF_BURST, shaper.burst);
        if (shaper.rate > std::numeric_limits<std::uint32_t>::max())
            nla_put_u64(message.get(), TCA_TBF_RATE64, shaper.rate);
    }
    auto socket = TEAMO_TRY(NetlinkSocket::open(NETLINK_ROUTE));
    return within("a token bucket (tbf)", socket.request(std::move(message)));
}

std::optional<TcFilter> parse_tc_filter(const nlmsghdr* message) {
    const auto* header = header_in<tcmsg>(message, RTM_NEWTFILTER);
    // Frames begin in chain 0; a filter of another chain sees only what an action sends there.
    if (header == nullptr || header->tcm_handle == 0 ||
        number_in(attribute_in<tcmsg>(message, TCA_CHAIN)).value_or(0) != 0)
        return std::nullopt;
    const auto* options = attribute_in<tcmsg>(message, TCA_OPTIONS);
    TcFilter filter{.priority = TC_H_MAJ(header->tcm_info) >> 16,
                    .handle = header->tcm_handle,
                    .kind = text_in(attribute_in<tcmsg>(message, TCA_KIND))};
    if (const int attribute = actions_attribute(filter.kind); attribute != 0)
        if (const auto* actions = attribute_in(options, attribute); actions != nullptr)
            filter.verdict = verdict_of(actions);
    // A hash table of u32, which is no filter (net/sched/cls_u32.c: u32_dump).
    if (filter.kind == "u32" && attribute_in(options, TCA_U32_SEL) == nullptr) return std::nullopt;
    if (filter.kind != "bpf") return filter;
    filter.name = text_in(attribute_in(options, TCA_BPF_NAME));
    filter.id = number_in(attribute_in(options, TCA_BPF_ID)).value_or(0);
    return filter;
}

std::optional<IfIndex> device_of_tc_event(const nlmsghdr* message) {
    const auto type = message->nlmsg_type;
    const auto* header = header_in<tcmsg>(message, type);
    const bool is_tc =
        type == RTM_NEWQDISC || type == RTM_DELQDISC || type == RTM_NEWTFILTER || type == RTM_DELTFILTER;
    if (!is_tc || header == nullptr) return std::nullopt;
    return IfIndex{static_cast<std::uint32_t>(header->tcm_ifindex)};
}

} // namespace teamo
