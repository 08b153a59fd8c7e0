// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Small files: /proc entries, and what the daemon keeps under /run.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// The whole of a file, `most` bytes at the longest (EFBIG).
Result<std::string> read_file(const std::string& path, std::size_t most = std::size_t{1} << 20);

/// Replaces a file by a new one at once: who reads sees the old or the new, never a part (mode 0600).
Result<> replace_file(const std::string& path, std::string_view content);

/// Writes into a file that is there already, such as a /proc entry.
Result<> write_into(const std::string& path, std::string_view content);

/// A file of ours that is to be gone; one that is not there is. Tries a few times where it may help.
void remove_file(const std::string& path);

/// net.ipv6.conf.DEVICE.disable_ipv6; none on a kernel without IPv6.
std::optional<bool> read_disable_ipv6(std::string_view device);
Result<> write_disable_ipv6(std::string_view device, bool disabled);

/// The inode of the calling thread's network namespace; 0 where /proc does not say.
std::uint64_t network_namespace();

} // namespace teamo
