// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/lldp_filter.h"

#include "kernel/packets/classic_bpf.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

namespace teamo {

std::vector<sock_filter> lldp_filter() {
    constexpr std::uint32_t group_begin = 0x0180c200, group_end_at = 4, type_at = 12, all = 0xffff;
    ClassicBpf code;
    const auto drop = code.label(), pass = code.label();
    code.emit(BPF_LD | BPF_B | BPF_ABS, ancillary(SKF_AD_PKTTYPE));
    code.jump_if(BPF_JEQ, PACKET_OUTGOING, drop);
    code.emit(BPF_LD | BPF_B | BPF_ABS, ancillary(SKF_AD_VLAN_TAG_PRESENT));
    code.jump_unless(BPF_JEQ, 0, drop);
    code.emit(BPF_LD | BPF_H | BPF_ABS, type_at);
    code.jump_unless(BPF_JEQ, ETH_P_LLDP, drop);
    code.emit(BPF_LD | BPF_W | BPF_ABS, 0);
    code.jump_unless(BPF_JEQ, group_begin, drop);
    code.emit(BPF_LD | BPF_H | BPF_ABS, group_end_at);
    for (const std::uint32_t last : {0x0eU, 0x03U, 0x00U})
        code.jump_if(BPF_JEQ, last, pass);
    code.jump(drop);
    code.place(pass);
    code.emit(BPF_RET | BPF_K, all);
    code.place(drop);
    code.emit(BPF_RET | BPF_K, 0);
    return code.finish();
}

} // namespace teamo
