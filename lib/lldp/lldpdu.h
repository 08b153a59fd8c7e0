// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Reads frames of the Link Layer Discovery Protocol (IEEE 802.1AB-2016), in which a switch tells its name,
// and keeps who sends them to a port.
#pragma once

#include "base/bytes.h"
#include "base/clock.h"
#include "model/failure_domain.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace teamo::lldp {

inline constexpr std::uint16_t ether_lldp = 0x88cc;

/// The group addresses (7.1): which bridges a frame passes. The first is the one that switches use.
inline constexpr std::array<MacAddress, 3> groups{{
    {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}}, // nearest bridge
    {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x03}}, // nearest non-TPMR bridge
    {{0x01, 0x80, 0xc2, 0x00, 0x00, 0x00}}, // nearest customer bridge
}};

/// A chassis ID (8.5.2) or a port ID (8.5.3).
struct Id {
    std::uint8_t subtype = 0;
    std::string bytes{}; ///< 1 to 255
    bool operator==(const Id&) const = default;
};

struct Lldpdu {
    std::size_t group = 0; ///< index in `groups`: a smaller one is nearer
    Id chassis{}, port{};
    std::chrono::seconds ttl{0}; ///< 0: the sender stops
    std::string system_name{};   ///< printable; empty: not sent
    bool operator==(const Lldpdu&) const = default;
};

/// None: the frame is another one, or 802.1AB demands to discard it (9.2.7.7).
std::optional<Lldpdu> parse_frame(std::span<const std::byte> frame);

/// As people know it: a hardware address, an IP address, text; else hexadecimal digits. Printable.
std::string text_of_chassis(const Id& id);
std::string text_of_port(const Id& id);

/// Who sends LLDP to one port. A value: LLDPDUs and the time in, the switch out.
class Neighbours {
public:
    /// More senders at one port are ignored.
    static constexpr std::size_t most = 4;

    /// `carrier_losses`: of the port's link; what was heard before the last loss may be another cable's, and
    /// the first LLDPDU after it counts alone.
    void note(const Lldpdu& pdu, std::uint32_t carrier_losses, Clock::time_point now);

    /// The nearest device, until the TTL of its last LLDPDU has passed. Not known if there are several of
    /// them, as behind a hub.
    SwitchPort nearest(Clock::time_point now) const;

private:
    struct Neighbour {
        Lldpdu pdu;
        std::uint32_t carrier_losses = 0;
        Clock::time_point until{};
    };
    std::vector<Neighbour> known_;
};

} // namespace teamo::lldp
