// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace teamo {

/// The path of a program: beside this one, or in PATH. Empty: there is none.
std::string find_program(const std::string& name);

/// As execv(3) wants them, with the null at the end; they point into `arguments`.
std::vector<char*> pointers_to(std::vector<std::string>& arguments);

} // namespace teamo
