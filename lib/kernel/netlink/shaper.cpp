// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/netlink/shaper.h"

#include "kernel/netlink/netlink_socket.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <limits>

namespace teamo {

Result<> add_shaper(IfIndex device, const Shaper& shaper) {
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = static_cast<int>(device.value);
    header.tcm_parent = TC_H_ROOT;
    auto message = make_message(RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL, header);
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

} // namespace teamo
