// SPDX-License-Identifier: LGPL-2.1-or-later
//
// ETHTOOL_MSG_FEATURES_* and values of model/features.h, one into the other. Pure.
#pragma once

#include "base/result.h"
#include "kernel/netlink/netlink_socket.h"
#include "model/features.h"

#include <cstddef>
#include <span>

namespace teamo {

/// The attributes of a FEATURES_GET_REPLY or FEATURES_NTF, which stand behind its generic netlink header.
/// EBADMSG: it does not say what is active and what can be changed.
Result<Features> parse_features(std::span<const std::byte> attributes);

/// Appends what a FEATURES_SET asks for. A name that the kernel does not know is refused by it.
void put_features(nl_msg* message, const FeatureSettings& settings);

} // namespace teamo
