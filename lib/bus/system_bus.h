// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "base/result.h"

#include <systemd/sd-bus.h>

#include <chrono>
#include <string>

namespace teamo {

/// Not flushed at its end: that waits for a bus that does not answer, without a limit. What is sent is queued
/// only while the socket is full.
using Bus = Handle<sd_bus, sd_bus_close_unref>;
using BusMessage = Handle<sd_bus_message, sd_bus_message_unref>;

inline constexpr const char *systemd_name = "org.freedesktop.systemd1",
                            *systemd_path = "/org/freedesktop/systemd1",
                            *systemd_manager = "org.freedesktop.systemd1.Manager";

// teamd's object and interface (teamd_dbus.c).
inline constexpr const char *teamd_path = "/org/libteam/teamd", *teamd_interface = "org.libteam.teamd";

/// "org.libteam.teamd.TEAM". EINVAL: D-Bus does not allow such a name.
Result<std::string> teamd_name(const std::string& team);

/// Connects to the system bus. This waits for `patience`, and each call for one second, not for the default
/// of 25 s or more, because it blocks the daemon. ENOENT, ECONNREFUSED and others: there is no bus.
/// ETIMEDOUT: it does not answer.
Result<Bus> open_system_bus(std::chrono::seconds patience = std::chrono::seconds(1));

/// The same without waiting: the event loop that it is attached to connects.
Result<Bus> begin_system_bus();

/// Connects to systemd itself, without the bus, as systemctl does for root; else by the system bus.
Result<Bus> open_systemd();

/// "/org/freedesktop/systemd1/unit/…" of a unit's name.
Result<std::string> unit_path(const std::string& unit);

} // namespace teamo
