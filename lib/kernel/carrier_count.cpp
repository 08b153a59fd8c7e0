// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/carrier_count.h"

#include "kernel/files.h"

#include <fcntl.h>

#include <array>
#include <charconv>

namespace teamo {

Result<CarrierCount> CarrierCount::open(const Link& link) {
    const auto folder = fmt::format("/sys/class/net/{}/", link.name);
    UniqueFd file(::open((folder + "carrier_changes").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return fail_errno(errno, folder + "carrier_changes");
    const auto index = read_file(folder + "ifindex");
    if (!index || *index != fmt::format("{}\n", link.index.value))
        return fail(ENODEV, fmt::format("{} is not device {}", folder, link.index.value));
    return CarrierCount(std::move(file));
}

Result<int> CarrierCount::read() const {
    std::array<char, 16> text{};
    const auto length = ::pread(file_.get(), text.data(), text.size(), 0);
    if (length < 0) return fail_errno(errno, "a device's carrier_changes");
    int count = 0;
    const auto* end = text.data() + length;
    if (std::from_chars(text.data(), end, count).ec != std::errc())
        return fail(EINVAL, "a device's carrier_changes is no number");
    return count;
}

} // namespace teamo
