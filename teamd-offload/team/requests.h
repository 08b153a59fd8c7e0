// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Carries out requests from the control socket. Errors have teamd's codes and messages, followed by our
// reason.
#pragma once

#include "control/usock_message.h"
#include "team/parts.h"

#include <functional>

namespace teamo {

/// Makes the reply after the pass that the request needs.
using MakeReply = std::function<control::Reply()>;

/// Begins to carry out a request. The caller runs one pass, and then calls what is returned.
MakeReply begin_request(TeamParts& parts, const control::Request& request);

} // namespace teamo
