// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team_run.h"

#include "control/metrics_text.h"
#include "daemon/team/ignored_settings.h"
#include "kernel/files/files.h"
#include "json/write.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <filesystem>

namespace teamo {
namespace {

constexpr std::chrono::seconds metrics_interval{10};

/// As teamd without `device`: the first "team%d" that is free.
Result<std::string> free_team_name() {
    auto control = TEAMO_TRY(LinkControl::open());
    const auto links = TEAMO_TRY(control.read_all());
    for (int number = 0;; ++number)
        if (auto name = fmt::format("team{}", number);
            find_named(links, name) == nullptr && find_team(links, name) == nullptr)
            return name;
}

/// A team's state in one line.
std::string text_of(const TeamStatus& status) {
    const auto carrying = std::ranges::count_if(status.ports, &PortStatus::transmits);
    auto line = fmt::format("{} over {} ({}), {} of {} ports carry", name_of(status.runner), status.datapath,
                            status.device_kind, carrying, status.ports.size());
    if (status.link.speed) line += fmt::format(", {} Mbit/s", *status.link.speed);
    if (status.active_port) line += fmt::format(", active {}", *status.active_port);
    return line;
}

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).string(); }

} // namespace

std::string usual_pid_path(std::string_view team) { return fmt::format("{}/{}.pid", run_directory, team); }

std::string next_path(std::string_view team) { return fmt::format("{}/{}.next", run_directory, team); }

int log_refusal(const Log& log, const Error& error, std::string_view id) {
    log(Level::error, error.text, id);
    return is_passing(error) ? try_again : could_not_start;
}

Result<Prepared> prepare(Options options, std::string_view text, Log& log) {
    const auto file = options.config_text ? "-c" : options.config_file.value_or("-c"); // for messages
    auto accepted = TEAMO_TRY(
        accept(read_configuration(text, options.team_device, options.attach, options.datapath), file));
    auto& configuration = accepted.configuration;
    if (configuration.team.device.empty() && configuration.team.attach)
        return fail(EINVAL, "attach to which bond? Name it with -t, or by the key \"device\"");
    if (configuration.team.device.empty()) {
        configuration.team.device = TEAMO_TRY(free_team_name());
        configuration.document.set("device", configuration.team.device);
    }
    log.set_team(configuration.team.device);
    for (const auto& warning : accepted.warnings)
        log(Level::warning, warning);
    configuration.team.debug_level = std::max(options.debug, configuration.team.debug_level);
    log.set_debug(configuration.team.debug_level > 0);
    // Absolute, since a daemon in the background changes to /.
    if (options.metrics_file) options.metrics_file = absolute(*options.metrics_file);
    if (options.config_text) options.config_file.reset();
    if (options.config_file) options.config_file = absolute(*options.config_file);
    options.pid_file = absolute(options.pid_file.value_or(usual_pid_path(configuration.team.device)));
    return Prepared{.configuration = std::move(configuration), .options = std::move(options)};
}

Result<std::unique_ptr<TeamRun>> TeamRun::start(Prepared prepared, PidFile pid_file, Log& log, sd_event* loop,
                                                ProcessParts& shared, Events events) {
    std::unique_ptr<TeamRun> run(
        new TeamRun(std::move(prepared), std::move(pid_file), log, loop, shared, std::move(events)));
    TEAMO_TRY(run->open());
    return run;
}

Result<> TeamRun::open() {
    bond_changed_ = TEAMO_TRY(Deferred::make(loop_, Priority::timer, [this] { follow_bond(); }));
    TEAMO_TRY(configuration_.team.attach ? attach() : open_team());
    auto served = pid_file_.write();
    if (served) served = serve();
    if (served) served = begin_metrics();
    if (!served && team_) team_->abandon();
    return served;
}

Result<> TeamRun::open_team() {
    const auto failed = [this](const Error& error) {
        log_(configuration_.team.attach ? Level::notice : Level::error, error.text);
        if (!configuration_.team.attach) return events_.ended(lost_team);
        lost_bond_ = true;
        bond_changed_->soon();
    };
    team_ =
        TEAMO_TRY(Team::start(configuration_, options_, log_, loop_, shared_, [this] { notify(); }, failed));
    return {};
}

/// A bond that got its name after its daemon was killed: what it was like is in the journal of the former
/// name. While a daemon runs for that name, it is that daemon's.
void TeamRun::take_journal_of_former_name(const Link& bond) {
    const auto& links = awaiting_->links();
    const auto is_there = [&](std::string_view team) {
        return find_named(links, std::string(team)) != nullptr;
    };
    for (const auto& [former, device] : read_attached(is_there)) {
        if (device != bond.index) continue;
        const auto lock = PidFile::take(usual_pid_path(former), std::chrono::milliseconds{0});
        if (!lock) continue;
        if (const auto taken = rename_journal(former, configuration_.team.device); !taken)
            log_(Level::warning, taken.error().text);
        else
            log_(Level::notice,
                 fmt::format("bond {} was {} to an earlier daemon; continues what that has begun", bond.name,
                             former));
    }
}

/// As soon as there is a bond of that name.
Result<> TeamRun::attach() {
    if (!awaiting_) {
        awaiting_ = TEAMO_TRY(Observer::make(*shared_.devices, log_, [this] { bond_changed_->soon(); }));
        awaiting_->follow({.names = {configuration_.team.device}});
        awaiting_->listen();
    }
    awaiting_->take_removed(); // which one it was does not matter
    const auto* bond = find_named(awaiting_->links(), configuration_.team.device);
    const auto journal = read_journal(configuration_.team.device);
    const bool is_left = options_.ends_former && (!journal || (*journal && (*journal)->attached));
    if (bond == nullptr && !is_left) return {};
    if (journal && !*journal) take_journal_of_former_name(*bond);
    auto opened = open_team();
    options_.ends_former = false;
    if (opened) {
        awaiting_.reset();
        return opened;
    }
    lost_bond_ = false; // of the team that could not start
    if (opened.error().number != ENODEV) return opened;
    log_(Level::notice, opened.error().text); // it was removed meanwhile; there may be another one
    awaiting_->catch_up();
    bond_changed_->soon();
    return {};
}

/// The bond is gone, or there is a new device.
void TeamRun::follow_bond() {
    if (std::exchange(lost_bond_, false)) {
        configuration_ = team_->configuration(); // a reload may have changed it
        team_->stop();
        team_.reset();
    }
    if (team_ || ending_) return;
    const auto done = attach();
    // Another program's device may have the name before the bond does.
    const bool waits = done || done.error().number == EEXIST;
    if (!waits) return events_.ended(log_refusal(log_, done.error()));
    no_bond_(log_, Level::error, "", done);
    notify();
}

control::Reply TeamRun::answer(const control::Request& request) {
    if (events_.wanted && std::holds_alternative<control::HandOver>(request)) {
        events_.wanted();
        return std::string();
    }
    return team_ ? team_->answer(request) : answer_waiting(request);
}

/// There is no bond: what is known of the team is its configuration.
control::Reply TeamRun::answer_waiting(const control::Request& request) {
    if (std::holds_alternative<control::ConfigDump>(request)) return json::write(configuration_.document);
    if (const auto* item = std::get_if<control::StateItemValueGet>(&request);
        item != nullptr && item->path == "setup.config_file")
        return options_.config_file.value_or("");
    if (const auto* reload = std::get_if<control::ConfigReload>(&request))
        return answer_reload(
            *reload, log_,
            [&] { return read_reload(options_of_file(), configuration_, reload->text, reload->file); },
            [&](Reload read) { return replace_configuration(std::move(read), reload->file); });
    return control::Refusal{
        .code = "NoSuchDev",
        .message = fmt::format("{} is not there; the daemon waits for it.", configuration_.team.device)};
}

/// The bus name last: it tells NetworkManager that the team can be used.
Result<> TeamRun::serve() {
    const auto& device = configuration_.team.device;
    const auto path = fmt::format("{}/{}.sock", run_directory, device);
    const auto reply = [this](const control::Request& request) { return answer(request); };
    if (options_.usock) server_ = TEAMO_TRY(ControlServer::listen(loop_, path, log_, reply));
    if (options_.dbus) dbus_ = TEAMO_TRY(DbusServer::open(loop_, device, log_, reply));
    if (dbus_) dbus_->follow(summary());
    return {};
}

Result<> TeamRun::begin_metrics() {
    if (!options_.metrics_file) return {};
    metrics_timer_ = TEAMO_TRY(Timer::make(loop_, [this] { write_metrics(); }));
    write_metrics();
    return {};
}

/// Whole or not at all, because the reader may come at any time.
void TeamRun::write_metrics() {
    metrics_timer_->about(metrics_interval);
    if (!team_) return; // as of a daemon that does not run
    const auto state = team_->state();
    metrics_failure_(log_, Level::warning, "metrics: ",
                     replace_file(*options_.metrics_file, control::metrics_text({&state, 1}), 0644));
}

std::string TeamRun::describe() {
    if (!team_) return fmt::format("waits for bond {}", configuration_.team.device);
    return text_of(team_->summary());
}

/// While there is no bond it has no ports.
TeamStatus TeamRun::summary() {
    if (team_) return team_->summary();
    TeamStatus status;
    status.name = configuration_.team.device;
    status.runner = configuration_.team.runner;
    return status;
}

/// Not while the team is starting or stopping.
void TeamRun::notify() {
    if (ending_ || (!team_ && !awaiting_)) return;
    events_.changed();
    if (dbus_) dbus_->follow(summary());
}

/// teamd catches SIGHUP too, without an effect.
void TeamRun::reload() {
    const auto& file = options_.config_file;
    auto text = file ? within("configuration", read_file(*file))
                     : fail(ENOENT, "there is no configuration file to read again (option -f)");
    if (text)
        static_cast<void>(answer(control::ConfigReload{.file = *file, .text = std::move(*text)}));
    else
        log_(Level::error, fmt::format("nothing is changed: {}", text.error().text),
             message_id::config_refused);
}

/// By which a file is read while there is no bond.
Options TeamRun::options_of_file() const {
    auto options = with_a_file(options_);
    options.team_device = configuration_.team.device;
    return options;
}

/// While there is no bond. It may be that of a device of ours.
Result<> TeamRun::replace_configuration(Reload reload, std::string_view file) {
    auto options = options_of_file();
    std::swap(configuration_, reload.next);
    std::swap(options_, options); // by which later reloads are read
    if (!configuration_.team.attach) {
        if (auto opened = open_team(); !opened) {
            std::swap(configuration_, reload.next);
            options_ = std::move(options);
            return opened;
        }
        awaiting_.reset();
    }
    log_.set_debug(configuration_.team.debug_level > 0);
    log_reload(log_, reload, file);
    notify();
    return {};
}

void TeamRun::stop(bool restarts, bool well) {
    ending_ = true;
    server_.reset();
    dbus_.reset();
    // Metrics that grow old raise an alert, so only a stop removes them.
    if (options_.metrics_file && well && !restarts) remove_file(*options_.metrics_file);
    // The daemon that starts next adopts the team.
    if (team_ && restarts) team_->keep_devices();
    if (team_) team_->stop();
}

} // namespace teamo
