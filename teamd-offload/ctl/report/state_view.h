// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"
#include "json/value.h"

namespace teamo::ctl {

/// A state document as `teamdctl TEAM state` prints it, `verbose` as with -v. Keys that teamdctl does not
/// know are not shown. An error if a key is missing that libteamdctl requires.
Result<std::string> view_of_state(const json::Value& document, bool verbose);

} // namespace teamo::ctl
