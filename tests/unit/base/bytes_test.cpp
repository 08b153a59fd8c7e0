// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace teamo {
namespace {

Bytes bytes(std::initializer_list<int> numbers) {
    Bytes made;
    for (const int number : numbers)
        made.push_back(static_cast<std::byte>(number));
    return made;
}

TEST(FrameWriter, writes_network_byte_order) {
    FrameWriter writer;
    writer.mac({{1, 2, 3, 4, 5, 6}}).big_endian(std::uint16_t{0x8809}).big_endian(std::uint64_t{0xfe});
    writer.raw(bytes({0x42}));
    EXPECT_EQ(writer.size(), 17U);
    EXPECT_EQ(writer.take(), bytes({1, 2, 3, 4, 5, 6, 0x88, 0x09, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0x42}));
}

TEST(FrameWriter, patches_checksum) {
    FrameWriter writer;
    writer.raw(bytes({1, 0, 0, 4})).patch(1, 0xabcd);
    EXPECT_EQ(writer.take(), bytes({1, 0xab, 0xcd, 4}));
}

} // namespace
} // namespace teamo
