// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/bytes.h"

#include <gmock/gmock.h>

namespace teamo {
namespace {

using testing::ElementsAre;

Bytes bytes(std::initializer_list<int> numbers) {
    Bytes made;
    for (const int number : numbers)
        made.push_back(static_cast<std::byte>(number));
    return made;
}

TEST(FrameReader, reads_network_byte_order) {
    const auto frame = bytes({0x01, 0x88, 0x09, 0xde, 0xad, 0xbe, 0xef, 0x7f});
    FrameReader reader(frame);
    EXPECT_EQ(reader.big_endian<std::uint8_t>(), 0x01);
    EXPECT_EQ(reader.big_endian<std::uint16_t>(), 0x8809);
    EXPECT_EQ(reader.big_endian<std::uint32_t>(), 0xdeadbeef);
    EXPECT_THAT(reader.rest(), ElementsAre(std::byte{0x7f}));
}

TEST(FrameReader, rejects_short_frame_without_advancing) {
    const auto frame = bytes({0x01, 0x02, 0x03});
    FrameReader reader(frame);
    const auto number = reader.big_endian<std::uint32_t>();
    ASSERT_FALSE(number);
    EXPECT_EQ(number.error(), (Error{EBADMSG, "1 bytes missing"}));
    EXPECT_EQ(reader.rest().size(), 3U);
    EXPECT_FALSE(FrameReader({}).big_endian<std::uint8_t>());
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
