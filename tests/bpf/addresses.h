// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The addresses of the packets: from the team (`own`) to another host (`peer`), or back.
#pragma once

#include "base/mac_address.h"

namespace teamo::test {

inline constexpr MacAddress peer{{0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc}},
    own{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};

} // namespace teamo::test
