// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "daemon/context/log.h"
#include "model/config.h"

#include <optional>
#include <string>
#include <variant>

namespace teamo {

/// The options of teamd(8), and ours.
struct Options {
    enum class Command { run, kill, check_running, check_configuration, dry_run };
    Command command = Command::run;
    /// The file of the configuration; absolute, and none with a text, while the daemon runs.
    std::optional<std::string> config_file;
    std::optional<std::string> config_text, pid_file;
    std::string team_device;
    std::uint32_t debug = 0;
    LogOutput log_output = LogOutput::automatic;
    bool daemonize = false;
    bool force_recreate = false;  ///< replace a device of that name
    bool take_over = false;       ///< take over a device of the team driver that another program made
    bool no_quit_destroy = false; ///< keep device and ports when the daemon stops
    bool no_ports = false;        ///< do not add the configured ports
    bool attach = false;          ///< to a bond that another program made
    bool or_attach = false;       ///< the same if there is no configuration file
    bool ends_former = true;      ///< not by command: the bond of a killed daemon may have gone, or its name
    bool all = false;             ///< the teams of all files in `folder`
    std::string folder = "/etc/teamd-offload";
    bool dbus = false, usock = true;
    std::optional<std::string> zmq_address;
    std::optional<DatapathChoice> datapath;
    std::optional<std::string> metrics_file; ///< absolute, while the daemon runs
};

/// By which a configuration file is read: --or-attach was for want of one.
Options with_a_file(Options options);

/// The options; or an exit status, if everything is printed already (--help, --version, wrong usage).
std::variant<Options, int> parse_options(int argc, char** argv);

} // namespace teamo
