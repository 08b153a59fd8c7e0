// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Names in Linux 6.1 to 7.3 (drivers/net/ethernet, drivers/virtio): a word for the kind of queue, its number,
// and for some drivers the card: "i40e-eth0-TxRx-3", "eth0-rx-0", "eth0-Tx-Rx-1",
// "mlx5_comp4@pci:0000:01:00.0", "virtio0-input.2", "gve-ntfy-blk5@pci:…", "mana_q2@pci:…", "eth0_rxq1".
#include "kernel/interrupts/vector_names.h"

#include "base/whole_number.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

namespace teamo {
namespace {

enum class Direction : std::uint8_t { both, receive, transmit, block };

struct Word {
    std::string_view text;
    Direction direction;
};

// The longer ones first: "rx" ends "txrx" too.
constexpr auto words = std::to_array<Word>({
    {.text = "tx-rx", .direction = Direction::both},        // ena
    {.text = "txrx", .direction = Direction::both},         // Intel, bnxt, tg3, hns3
    {.text = "rxtx", .direction = Direction::both},         // vmxnet3, nfp, enetc, octeontx2
    {.text = "txr", .direction = Direction::both},          // alx
    {.text = "ntfy-block.", .direction = Direction::block}, // gve
    {.text = "ntfy-blk", .direction = Direction::block},    // gve
    {.text = "input.", .direction = Direction::receive},    // virtio
    {.text = "output.", .direction = Direction::transmit},  // virtio
    {.text = "rxq", .direction = Direction::receive},       // hinic
    {.text = "txq", .direction = Direction::transmit},      // hinic
    {.text = "rx", .direction = Direction::receive},
    {.text = "tx", .direction = Direction::transmit},
    {.text = "fp", .direction = Direction::both},   // bnx2x, qede
    {.text = "comp", .direction = Direction::both}, // mlx5
    {.text = "mlx4", .direction = Direction::both},
    {.text = "q", .direction = Direction::both}, // mana, be2net
});

// Not for queues: link state, commands.
constexpr auto others = std::to_array<std::string_view>(
    {"config", "control", "virtqueues-config", "misc", "event", "async", "cmd", "pages", "mgm", "mbox", "mbx",
     "mailbox", "health", "lsc", "exn", "admin", "notify", "hwc", "safety"});
/// RDMA, which sets its own affinity: "irdma-…-CEQ-3", "bnxt_re-nq-1".
constexpr auto foreign = std::to_array<std::string_view>({"irdma", "-ceq-", "-aeq-", "bnxt_re"});

struct Parsed {
    VectorRole::Kind kind = VectorRole::Kind::unknown;
    Direction direction = Direction::both;
    unsigned number = 0;
};

bool is_one_of(char character, std::string_view characters) {
    return characters.find(character) != std::string_view::npos;
}
bool is_between(char character) { return is_one_of(character, "-.:@_ "); }

/// In lower case, without the device's name and without '@' and what follows it.
std::string core_of(std::string_view handler, std::span<const std::string> device_names) {
    std::string core(handler.substr(0, handler.find('@')));
    for (const auto& name : device_names) {
        if (name.empty()) continue;
        for (auto at = core.find(name); at != std::string::npos; at = core.find(name, at + 1)) {
            const auto end = at + name.size();
            if ((at > 0 && !is_between(core[at - 1])) || (end < core.size() && !is_between(core[end])))
                continue;
            core.erase(at, name.size());
            break;
        }
    }
    std::ranges::transform(core, core.begin(), [](char letter) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    });
    return core;
}

bool has_any(std::string_view core, std::span<const std::string_view> parts) {
    return std::ranges::any_of(
        parts, [core](std::string_view part) { return core.find(part) != std::string_view::npos; });
}

/// Removes the number at the end. None if there is no number, or if it is 65536 or more.
std::optional<unsigned> take_last_number(std::string_view& core) {
    const auto digits = core.substr(core.find_last_not_of("0123456789") + 1);
    const auto number = whole_number<std::uint16_t>(digits);
    if (number) core.remove_suffix(digits.size());
    return number;
}

Parsed parse(std::string_view handler, std::span<const std::string> device_names) {
    const auto whole = core_of(handler, device_names);
    if (has_any(whole, foreign)) return {.kind = VectorRole::Kind::foreign};
    // Not for a queue, though named like one: "i40e-…:fdir-TxRx-0".
    if (whole.find("fdir") != std::string::npos) return {.kind = VectorRole::Kind::other};
    std::string_view core = whole;
    const auto number = take_last_number(core);
    if (number) {
        for (const auto& word : words) {
            auto front = core;
            if (!word.text.ends_with('.') && front.ends_with('-')) front.remove_suffix(1);
            if (!front.ends_with(word.text)) continue;
            front.remove_suffix(word.text.size());
            // The word must not be the end of a longer one: "mux-1".
            if (front.empty() || is_between(front.back()))
                return {.kind = VectorRole::Kind::queue, .direction = word.direction, .number = *number};
        }
    }
    if (has_any(whole, others)) return {.kind = VectorRole::Kind::other};
    if (number && core.ends_with('-')) // "eth0-3": r8125, sfc
        return {.kind = VectorRole::Kind::queue, .direction = Direction::both, .number = *number};
    return {};
}

/// tg3 counts receive vectors from 1, an mlx5 sub-function from any number.
void count_from_zero(std::vector<Parsed>& all) {
    for (const auto direction : {Direction::both, Direction::receive, Direction::transmit}) {
        auto lowest = std::numeric_limits<unsigned>::max();
        for (const auto& one : all)
            if (one.kind == VectorRole::Kind::queue && one.direction == direction)
                lowest = std::min(lowest, one.number);
        for (auto& one : all)
            if (one.kind == VectorRole::Kind::queue && one.direction == direction) one.number -= lowest;
    }
}

/// gve has the transmit queues in the lower half and the receive queues in the upper half of its blocks
/// (gve_tx_idx_to_ntfy, gve_rx_idx_to_ntfy).
void halve_blocks(std::vector<Parsed>& all) {
    const auto blocks = static_cast<unsigned>(
        std::ranges::count_if(all, [](const Parsed& one) { return one.direction == Direction::block; }));
    if (blocks < 2) return;
    for (auto& one : all)
        if (one.direction == Direction::block) one.number %= blocks / 2;
}

} // namespace

std::vector<VectorRole> roles_of(std::span<const IrqVector> vectors,
                                 std::span<const std::string> device_names) {
    std::vector<Parsed> all;
    for (const auto& vector : vectors)
        all.push_back(parse(vector.name, device_names));
    count_from_zero(all);
    halve_blocks(all);
    std::vector<VectorRole> roles;
    for (std::size_t at = 0; at < all.size(); ++at) {
        auto& role = roles.emplace_back(VectorRole{.kind = all[at].kind, .queue = all[at].number});
        const auto& name = vectors[at].name;
        // "eth0" beside "eth0-rx-0": e1000e, igb, ixgbe, bnx2x.
        if (role.kind == VectorRole::Kind::unknown &&
            std::ranges::any_of(vectors, [&name](const IrqVector& longer) {
                return longer.name.size() > name.size() && is_named_after(longer.name, name);
            }))
            role.kind = VectorRole::Kind::other;
    }
    return roles;
}

std::optional<unsigned> napi_of_thread(std::string_view command, std::string_view device) {
    for (const auto part : {std::string_view("napi/"), device, std::string_view("-")}) {
        if (!command.starts_with(part)) return std::nullopt;
        command.remove_prefix(part.size());
    }
    const auto napi = whole_number<unsigned>(command);
    return napi && *napi != 0 ? napi : std::nullopt;
}

bool is_named_after(std::string_view handler, std::string_view device) {
    return !device.empty() && handler.starts_with(device) &&
           (handler.size() == device.size() || is_one_of(handler[device.size()], "-.:@"));
}

} // namespace teamo
