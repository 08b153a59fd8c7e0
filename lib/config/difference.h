// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "json/value.h"

#include <optional>
#include <string>
#include <vector>

namespace teamo {

/// A key that two configurations do not have in common, or with another value.
struct Difference {
    std::string pointer;                 ///< RFC 6901
    std::optional<json::Value> from, to; ///< none: the key is missing
    bool operator==(const Difference&) const = default;
};

/// What changes from one document to another, in the order of the first, then of the second. Objects are
/// compared by key, regardless of their order; arrays as a whole.
std::vector<Difference> differences(const json::Value& from, const json::Value& to);

/// "/runner/tx_hash: [\"eth\"] -> [\"ipv4\"]", "/ports/eth2: added {}", "/ports/eth1: removed".
std::string text_of(const Difference& difference);

} // namespace teamo
