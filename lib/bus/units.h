// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace teamo {

/// True if systemd is stopping the unit of this process only to start it again: systemctl restart, or a
/// package that is upgraded. False if systemd did not start this process, or does not answer.
bool is_unit_restarting();

} // namespace teamo
