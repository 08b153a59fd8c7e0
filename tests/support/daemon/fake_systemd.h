// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A fake systemd at the other end of a socket pair. It has one unit with AllowedCPUs=.
#pragma once

#include "base/handle.h"
#include "workers/unit_cpus.h"

#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace teamo::test {

/// Handles calls for its unit as systemd does.
struct SystemdUnit {
    std::string unit;
    int runtime = -1;
    std::vector<std::uint8_t> cpus;
    std::chrono::milliseconds late{0}; ///< delay of each call
};

inline int set_properties(sd_bus_message* call, void* data, sd_bus_error* error) {
    auto& manager = *static_cast<SystemdUnit*>(data);
    const char *unit = nullptr, *name = nullptr;
    int runtime = 0;
    sd_bus_message_read(call, "sb", &unit, &runtime);
    if (manager.unit != unit)
        return sd_bus_error_setf(error, "org.freedesktop.systemd1.NoSuchUnit", "Unit %s not loaded.", unit);
    std::this_thread::sleep_for(manager.late);
    manager.runtime = runtime;
    sd_bus_message_enter_container(call, 'a', "(sv)");
    while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
        sd_bus_message_read(call, "s", &name);
        sd_bus_message_enter_container(call, 'v', "ay");
        const void* bytes = nullptr;
        std::size_t size = 0;
        sd_bus_message_read_array(call, 'y', &bytes, &size);
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        if (std::string_view(name) == "AllowedCPUs") manager.cpus.assign(first, first + size);
        sd_bus_message_exit_container(call);
        sd_bus_message_exit_container(call);
    }
    sd_bus_message_exit_container(call);
    return sd_bus_reply_method_return(call, "");
}

inline int get_cpus(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/,
                    const char* /*property*/, sd_bus_message* reply, void* data, sd_bus_error* /*error*/) {
    const auto& manager = *static_cast<SystemdUnit*>(data);
    return sd_bus_message_append_array(reply, 'y', manager.cpus.data(), manager.cpus.size());
}

inline const sd_bus_vtable manager_table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("SetUnitProperties", "sba(sv)", "", set_properties, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END};
inline const sd_bus_vtable unit_table[] = {
    SD_BUS_VTABLE_START(0), SD_BUS_PROPERTY("AllowedCPUs", "ay", get_cpus, 0, 0), SD_BUS_VTABLE_END};

class FakeSystemd {
public:
    explicit FakeSystemd(std::string unit) : unit_{.unit = std::move(unit), .cpus = {}} {}

    /// A new connection; the former one ends.
    UnitCpus connect() {
        std::array<int, 2> ends{};
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
        server_ = std::jthread([this, end = ends[0]](const std::stop_token& stop) { serve(end, stop); });
        sd_bus* bus = nullptr;
        sd_bus_new(&bus);
        sd_bus_set_fd(bus, ends[1], ends[1]);
        sd_bus_set_method_call_timeout(bus, 1'000'000); // as open_system_bus()
        sd_bus_start(bus);
        return UnitCpus(Bus(bus));
    }
    SystemdUnit& unit() { return unit_; }

private:
    void serve(int end, const std::stop_token& stop) {
        sd_bus* made = nullptr;
        sd_bus_new(&made);
        const Handle<sd_bus, sd_bus_close_unref> bus(made);
        sd_id128_t id{};
        sd_id128_randomize(&id);
        sd_bus_set_fd(made, end, end);
        sd_bus_set_server(made, 1, id);
        sd_bus_set_anonymous(made, 1);
        sd_bus_add_object_vtable(made, nullptr, "/org/freedesktop/systemd1",
                                 "org.freedesktop.systemd1.Manager", manager_table, &unit_);
        sd_bus_add_object_vtable(made, nullptr, "/org/freedesktop/systemd1/unit/w_401_2eservice",
                                 "org.freedesktop.systemd1.Service", unit_table, &unit_);
        sd_bus_start(made);
        constexpr std::uint64_t patience = 10'000; // microseconds
        while (!stop.stop_requested())
            if (sd_bus_process(made, nullptr) == 0) sd_bus_wait(made, patience);
    }

    SystemdUnit unit_;
    std::jthread server_;
};

} // namespace teamo::test
