// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/files/kernel_release.h"

#include "base/take_until.h"
#include "base/whole_number.h"

#include <sys/utsname.h>

#include <utility>

namespace teamo {

bool is_at_least(std::string_view release, unsigned major, unsigned minor) {
    const auto its_major = whole_number<unsigned>(take_until(release, ".")).value_or(0);
    const auto its_minor =
        whole_number<unsigned>(release.substr(0, release.find_first_not_of("0123456789"))).value_or(0);
    return std::pair(its_major, its_minor) >= std::pair(major, minor);
}

bool kernel_is_at_least(unsigned major, unsigned minor) {
    utsname system{};
    return ::uname(&system) == 0 && is_at_least(system.release, major, minor);
}

} // namespace teamo
