// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Attributes in the format of the kernel. With a real card: tests/lab/tests/vectors_test.cpp.
#include "kernel/netlink/netdev_queues.h"

#include <gmock/gmock.h>
#include <netlink/attr.h>

namespace teamo {
namespace {

std::vector<std::byte> attributes(std::initializer_list<std::pair<int, std::uint32_t>> values) {
    const auto message = make_message(0, 0);
    for (const auto& [type, value] : values)
        nla_put_u32(message.get(), type, value);
    const auto* first = static_cast<const std::byte*>(nlmsg_data(nlmsg_hdr(message.get())));
    return {first, first + nlmsg_datalen(nlmsg_hdr(message.get()))};
}

TEST(NetdevQueues, reads_number_direction_and_napi) {
    EXPECT_EQ(parse_netdev_queue(attributes({{1, 3}, {2, 7}, {3, 0}, {4, 8197}})),
              (NetdevQueue{.queue = 3, .receive = true, .napi = 8197}));
    EXPECT_EQ(parse_netdev_queue(attributes({{1, 3}, {2, 7}, {3, 1}, {4, 8198}})),
              (NetdevQueue{.queue = 3, .receive = false, .napi = 8198}));
    EXPECT_EQ(parse_netdev_queue(attributes({{1, 3}, {2, 7}, {3, 0}})), std::nullopt) << "no NAPI";
    EXPECT_EQ(parse_netdev_queue(attributes({{1, 3}, {2, 7}, {3, 2}, {4, 1}})), std::nullopt)
        << "of a new kind";
    EXPECT_EQ(parse_netdev_queue({}), std::nullopt);
}

TEST(NetdevQueues, reads_interrupt_and_thread_of_napi) {
    EXPECT_EQ(parse_netdev_napi(attributes({{1, 7}, {2, 8197}})),
              (NetdevNapi{.id = 8197, .irq = {}, .thread = {}}));
    EXPECT_EQ(parse_netdev_napi(attributes({{1, 7}, {2, 8197}, {3, 28}, {4, 612}})),
              (NetdevNapi{.id = 8197, .irq = 28, .thread = 612}));
    EXPECT_EQ(parse_netdev_napi(attributes({{1, 7}, {3, 28}})), std::nullopt);
}

TEST(NetdevQueues, is_empty_for_virtual_device) {
    auto family = NetdevFamily::open();
    ASSERT_TRUE(family);
    const auto queues = family->read(IfIndex{1}); // lo
    ASSERT_TRUE(queues) << queues.error().text;
    EXPECT_THAT(queues->napis, testing::IsEmpty());
}

} // namespace
} // namespace teamo
