// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lacp/lacpdu.h"

namespace teamo::lacp {
namespace {

constexpr std::uint8_t subtype_lacp = 1, subtype_marker = 2;
constexpr std::uint8_t tlv_actor = 1, tlv_partner = 2, tlv_collector = 3;
constexpr std::uint8_t tlv_marker = 1, tlv_marker_response = 2;
constexpr std::uint8_t actor_length = 20, collector_length = 16, marker_length = 16;
constexpr std::size_t header = 14;

/// None: the length of its TLV is wrong.
std::optional<PortInfo> read_info(FrameReader& reader) {
    reader.skip(1);
    if (reader.byte() != actor_length) return std::nullopt;
    PortInfo info;
    info.system.priority = reader.two();
    info.system.address = reader.mac();
    info.key = reader.two();
    info.port.priority = reader.two();
    info.port.number = reader.two();
    info.state = reader.byte();
    reader.skip(3);
    return info;
}

Received parse_lacpdu(FrameReader reader) {
    Lacpdu pdu;
    pdu.version = reader.byte();
    const auto actor = read_info(reader), partner = actor ? read_info(reader) : std::nullopt;
    if (!partner) return Unusable::illegal;
    pdu.actor = *actor;
    pdu.partner = *partner;
    reader.skip(1);
    if (reader.byte() != collector_length) return Unusable::illegal;
    pdu.collector_max_delay = reader.two();
    return pdu;
}

Received parse_marker(FrameReader reader) {
    reader.skip(1); // version
    const auto type = reader.byte();
    if ((type != tlv_marker && type != tlv_marker_response) || reader.byte() != marker_length)
        return Unusable::illegal;
    Marker marker{.is_response = type == tlv_marker_response};
    marker.requester_port = reader.two();
    marker.requester_system = reader.mac();
    marker.transaction = reader.four();
    return marker;
}

FrameWriter begin(const MacAddress& source, std::uint8_t subtype) {
    FrameWriter frame;
    frame.mac(slow_protocols)
        .mac(source)
        .big_endian(ether_slow)
        .big_endian(subtype)
        .big_endian(std::uint8_t{1});
    return frame;
}

Bytes end(FrameWriter frame) {
    auto bytes = frame.take();
    bytes.resize(frame_size);
    return bytes;
}

void write_info(FrameWriter& frame, std::uint8_t type, const PortInfo& info) {
    frame.big_endian(type).big_endian(actor_length).big_endian(info.system.priority).mac(info.system.address);
    frame.big_endian(info.key).big_endian(info.port.priority).big_endian(info.port.number);
    frame.big_endian(info.state).big_endian(std::uint16_t{0}).big_endian(std::uint8_t{0});
}

} // namespace

Received parse_frame(std::span<const std::byte> frame) {
    if (frame.size() < header + 1) return Unusable::illegal;
    FrameReader reader(frame);
    const auto to = reader.mac();
    reader.skip(to.bytes.size()); // the source
    if (reader.two() != ether_slow) return Unusable::unknown;
    const auto subtype = reader.byte();
    if (subtype != subtype_lacp && subtype != subtype_marker) return Unusable::unknown;
    if (frame.size() < frame_size || to != slow_protocols) return Unusable::illegal;
    return subtype == subtype_lacp ? parse_lacpdu(reader) : parse_marker(reader);
}

Bytes build_frame(const Lacpdu& pdu, const MacAddress& source) {
    auto frame = begin(source, subtype_lacp);
    write_info(frame, tlv_actor, pdu.actor);
    write_info(frame, tlv_partner, pdu.partner);
    frame.big_endian(tlv_collector).big_endian(collector_length).big_endian(pdu.collector_max_delay);
    return end(std::move(frame)); // zeros: the collector's reserved bytes, the terminator, and reserved ones
}

Bytes build_frame(const Marker& marker, const MacAddress& source) {
    auto frame = begin(source, subtype_marker);
    frame.big_endian(marker.is_response ? tlv_marker_response : tlv_marker).big_endian(marker_length);
    frame.big_endian(marker.requester_port).mac(marker.requester_system).big_endian(marker.transaction);
    return end(std::move(frame));
}

} // namespace teamo::lacp
