// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The daemon: reads options and configuration, runs one team in its loop, and stops it.
#include "capabilities.h"
#include "control_server.h"
#include "daemonize.h"
#include "dry_run.h"
#include "kernel/files/files.h"
#include "options.h"
#include "pid_file.h"
#include "team/team.h"
#include "unsupported.h"

#include <sched.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <filesystem>

namespace teamo {
namespace {

constexpr int success = 0, failure = 1, runtime_failure = 2; // teamd's exit statuses
// sysexits.h, EX_TEMPFAIL: the same start may succeed in a moment (the unit does not try again after 1).
constexpr int try_again = 75;

int status_of(const Error& error) { return is_passing(error) ? try_again : failure; }
constexpr const char* run_directory = "/run/teamd";
constexpr std::chrono::seconds kill_patience{30};

struct Text {
    std::string name; ///< of the file, or "-c"; for messages
    std::string text;
};

/// teamd: -c wins over -f, and without either the configuration is {}.
Result<Text> configuration_text(const Options& options, const Log& log) {
    if (options.config_text) {
        if (options.config_file)
            log(Level::warning, "Command line config is present, ignoring given config file.");
        return Text{.name = "-c", .text = *options.config_text};
    }
    if (!options.config_file) return Text{.name = "-c", .text = "{}"};
    auto text = read_file(*options.config_file);
    if (!text) return within("configuration", std::move(text.error()));
    return Text{.name = *options.config_file, .text = std::move(*text)};
}

/// As teamd without `device`: the first "team%d" that is free.
std::string free_team_name(const Links& links) {
    for (int number = 0;; ++number)
        if (auto name = fmt::format("team{}", number); find_link(links, name) == nullptr) return name;
}

int check_configuration(const ConfigurationRead& read, const std::string& file) {
    for (const auto& diagnostic : read.diagnostics)
        fmt::print("{}\n", text_of(diagnostic, file));
    return read.has_errors() ? failure : success;
}

/// Starting a team: what teamd tolerates is only a warning.
Result<Configuration> accept(ConfigurationRead read, const std::string& file, const Log& log) {
    std::string refused;
    for (auto diagnostic : read.diagnostics) {
        if (diagnostic.tolerated) diagnostic.severity = Diagnostic::Severity::warning;
        if (diagnostic.severity == Diagnostic::Severity::warning)
            log(Level::warning, text_of(diagnostic, file));
        else if (refused.empty())
            refused = text_of(diagnostic, file);
    }
    if (!read.configuration) return fail(EINVAL, refused.empty() ? file + ": cannot be used" : refused);
    return std::move(*read.configuration);
}

/// The loop of one running team, until a signal or a failure ends it.
class Run {
public:
    Run(const Options& options, Log& log) : options_(options), log_(log) {}

    int run(Configuration configuration, std::string pid_file, Daemonized* daemonized);

private:
    Result<> start(Configuration configuration, std::string pid_file);
    void ready();
    void notify_status();
    void end(int status) { sd_event_exit(loop_.get(), status); }

    const Options& options_;
    Log& log_;
    EventLoop loop_;
    std::vector<Signal> signals_;
    std::unique_ptr<Team> team_;
    bool ending_ = false;
    std::unique_ptr<ControlServer> server_; // destroyed before the team that it refers to
};

Result<> Run::start(Configuration configuration, std::string pid_file) {
    auto loop = TEAMO_TRY(make_loop());
    loop_ = std::move(loop);
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP}) {
        auto signal = Signal::make(loop_.get(), number, [this, number] {
            if (number == SIGHUP) return; // as teamd: caught, without an effect
            log_(Level::info, fmt::format("signal {}, stopping", number));
            end(success);
        });
        if (!signal) return tl::unexpected(signal.error());
        signals_.push_back(std::move(*signal));
    }
    const auto device = configuration.team.device;
    TeamOptions team_options{.recreate = options_.force_recreate,
                             .without_ports = options_.no_ports,
                             .keep_on_stop = options_.no_quit_destroy,
                             .take_over = options_.take_over,
                             .daemonized = options_.daemonize,
                             .datapath = options_.datapath.value_or(configuration.team.datapath),
                             .pid_file = std::move(pid_file),
                             .changed = [this] { notify_status(); }};
    auto team = Team::start(std::move(configuration), std::move(team_options), log_, loop_.get(),
                            [this](const Error& error) {
                                log_(Level::error, error.text);
                                end(runtime_failure);
                            });
    if (!team) return tl::unexpected(team.error());
    team_ = std::move(*team);
    if (!options_.usock) return {};
    auto server =
        ControlServer::listen(loop_.get(), fmt::format("{}/{}.sock", run_directory, device), log_,
                              [this](const control::Request& request) { return team_->answer(request); });
    if (!server) {
        team_->abandon();
        return tl::unexpected(server.error());
    }
    server_ = std::move(*server);
    return {};
}

void Run::ready() {
    sd_event_set_watchdog(loop_.get(), 1);
    sd_notify(0, "READY=1");
    notify_status();
    log_(Level::info, describe(team_->status()));
}

/// Sends the status line for systemctl status; not while the team is starting or stopping.
void Run::notify_status() {
    if (team_ && !ending_) sd_notifyf(0, "STATUS=%s", describe(team_->status()).c_str());
}

int Run::run(Configuration configuration, std::string pid_file, Daemonized* daemonized) {
    // Blocked first, so that a signal during the start waits for the loop.
    sigset_t mask;
    sigemptyset(&mask);
    for (const int number : {SIGTERM, SIGINT, SIGQUIT, SIGHUP})
        sigaddset(&mask, number);
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    ::signal(SIGPIPE, SIG_IGN);

    if (const auto started = start(std::move(configuration), std::move(pid_file)); !started) {
        log_(Level::error, started.error().text);
        const int status = status_of(started.error());
        if (daemonized != nullptr) daemonized->started(status);
        return status;
    }
    ready();
    if (daemonized != nullptr) {
        daemonized->started(success);
        log_.go_to_background();
    }
    const int status = sd_event_loop(loop_.get());
    ending_ = true;
    sd_notify(0, "STOPPING=1");
    server_.reset();
    team_->stop();
    return status < 0 ? runtime_failure : status;
}

/// Runs at SCHED_RR, so that CPU load does not delay a failover: it lasts several times as long otherwise.
/// Best effort: needs CAP_SYS_NICE. Forked processes do not inherit it.
void raise_priority() {
    const sched_param lowest{.sched_priority = 1};
    static_cast<void>(::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest));
}

int run_team(const Options& options, Configuration configuration, Log& log, const std::string& pid_path) {
    if (auto may = check_capabilities(); !may) {
        log(Level::error, may.error().text);
        return failure;
    }
    std::optional<Daemonized> daemonized;
    if (options.daemonize) {
        auto child = Daemonized::fork();
        if (!child) {
            log(Level::error, child.error().text);
            return status_of(child.error());
        }
        daemonized.emplace(std::move(*child));
    }
    if (::mkdir(run_directory, 0755) < 0 && errno != EEXIST) {
        const Error error{errno, fmt::format("{}: {}", run_directory, errno_text(errno))};
        log(Level::error, error.text);
        return status_of(error);
    }
    auto pid_file = PidFile::take(pid_path);
    if (!pid_file) {
        log(Level::error, pid_file.error().text);
        return status_of(pid_file.error());
    }
    raise_priority();
    return Run(options, log).run(std::move(configuration), pid_path, daemonized ? &*daemonized : nullptr);
}

int main(const Options& options) {
    Log log("teamd-offload", options.log_output);
    const auto text = configuration_text(options, log);
    if (!text) {
        log(Level::error, text.error().text);
        return status_of(text.error());
    }
    auto read = read_configuration(std::string_view(text->text), options.team_device);
    if (options.command == Options::Command::check_configuration)
        return check_configuration(read, text->name);
    auto accepted = accept(std::move(read), text->name, log);
    if (!accepted) {
        log(Level::error, accepted.error().text, message_id::config_refused);
        return failure;
    }
    auto& configuration = *accepted;
    const bool by_name =
        options.command == Options::Command::kill || options.command == Options::Command::check_running;
    if (configuration.team.device.empty() && by_name) {
        log(Level::error, "Team device name not specified.");
        return failure;
    }
    if (configuration.team.device.empty()) {
        auto control = LinkControl::open();
        auto links = control ? control->read_all() : Result<Links>(tl::unexpected(control.error()));
        if (!links) {
            log(Level::error, links.error().text);
            return status_of(links.error());
        }
        configuration.team.device = free_team_name(*links);
        configuration.document.set("device", configuration.team.device);
    }
    log.set_team(configuration.team.device);
    log.set_debug(std::max(options.debug, configuration.team.debug_level) > 0);
    // Absolute, since a daemon in the background changes to /.
    const auto pid_path =
        std::filesystem::absolute(
            options.pid_file.value_or(fmt::format("{}/{}.pid", run_directory, configuration.team.device)))
            .string();
    switch (options.command) {
    case Options::Command::check_running: return running_by(pid_path) ? success : failure;
    case Options::Command::kill:
        if (const auto killed = kill_by(pid_path, kill_patience); !killed) {
            log(Level::error, killed.error().text);
            return failure;
        }
        return success;
    case Options::Command::dry_run: return dry_run(configuration, options, log);
    case Options::Command::check_configuration:
    case Options::Command::run: break;
    }
    if (const auto supported = check_supported(configuration.team); !supported) {
        log(Level::error, supported.error().text);
        return failure;
    }
    for (const auto& sentence : ignored_settings(configuration))
        log(Level::warning, sentence);
    if (options.dbus) log(Level::warning, "the D-Bus interface is not implemented yet; use the unix socket");
    if (options.zmq_address) log(Level::warning, "ZeroMQ support is not compiled-in.");
    configuration.team.debug_level = std::max(options.debug, configuration.team.debug_level);
    return run_team(options, std::move(configuration), log, pid_path);
}

} // namespace
} // namespace teamo

int main(int argc, char** argv) {
    const auto options = teamo::parse_options(argc, argv);
    if (const auto* status = std::get_if<int>(&options)) return *status;
    return teamo::main(std::get<teamo::Options>(options));
}
