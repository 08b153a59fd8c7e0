// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lldp/lldpdu.h"

#include <fmt/format.h>

#include <algorithm>

namespace teamo::lldp {
namespace {

constexpr std::size_t header_size = 14, tlv_header_size = 2;
constexpr std::size_t longest_id = 255, longest_name = 255; // 8.5.2.1, 8.5.6.1
enum : std::uint8_t { tlv_end, tlv_chassis, tlv_port, tlv_ttl, tlv_port_description, tlv_system_name };

struct Tlv {
    std::uint8_t type = 0;
    std::span<const std::byte> value{};
};

/// Takes the next one off the front (8.4). None: its length is greater than what is left.
std::optional<Tlv> take_tlv(std::span<const std::byte>& rest) {
    constexpr unsigned length_bits = 9, length_mask = (1U << length_bits) - 1;
    if (rest.size() < tlv_header_size) return std::nullopt;
    const unsigned header = FrameReader(rest).two();
    rest = rest.subspan(tlv_header_size);
    const std::size_t length = header & length_mask;
    if (length > rest.size()) return std::nullopt;
    const Tlv tlv{.type = static_cast<std::uint8_t>(header >> length_bits), .value = rest.first(length)};
    rest = rest.subspan(length);
    return tlv;
}

std::string string_of(std::span<const std::byte> bytes) {
    std::string text(bytes.size(), '\0');
    std::ranges::transform(bytes, text.begin(), [](std::byte one) { return static_cast<char>(one); });
    return text;
}

bool is_printable(char letter) { return letter >= ' ' && letter <= '~'; }

/// It goes into logs and terminals.
std::string printable(std::string text) {
    std::ranges::replace_if(text, [](char letter) { return !is_printable(letter); }, '?');
    return text;
}

std::optional<Id> read_id(const Tlv& tlv) {
    if (tlv.value.size() < 2 || tlv.value.size() > longest_id + 1) return std::nullopt;
    return Id{.subtype = FrameReader(tlv.value).byte(), .bytes = string_of(tlv.value.subspan(1))};
}

/// The three that come first, in this order (8.2).
std::optional<Lldpdu> read_mandatory(std::span<const std::byte>& rest) {
    const auto chassis = take_tlv(rest);
    if (!chassis || chassis->type != tlv_chassis) return std::nullopt;
    const auto port = take_tlv(rest);
    if (!port || port->type != tlv_port) return std::nullopt;
    const auto ttl = take_tlv(rest);
    if (!ttl || ttl->type != tlv_ttl || ttl->value.size() < sizeof(std::uint16_t)) return std::nullopt;
    const auto chassis_id = read_id(*chassis), port_id = read_id(*port);
    if (!chassis_id || !port_id) return std::nullopt;
    return Lldpdu{.group = 0,
                  .chassis = *chassis_id,
                  .port = *port_id,
                  .ttl = std::chrono::seconds(FrameReader(ttl->value).two()),
                  .system_name = {}};
}

std::string hexadecimal(std::string_view bytes) {
    std::string text = "0x";
    for (const char one : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(one));
    return text;
}

std::optional<std::string> hardware_address(std::string_view bytes) {
    MacAddress address;
    if (bytes.size() != address.bytes.size()) return std::nullopt;
    std::ranges::transform(bytes, address.bytes.begin(),
                           [](char one) { return static_cast<std::uint8_t>(one); });
    return teamo::text_of(address);
}

/// After a byte with the family of addresses, as IANA numbers them.
std::optional<std::string> network_address(std::string_view bytes) {
    constexpr char ipv4 = 1, ipv6 = 2;
    IpAddress address;
    if (bytes.empty() || (bytes[0] != ipv4 && bytes[0] != ipv6)) return std::nullopt;
    address.ipv6 = bytes[0] == ipv6;
    bytes.remove_prefix(1);
    if (bytes.size() != address.size()) return std::nullopt;
    std::ranges::transform(bytes, address.bytes.begin(),
                           [](char one) { return static_cast<std::uint8_t>(one); });
    return teamo::text_of(address);
}

std::string text_of_id(const Id& id, std::uint8_t hardware, std::uint8_t network) {
    const auto address = id.subtype == hardware  ? hardware_address(id.bytes)
                         : id.subtype == network ? network_address(id.bytes)
                                                 : std::nullopt;
    if (address) return *address;
    const bool is_text = id.subtype != hardware && id.subtype != network;
    return is_text && std::ranges::all_of(id.bytes, is_printable) ? id.bytes : hexadecimal(id.bytes);
}

} // namespace

std::optional<Lldpdu> parse_frame(std::span<const std::byte> frame) {
    if (frame.size() < header_size) return std::nullopt;
    FrameReader header(frame);
    const auto to = header.mac();
    header.skip(to.bytes.size()); // the source
    const auto* const group = std::ranges::find(groups, to);
    if (header.two() != ether_lldp || group == groups.end()) return std::nullopt;
    auto rest = frame.subspan(header_size);
    auto pdu = read_mandatory(rest);
    if (!pdu) return std::nullopt;
    pdu->group = static_cast<std::size_t>(group - groups.begin());
    while (!rest.empty()) { // the end has a TLV of its own, or is that of the frame
        const auto tlv = take_tlv(rest);
        if (!tlv) return std::nullopt;
        if (tlv->type == tlv_end) break;
        if (tlv->type <= tlv_ttl) return std::nullopt; // once each
        if (tlv->type == tlv_system_name && tlv->value.size() <= longest_name)
            pdu->system_name = printable(string_of(tlv->value));
    }
    return pdu;
}

std::string text_of_chassis(const Id& id) { return text_of_id(id, 4, 5); } // Table 8-2
std::string text_of_port(const Id& id) { return text_of_id(id, 3, 4); }    // Table 8-3

void Neighbours::note(const Lldpdu& pdu, std::uint32_t carrier_losses, Clock::time_point now) {
    std::erase_if(known_, [&](const Neighbour& one) {
        const bool is_sender = one.pdu.chassis == pdu.chassis && one.pdu.port == pdu.port;
        return is_sender || one.until <= now || one.carrier_losses != carrier_losses;
    });
    if (pdu.ttl.count() == 0 || known_.size() == most) return;
    known_.push_back({.pdu = pdu, .carrier_losses = carrier_losses, .until = now + pdu.ttl});
}

SwitchPort Neighbours::nearest(Clock::time_point now) const {
    const Lldpdu* nearest = nullptr;
    bool several = false;
    for (const auto& [pdu, losses, until] : known_) {
        if (until <= now) continue;
        if (nearest == nullptr || pdu.group < nearest->group) {
            nearest = &pdu;
            several = false;
        } else if (pdu.group == nearest->group && pdu.chassis != nearest->chassis) {
            several = true;
        }
    }
    if (nearest == nullptr || several) return {};
    return {.source = SwitchSource::lldp,
            .id = text_of_chassis(nearest->chassis),
            .name = nearest->system_name,
            .port = text_of_port(nearest->port)};
}

} // namespace teamo::lldp
