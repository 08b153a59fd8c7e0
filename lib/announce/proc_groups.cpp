// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announce/proc_groups.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace teamo::announce {
namespace {

/// The next word; empty at the end of the line.
std::string_view next_word(std::string_view& line) {
    constexpr std::string_view blanks = " \t";
    const auto start = line.find_first_not_of(blanks);
    line.remove_prefix(start == std::string_view::npos ? line.size() : start);
    return take_until(line, blanks);
}

std::optional<IfIndex> device_index(std::string_view word) {
    const auto index = whole_number<std::uint32_t>(word, 10);
    if (!index || *index == 0) return {};
    return IfIndex{*index};
}

/// "%08X" of the address as it lies in memory: on a little-endian machine its bytes are turned round
/// (igmp_mc_seq_show).
std::optional<IpAddress> group4(std::string_view word) {
    const auto memory = whole_number<std::uint32_t>(word, 16);
    if (word.size() != 8 || !memory) return {};
    IpAddress group;
    std::ranges::copy(std::bit_cast<std::array<std::uint8_t, 4>>(*memory), group.bytes.begin());
    return group;
}

/// "NONE" is from a kernel without CONFIG_IP_MULTICAST, which sends no reports itself.
std::optional<IgmpVersion> version_of(std::string_view word) {
    if (word == "V1") return IgmpVersion::v1;
    if (word == "V2") return IgmpVersion::v2;
    if (word == "V3" || word == "NONE") return IgmpVersion::v3;
    return {};
}

/// Calls `take` with each line and its number; an error at the first line for which it returns false.
template <class Take>
Result<> each_line(std::string_view file, std::string_view text, Take take) {
    if (text.size() > longest_group_list)
        return fail(EFBIG, fmt::format("{}: longer than {} bytes", file, longest_group_list));
    for (std::size_t line = 1; !text.empty(); line++)
        if (!take(take_until(text, "\n"), line))
            return fail(EBADMSG, fmt::format("{}: cannot parse line {}", file, line));
    return {};
}

/// "4\teth0      :     1      V3"; returns the index.
std::optional<IfIndex> take_device(std::string_view line, std::map<IfIndex, Ipv4Groups>& devices) {
    const auto index = device_index(next_word(line));
    const auto colon = line.find(':');
    if (!index || colon == std::string_view::npos) return {};
    line.remove_prefix(colon + 1);
    const auto count = whole_number<std::uint32_t>(next_word(line), 10);
    const auto version = version_of(next_word(line));
    if (!count || !version) return {};
    devices[*index].version = *version;
    return index;
}

} // namespace

Result<std::map<IfIndex, Ipv4Groups>> parse_proc_igmp(std::string_view text) {
    std::map<IfIndex, Ipv4Groups> devices;
    std::optional<IfIndex> device;
    TEAMO_TRY(each_line("/proc/net/igmp", text, [&](std::string_view line, std::size_t at) {
        if (at == 1 && line.starts_with("Idx")) return true;
        if (!line.starts_with('\t')) return (device = take_device(line, devices)).has_value();
        const auto group = group4(next_word(line));
        if (!device || !group) return false;
        devices[*device].groups.push_back(*group);
        return true;
    }));
    return devices;
}

} // namespace teamo::announce
