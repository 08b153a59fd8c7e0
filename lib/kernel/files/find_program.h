// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace teamo {

/// The path of a program: beside this one, or in PATH. Empty: there is none.
std::string find_program(const std::string& name);

} // namespace teamo
