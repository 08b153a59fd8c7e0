// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/frame_filters.h"

#include "kernel/packets/classic_bpf.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

namespace teamo {
namespace {

constexpr std::uint32_t ether_type_at = 12;

/// Our own frames and those of another VLAN. The kernel has taken the tag out of the frame.
void drop_others(ClassicBpf& code, std::optional<std::uint16_t> vlan, ClassicBpf::Label drop) {
    constexpr std::uint32_t vid = 0x0fff;
    code.load(BPF_B, ancillary(SKF_AD_PKTTYPE));
    code.jump_if(BPF_JEQ, PACKET_OUTGOING, drop);
    code.load(BPF_B, ancillary(SKF_AD_VLAN_TAG_PRESENT));
    if (vlan.value_or(0) != 0) {
        code.jump_if(BPF_JEQ, 0, drop);
        code.load(BPF_H, ancillary(SKF_AD_VLAN_TAG));
        code.emit(BPF_ALU | BPF_AND | BPF_K, vid);
        code.jump_unless(BPF_JEQ, *vlan, drop);
        return;
    }
    const auto untagged = code.label();
    code.jump_if(BPF_JEQ, 0, untagged);
    code.load(BPF_H, ancillary(SKF_AD_VLAN_TAG));
    code.jump_if(BPF_JSET, vid, drop);
    code.place(untagged);
}

} // namespace

std::vector<sock_filter> arp_filter(std::optional<std::uint16_t> vlan) {
    ClassicBpf code;
    const auto drop = code.label();
    drop_others(code, vlan, drop);
    code.load(BPF_H, ether_type_at);
    code.jump_unless(BPF_JEQ, ETH_P_ARP, drop);
    return code.finish_filter(longest_probe_answer, drop);
}

std::vector<sock_filter> neighbour_filter() {
    constexpr std::uint32_t next_header_at = 20, type_at = 54, icmpv6 = 58, solicitation = 135,
                            advertisement = 136;
    ClassicBpf code;
    const auto drop = code.label();
    drop_others(code, std::nullopt, drop);
    code.load(BPF_H, ether_type_at);
    code.jump_unless(BPF_JEQ, ETH_P_IPV6, drop);
    code.load(BPF_B, next_header_at);
    code.jump_unless(BPF_JEQ, icmpv6, drop);
    code.load(BPF_B, type_at);
    code.jump_unless(BPF_JGE, solicitation, drop);
    code.jump_if(BPF_JGT, advertisement, drop);
    return code.finish_filter(longest_probe_answer, drop);
}

std::vector<sock_filter> lldp_filter() {
    constexpr std::uint32_t group_begin = 0x0180c200, group_end_at = 4, all = 0xffff;
    ClassicBpf code;
    const auto drop = code.label(), pass = code.label();
    code.drop_own_and_tagged(drop);
    code.load(BPF_H, ether_type_at);
    code.jump_unless(BPF_JEQ, ETH_P_LLDP, drop);
    code.load(BPF_W, 0);
    code.jump_unless(BPF_JEQ, group_begin, drop);
    code.load(BPF_H, group_end_at);
    for (const std::uint32_t last : {0x0eU, 0x03U, 0x00U})
        code.jump_if(BPF_JEQ, last, pass);
    code.jump(drop);
    code.place(pass);
    return code.finish_filter(all, drop);
}

} // namespace teamo
