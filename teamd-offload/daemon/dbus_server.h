// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The D-Bus interface of teamd (org.libteam.teamd), and beside it properties and signals for programs that
// wait for events (org.teamd_offload.Team1).
#pragma once

#include "bus/system_bus.h"
#include "control/usock_message.h"
#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "model/status.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace teamo {

class DbusServer {
public:
    using Answer = std::function<control::Reply(const control::Request&)>;

    /// Owns the name org.libteam.teamd.DEVICE. EEXIST: another process has it. EINVAL: the device's name
    /// cannot be part of a bus name. EACCES: the bus does not allow it. Without a bus, it is tried again.
    static Result<std::unique_ptr<DbusServer>> open(sd_event* loop, const std::string& device, const Log& log,
                                                    Answer answer);
    DbusServer(const DbusServer&) = delete;
    DbusServer& operator=(const DbusServer&) = delete;
    ~DbusServer();

    /// Sends the signals of what has changed since the last call.
    void follow(const TeamStatus& summary);

    /// What the properties show.
    struct Facts {
        std::string runner, datapath, active;
        std::vector<std::string> ports, carrying;
        bool operator==(const Facts&) const = default;
    };
    const Facts& facts() const { return facts_; }

private:
    DbusServer(sd_event* loop, std::string device, const Log& log, Answer answer)
        : loop_(loop), device_(std::move(device)), log_(log), answer_(std::move(answer)) {}
    /// `waits`: until the bus has given us the name.
    Result<> connect(bool waits);
    void reconnect();
    static int call(sd_bus_message* message, void* server, sd_bus_error* error);
    static int lost(sd_bus_message* message, void* server, sd_bus_error* error);
    static int named(sd_bus_message* answer, void* server, sd_bus_error* error);
    static const std::vector<sd_bus_vtable>& teamd_table();

    sd_event* loop_;
    std::string device_;
    const Log& log_;
    Answer answer_;
    Bus bus_;
    std::optional<Timer> retry_; ///< after the bus has gone, or refused the name
    LogOnce name_failure_;
    Facts facts_;
};

} // namespace teamo
