// SPDX-License-Identifier: LGPL-2.1-or-later
//
// How devices are read: all, or one.
#include "kernel/netlink/links.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <set>
#include <string>
#include <utility>

namespace teamo {
namespace {

NlMessage link_request(IfIndex index, int extra = 0) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(index.value);
    return make_message(RTM_GETLINK, NLM_F_REQUEST | extra, header);
}

} // namespace

Result<LinkList> LinkControl::list(const Links& known) {
    LinkList list;
    std::set<IfIndex> seen;
    const auto see = [&seen](const Links& links) {
        for (const auto& [index, link] : links)
            seen.insert(index);
    };
    const auto make = [] { return link_request(IfIndex{}, NLM_F_DUMP); };
    const auto add = [&list](const nlmsghdr* message) {
        if (auto link = parse_link(message)) list.links.insert_or_assign(link->index, std::move(*link));
    };
    const auto restart = [&] { see(std::exchange(list.links, {})); };
    const auto dumped = TEAMO_TRY(within("the list of devices", socket_.dump(make, add, restart)));
    if (dumped == NetlinkSocket::Dumped::whole) return list;
    // Up to Linux 6.8 a device that goes can hide the next one (net/core/rtnetlink.c: rtnl_dump_ifinfo counts
    // the devices of each hash chain).
    list.is_whole = false;
    see(known);
    for (const auto index : seen)
        if (!list.links.contains(index)) {
            if (auto link = this->read(index))
                list.links.emplace(index, std::move(*link));
            else if (link.error().number != ENODEV)
                return tl::unexpected(std::move(link.error()));
        }
    return list;
}

Result<Links> LinkControl::read_all() { return TEAMO_TRY(list({})).links; }

Result<Link> LinkControl::read(IfIndex index) {
    return read_one([index] { return link_request(index); });
}

Result<Link> LinkControl::read(std::string_view name) {
    return read_one([name] {
        auto message = link_request(IfIndex{});
        nla_put_string(message.get(), IFLA_ALT_IFNAME, std::string(name).c_str());
        return message;
    });
}

Result<Link> LinkControl::read_one(const std::function<NlMessage()>& make) {
    auto found = TEAMO_TRY(socket_.list(make, parse_link));
    if (found.empty()) return fail(ENODEV, errno_text(ENODEV));
    return std::move(found.back());
}

} // namespace teamo
