// SPDX-License-Identifier: LGPL-2.1-or-later
#include "demo/link_news.h"

#include "support/net/socket_address.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace teamo::demo {
namespace {

/// Whether one of these messages reports that the device has no carrier.
bool reports_loss(std::span<const char> messages, unsigned device) {
    while (messages.size() >= NLMSG_SPACE(sizeof(ifinfomsg))) {
        nlmsghdr head{};
        ifinfomsg link{};
        std::memcpy(&head, messages.data(), sizeof head);
        std::memcpy(&link, messages.data() + NLMSG_HDRLEN, sizeof link);
        if (head.nlmsg_type == RTM_NEWLINK && link.ifi_index == static_cast<int>(device) &&
            (link.ifi_flags & IFF_RUNNING) == 0)
            return true;
        const std::size_t size = NLMSG_ALIGN(std::max<std::size_t>(head.nlmsg_len, NLMSG_HDRLEN));
        messages = messages.subspan(std::min(size, messages.size()));
    }
    return false;
}

} // namespace

CarrierLossListener::CarrierLossListener(const test::NetNs& in, unsigned device, const test::Stream& stream)
    : socket_(test::socket_in(in, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)) {
    sockaddr_nl links{};
    links.nl_family = AF_NETLINK;
    links.nl_groups = RTMGRP_LINK;
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&links), sizeof links) < 0)
        throw test::SetupError("cannot receive link events");
    listening_ =
        std::jthread([this, device, &stream](const std::stop_token& stop) { listen(stop, device, stream); });
}

std::optional<std::uint64_t> CarrierLossListener::received_at() const {
    const auto number = received_at_.load();
    return number == never ? std::nullopt : std::optional(number);
}

void CarrierLossListener::listen(const std::stop_token& stop, unsigned device, const test::Stream& stream) {
    std::array<char, 1 << 15> messages{};
    while (!stop.stop_requested()) {
        pollfd arrival{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&arrival, 1, 10) <= 0) continue;
        const auto now = stream.next();
        const auto size = ::recv(socket_.get(), messages.data(), messages.size(), MSG_DONTWAIT);
        if (size <= 0 || !reports_loss({messages.data(), static_cast<std::size_t>(size)}, device)) continue;
        received_at_ = now;
        return;
    }
}

} // namespace teamo::demo
