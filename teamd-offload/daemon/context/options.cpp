// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/options.h"

#include "version.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace teamo {
namespace {

/// The options of teamd(8).
void add_teamds(CLI::App& app, Options& options) {
    app.set_help_flag("-h,--help", "Show this help");
    app.add_flag("-d,--daemonize", options.daemonize, "Daemonize after startup");
    app.add_flag_callback(
        "-k,--kill", [&options] { options.command = Options::Command::kill; },
        "Kill running daemon instance");
    app.add_flag_callback(
        "-e,--check", [&options] { options.command = Options::Command::check_running; },
        "-e: return 0 if a daemon is already running; --check: check the configuration");
    app.add_option("-f,--config-file", options.config_file, "Load the specified configuration file")
        ->type_name("FILE");
    app.add_option("-c,--config", options.config_text, "Use the given JSON configuration text")
        ->type_name("TEXT");
    app.add_option("-p,--pid-file", options.pid_file, "Use the specified PID file")->type_name("FILE");
    // Without the default, which CLI11 since 2.4 shows after the name.
    app.add_flag("-g,--debug", options.debug, "Increase verbosity")->default_str("");
    const std::map<std::string, LogOutput> outputs{{"stdout", LogOutput::standard_output},
                                                   {"stderr", LogOutput::standard_error},
                                                   {"syslog", LogOutput::syslog}};
    app.add_option("-l,--log-output", options.log_output,
                   "Force teamd log output to stdout, stderr or syslog")
        ->transform(CLI::CheckedTransformer(outputs).description("{stdout,stderr,syslog}"))
        ->type_name("OUTPUT");
    app.add_flag("-r,--force-recreate", options.force_recreate,
                 "Force team device recreation in case it already exists");
    app.add_flag("-o,--take-over", options.take_over, "Take over the device if it already exists");
    app.add_flag("-N,--no-quit-destroy", options.no_quit_destroy, "Do not destroy the device on quit");
    app.add_option("-t,--team-dev", options.team_device, "Use the specified team device")
        ->type_name("DEVICE");
    app.add_flag("-n,--no-ports", options.no_ports, "Start without ports");
    app.add_flag("-D,--dbus-enable", options.dbus, "Enable D-Bus interface");
    app.add_option("-Z,--zmq-enable", options.zmq_address,
                   "Accepted with a warning: there is no ZeroMQ interface")
        ->type_name("ADDRESS");
    app.add_flag_callback(
        "-U,--usock-enable", [&options] { options.usock = true; },
        "Enable UNIX domain socket interface (default)");
    app.add_flag_callback(
        "-u,--usock-disable", [&options] { options.usock = false; }, "Disable UNIX domain socket interface");
}

void add_ours(CLI::App& app, Options& options) {
    app.add_flag_callback(
        "--dry-run", [&options] { options.command = Options::Command::dry_run; },
        "Print the plan as JSON and exit; change nothing");
    app.add_flag("--attach", options.attach,
                 "Steer the bond of that name, which another program made, in its own mode");
    app.add_flag("--or-attach", options.or_attach, "The same if the configuration file does not exist");
    auto* all = app.add_flag("--all", options.all, "Run the teams of all files NAME.conf in one process");
    app.add_option("--config-directory", options.folder,
                   fmt::format("The directory of these files; default {}", options.folder))
        ->type_name("DIRECTORY")
        ->needs(all);
    const std::map<std::string, DatapathChoice> datapaths{{"auto", DatapathChoice::automatic},
                                                          {"team", DatapathChoice::team},
                                                          {"bpf", DatapathChoice::bpf},
                                                          {"bond", DatapathChoice::bond}};
    app.add_option_function<std::string>(
           "--datapath",
           [&options, datapaths](const std::string& name) { options.datapath = datapaths.at(name); },
           "Select the datapath: auto, team, bond or bpf")
        ->check(CLI::IsMember(datapaths))
        ->type_name("DATAPATH");
    app.add_option("--metrics-file", options.metrics_file,
                   "Write metrics for Prometheus to this file every 10 seconds")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "-L,--lacp-directory", [](const std::string&) {}, "Ignored; accepted for SONiC's scripts")
        ->type_name("DIRECTORY");
    for (const auto* other :
         {"--team-dev", "--config-file", "--config", "--pid-file", "--attach", "--or-attach",
          "--metrics-file", "--daemonize", "--kill", "--check", "--dry-run"})
        all->excludes(app.get_option(other));
}

} // namespace

Options with_a_file(Options options) {
    options.attach = options.attach && !options.or_attach;
    return options;
}

std::variant<Options, int> parse_options(int argc, char** argv) {
    Options options;
    bool version = false;
    CLI::App app("Link aggregation with TSO: a replacement for teamd(8)", "teamd-offload");
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast); // as getopt_long(3)
    add_teamds(app, options);
    add_ours(app, options);
    app.add_flag("-v,-V,--version", version, "Show version");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::fputs(app.help().c_str(), stdout);
        return 0;
    } catch (const CLI::ParseError& error) {
        std::fputs(fmt::format("teamd-offload: {} (see teamd-offload --help)\n", error.what()).c_str(),
                   stderr);
        return 1; // as teamd
    }
    if (version) {
        std::fputs(fmt::format("teamd-offload {}\n", program_version).c_str(), stdout);
        return 0;
    }
    // teamd's -e has the long name --check, which here checks the configuration instead. The parser does not
    // distinguish them.
    const auto is_long_check = [](std::string_view argument) { return argument == "--check"; };
    if (options.command == Options::Command::check_running &&
        std::any_of(argv + 1, argv + argc, is_long_check))
        options.command = Options::Command::check_configuration;
    return options;
}

} // namespace teamo
