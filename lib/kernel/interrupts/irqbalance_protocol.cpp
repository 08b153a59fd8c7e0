// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/irqbalance_protocol.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <vector>

namespace teamo {
namespace {

constexpr std::size_t old_buffer = 500;     ///< irqbalance.c: sock_handle, up to 1.9.4
constexpr std::size_t new_buffer = 16384;   ///< since 1.9.5; a request that fills it is refused
constexpr std::size_t longest_mask = 8192U; ///< one hex digit for four CPUs, and commas

/// "KEY NUMBER".
template <std::unsigned_integral Number>
std::optional<Number> number_of(std::string_view key, std::string_view& words) {
    if (take_until(words, " ") != key) return std::nullopt;
    return whole_number<Number>(take_until(words, " "));
}

} // namespace

Result<IrqBalanceSetup> parse_irqbalance_setup(std::string_view reply) {
    if (reply.empty()) return fail(EACCES, "irqbalance closed the connection without an answer");
    const auto malformed = [] { return fail(EBADMSG, "irqbalance sent a malformed answer"); };
    IrqBalanceSetup setup;
    auto words = reply;
    const auto seconds = number_of<unsigned>("SLEEP", words);
    if (!seconds) return malformed();
    setup.seconds = *seconds;
    while (!words.empty()) {
        const auto key = take_until(words, " ");
        const auto value = take_until(words, " ");
        if (key == "BANNED") {
            const bool mask = value.size() <= longest_mask &&
                              value.find_first_not_of("0123456789abcdefABCDEF,") == std::string_view::npos;
            return mask && words.empty() ? Result<IrqBalanceSetup>(std::move(setup)) : malformed();
        }
        const auto irq = whole_number<unsigned>(value);
        if (key != "IRQ" || !irq || *irq >= most_irqs) return malformed();
        if (!number_of<std::uint64_t>("LOAD", words) || !number_of<std::uint64_t>("DIFF", words))
            return malformed();
        if (take_until(words, " ") != "CLASS") return malformed();
        take_until(words, " "); // any value: undefined for an IRQ that was banned before irqbalance saw it
        setup.banned.insert(*irq);
    }
    return malformed();
}

Result<std::string> ban_request(const BannedIrqs& bans, const BannedIrqs& ours) {
    std::string request = "settings ban irqs";
    if (bans.empty()) return request.append(" NONE");
    // Bans of others first. irqbalance parses with strtoul in a loop: a zero that is not first ends the list.
    std::vector<unsigned> order(bans.begin(), bans.end());
    std::ranges::stable_sort(order, {}, [&](unsigned irq) {
        return irq == 0 ? 0 : ours.contains(irq) ? 2 : 1;
    });
    for (const auto irq : order) {
        const auto word = fmt::format(" {}", irq);
        const auto end = request.size() + word.size();
        if (end > old_buffer && !ours.contains(irq))
            return fail(EMSGSIZE, "the list of banned interrupts is too long: irqbalance before 1.9.5 "
                                  "would lose a part of it");
        if (end >= new_buffer) break;
        if (request.size() < old_buffer && end > old_buffer) request.resize(old_buffer, ' ');
        request += word;
    }
    return request;
}

} // namespace teamo
