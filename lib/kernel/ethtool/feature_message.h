// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Converts between ETHTOOL_MSG_FEATURES_* and the types of model/features.h. Pure.
#pragma once

#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/offload.h"

#include <cstddef>
#include <span>

namespace teamo {

/// Takes the attributes of a FEATURES_GET_REPLY or FEATURES_NTF, which follow the generic netlink header.
/// EBADMSG: the active or the changeable features are missing.
Result<Features> parse_features(std::span<const std::byte> attributes);

/// Appends the attributes of a FEATURES_SET. The kernel refuses names that it does not know.
void put_features(nl_msg* message, const FeatureSettings& settings);

} // namespace teamo
