// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/silence.h"

#include "support/net/socket_address.h"

#include <linux/rtnetlink.h>
#include <sys/stat.h>

#include <array>
#include <cstring>

namespace teamo::soak {

using namespace test;

namespace {

std::string written(const std::vector<std::string>& files) {
    std::string text;
    for (const auto& file : files) {
        struct stat is{};
        if (::stat(file.c_str(), &is) == 0)
            text += fmt::format("{}: inode {} written at {}.{:09}\n", file, is.st_ino, is.st_mtim.tv_sec,
                                is.st_mtim.tv_nsec);
    }
    return text;
}

/// A socket that receives what `ip monitor link address` and `tc monitor` show.
UniqueFd events_of(const NetNs& in) {
    auto socket = socket_in(in, AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_ROUTE);
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
        throw SetupError("cannot listen to the kernel");
    for (const int group : {RTNLGRP_LINK, RTNLGRP_TC, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR})
        if (::setsockopt(socket.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) < 0)
            throw SetupError("cannot join a group of the kernel's events");
    return socket;
}

/// The device of an event. The headers of links, addresses and filters have it at the same place.
int device_of(const nlmsghdr& message) {
    static_assert(offsetof(ifinfomsg, ifi_index) == 4 && offsetof(ifaddrmsg, ifa_index) == 4 &&
                  offsetof(tcmsg, tcm_ifindex) == 4);
    int index = 0;
    std::memcpy(&index, reinterpret_cast<const char*>(&message) + NLMSG_HDRLEN + 4, sizeof index);
    return index;
}

} // namespace

Silence::Silence(const NetNs& in, std::vector<std::string> journals)
    : journals_(std::move(journals)), written_(written(journals_)), events_(events_of(in)) {}

std::string Silence::broken() const {
    constexpr int loopback = 1;
    std::string heard;
    std::array<char, 65536> buffer{};
    for (ssize_t size = 0; (size = ::recv(events_.get(), buffer.data(), buffer.size(), 0)) > 0;) {
        auto left = static_cast<unsigned>(size);
        for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
             message = NLMSG_NEXT(message, left))
            if (const int device = device_of(*message); device != loopback)
                heard += fmt::format(" event {} of device {}", message->nlmsg_type, device);
    }
    if (!heard.empty()) return "devices change although nothing happens:" + heard;
    const auto now = written(journals_);
    return now == written_ ? "" : "a journal is written although nothing happens: " + written_ + now;
}

} // namespace teamo::soak
