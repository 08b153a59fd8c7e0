// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "json/value.h"

namespace teamo::ctl {

/// A state document as `teamdctl TEAM state` prints it, and with -v; what it does not know is not shown.
/// An error where the document lacks what libteamdctl requires.
Result<std::string> view_of_state(const json::Value& document, bool verbose);

} // namespace teamo::ctl
