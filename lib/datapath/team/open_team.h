// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "datapath/datapath.h"

namespace teamo {

/// False if the programs were built without libteam (open_without_libteam.cpp): then the kernel's team driver
/// is not used, even if the kernel has it.
bool knows_team_driver();

/// ENOTSUP: built without libteam.
Result<std::unique_ptr<Datapath>> open_team_datapath(TransmitMode mode, DevicePrograms& hooks);

} // namespace teamo
