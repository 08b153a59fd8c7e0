// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a client asks of a team on the control socket, with teamd's codes and messages; our reason follows
// teamd's words.
#pragma once

#include "control/usock_message.h"
#include "team/parts.h"

#include <functional>

namespace teamo {

/// Makes the reply once the pass is over that the request calls for.
using MakeReply = std::function<control::Reply()>;

/// Begins to carry out a request. The caller runs one pass, and then calls what is returned.
MakeReply begin_request(TeamParts& parts, const control::Request& request);

} // namespace teamo
