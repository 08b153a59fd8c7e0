// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/probe_filter.h"

#include "kernel/packets/classic_bpf.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

namespace teamo {
namespace {

constexpr std::uint32_t ether_type_at = 12;

void load(ClassicBpf& code, unsigned size, std::uint32_t at) { code.emit(BPF_LD | size | BPF_ABS, at); }

/// Our own frames and those of another VLAN. The kernel has taken the tag out of the frame.
void drop_others(ClassicBpf& code, std::optional<std::uint16_t> vlan, ClassicBpf::Label drop) {
    constexpr std::uint32_t vid = 0x0fff;
    load(code, BPF_B, ancillary(SKF_AD_PKTTYPE));
    code.jump_if(BPF_JEQ, PACKET_OUTGOING, drop);
    load(code, BPF_B, ancillary(SKF_AD_VLAN_TAG_PRESENT));
    if (vlan.value_or(0) != 0) {
        code.jump_if(BPF_JEQ, 0, drop);
        load(code, BPF_H, ancillary(SKF_AD_VLAN_TAG));
        code.emit(BPF_ALU | BPF_AND | BPF_K, vid);
        code.jump_unless(BPF_JEQ, *vlan, drop);
        return;
    }
    const auto untagged = code.label();
    code.jump_if(BPF_JEQ, 0, untagged);
    load(code, BPF_H, ancillary(SKF_AD_VLAN_TAG));
    code.jump_if(BPF_JSET, vid, drop);
    code.place(untagged);
}

std::vector<sock_filter> finish(ClassicBpf& code, ClassicBpf::Label drop) {
    code.emit(BPF_RET | BPF_K, longest_probe_answer);
    code.place(drop);
    code.emit(BPF_RET | BPF_K, 0);
    return code.finish();
}

} // namespace

std::vector<sock_filter> arp_filter(std::optional<std::uint16_t> vlan) {
    ClassicBpf code;
    const auto drop = code.label();
    drop_others(code, vlan, drop);
    load(code, BPF_H, ether_type_at);
    code.jump_unless(BPF_JEQ, ETH_P_ARP, drop);
    return finish(code, drop);
}

std::vector<sock_filter> neighbour_filter() {
    constexpr std::uint32_t next_header_at = 20, type_at = 54, icmpv6 = 58, solicitation = 135,
                            advertisement = 136;
    ClassicBpf code;
    const auto drop = code.label();
    drop_others(code, std::nullopt, drop);
    load(code, BPF_H, ether_type_at);
    code.jump_unless(BPF_JEQ, ETH_P_IPV6, drop);
    load(code, BPF_B, next_header_at);
    code.jump_unless(BPF_JEQ, icmpv6, drop);
    load(code, BPF_B, type_at);
    code.jump_unless(BPF_JGE, solicitation, drop);
    code.jump_if(BPF_JGT, advertisement, drop);
    return finish(code, drop);
}

} // namespace teamo
