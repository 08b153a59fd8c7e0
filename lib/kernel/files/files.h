// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Small files: /proc entries, and the daemon's files under /run.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teamo {

/// The whole file. EFBIG: it is longer than `most` bytes.
Result<std::string> read_file(const std::string& path, std::size_t most = std::size_t{1} << 20);

/// Replaces a file atomically, with mode 0600: readers see the old or the new content, never a part.
Result<> replace_file(const std::string& path, std::string_view content);

/// Writes into an existing file, such as a /proc entry.
Result<> write_into(const std::string& path, std::string_view content);

/// Removes a file of ours if it exists. Retries passing failures, at most 3 attempts.
void remove_file(const std::string& path);

/// net.ipv6.conf.DEVICE.disable_ipv6; none on a kernel without IPv6.
std::optional<bool> read_disable_ipv6(std::string_view device);
Result<> write_disable_ipv6(std::string_view device, bool disabled);

/// The inode of the calling thread's network namespace; 0 if /proc does not show it.
std::uint64_t network_namespace();

} // namespace teamo
