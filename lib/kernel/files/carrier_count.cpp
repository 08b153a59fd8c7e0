// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/carrier_count.h"

#include "kernel/files/files.h"

#include <fcntl.h>

#include <array>
#include <charconv>

namespace teamo {
namespace {

Result<UniqueFd> open_counter(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail_errno(errno, path);
    return file;
}

Result<int> read_counter(const UniqueFd& file) {
    std::array<char, 16> text{};
    const auto length = ::pread(file.get(), text.data(), text.size(), 0);
    if (length < 0) return fail_errno(errno, "a device's carrier counter");
    int count = 0;
    const auto* end = text.data() + length;
    if (std::from_chars(text.data(), end, count).ec != std::errc())
        return fail(EINVAL, "a device's carrier counter is not a number");
    return count;
}

} // namespace

Result<CarrierCount> CarrierCount::open(const Link& link) {
    const auto folder = fmt::format("/sys/class/net/{}/", link.name);
    auto changes = TEAMO_TRY(open_counter(folder + "carrier_changes"));
    auto losses = TEAMO_TRY(open_counter(folder + "carrier_down_count"));
    const auto index = read_file(folder + "ifindex");
    if (!index || *index != fmt::format("{}\n", link.index.value))
        return fail(ENODEV, fmt::format("{} does not show device {}", folder, link.index.value));
    return CarrierCount(std::move(changes), std::move(losses));
}

Result<int> CarrierCount::changes() const { return read_counter(changes_); }
Result<int> CarrierCount::losses() const { return read_counter(losses_); }

} // namespace teamo
