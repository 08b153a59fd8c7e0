// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/session.h"

#include "base/clock.h"
#include "base/whole_number.h"
#include "kernel/files/files.h"
#include "kernel/netlink/links.h"
#include "json/write.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace teamo::ctl {
namespace {

constexpr std::chrono::seconds sample_time{1};

/// The daemon of a team is known by the device's own name.
Result<std::string> team_name(const std::string& given, const Options& options) {
    auto name = device_name(given);
    if (!name && name.error().number == ENODEV) {
        const bool runs = ::access(fmt::format("/run/teamd/{}.sock", given).c_str(), F_OK) == 0;
        if (runs && options.waiting) return given;
        return fail(ENODEV, fmt::format("Device \"{}\" does not exist{}", given,
                                        runs ? fmt::format("; {}", without_device) : std::string()));
    }
    return name;
}

/// Ports that join or leave may have cards that take seconds.
bool is_long(const control::Request& request) {
    return std::holds_alternative<control::ConfigReload>(request) ||
           std::holds_alternative<control::PortAdd>(request) ||
           std::holds_alternative<control::PortRemove>(request) ||
           std::holds_alternative<control::PortConfigUpdate>(request);
}

Waits::Scope wait_for_answer(const Options& options, std::chrono::seconds patience) {
    return options.waits->slow("waits for the daemon's answer", patience);
}

} // namespace

Result<std::string> device_name(std::string_view given) {
    auto links = TEAMO_TRY(LinkControl::open());
    return TEAMO_TRY(links.read(given)).name;
}

std::chrono::seconds usual_patience() {
    const auto* text = std::getenv("TEAMOCTL_TIMEOUT");
    const auto number = text == nullptr ? std::nullopt : whole_number<std::uint16_t>(text);
    return std::chrono::seconds(number && *number > 0 ? *number : 5);
}

std::chrono::seconds patience_for(const control::Request& request) {
    constexpr std::chrono::seconds least_of_long{60};
    return is_long(request) ? std::max(least_of_long, usual_patience()) : usual_patience();
}

Result<std::vector<std::string>> running_teams() {
    std::vector<std::string> teams;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/run/teamd", failed))
        if (entry.path().extension() == ".sock") teams.push_back(entry.path().stem().string());
    if (failed && failed != std::errc::no_such_file_or_directory)
        return fail_errno(failed.value(), "/run/teamd");
    std::ranges::sort(teams);
    return teams;
}

Result<std::vector<control::RefusedTeam>> refused_teams(const std::vector<std::string>& running) {
    if (!running_by(control::all_pid_path)) return {}; // killed: its file is about the past
    const auto text = read_file(control::refused_teams_path);
    if (!text && text.error().number != ENOENT) return tl::unexpected(text.error());
    auto refused = control::parse_refused_teams(text.value_or(""));
    std::erase_if(refused, [&running](const control::RefusedTeam& one) { // in a process of its own by now
        return std::ranges::find(running, one.team) != running.end();
    });
    return refused;
}

void put(std::string_view text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout)); }

void warn(std::string_view line) { std::fputs(fmt::format("{}\n", line).c_str(), stderr); }

Result<Session> Session::open(const std::string& given, const Options& options) {
    if (options.zmq) return fail(ENOTSUP, "ZeroMQ support is not compiled-in");
    const auto waiting = options.waits->slow("waits for the kernel and the daemon", usual_patience());
    const auto team = TEAMO_TRY(team_name(given, options));
    auto client = options.dbus ? control::Client::connect_by_bus(team) : control::Client::connect(team);
    if (!client) {
        auto error = std::move(client.error());
        if (error.number == ENOENT || error.number == ECONNREFUSED)
            error.text += fmt::format("; start the daemon: teamd-offload -d{} -t {} -f FILE",
                                      options.dbus ? " -D" : "", team);
        return within(team, std::move(error));
    }
    Session session(team, options, std::move(*client));
    TEAMO_TRY(session.check_device());
    return session;
}

Result<> Session::check_device() {
    const auto config = document(control::ConfigDump{});
    if (!config) return within(team_, config.error());
    const auto* device = config->find("device");
    if (!device || !device->string()) return fail(EPROTO, "Failed to parse device name from config.");
    if (*device->string() != team_)
        return fail(EINVAL, fmt::format("Unable to access to {} through connected teamd daemon because it "
                                        "controls {}.",
                                        team_, *device->string()));
    return {};
}

Result<std::string> Session::call(const control::Request& request) {
    const auto waiting = wait_for_answer(options_, patience_for(request));
    return client_.text(request, patience_for(request));
}

Result<json::Value> Session::document(const control::Request& request) {
    const auto waiting = wait_for_answer(options_, patience_for(request));
    return client_.document(request, patience_for(request));
}

Result<TeamState> Session::state() {
    auto document = TEAMO_TRY(this->document(control::StateDump{}));
    return control::read_state(std::move(document));
}

Result<Sample> Session::sample() {
    const auto waiting = waits().usual("measures what the ports send", sample_time);
    auto before = TEAMO_TRY(state());
    const auto start = Clock::now();
    std::this_thread::sleep_for(sample_time);
    auto after = TEAMO_TRY(state());
    const auto between = Clock::now() - start;
    auto rates = rates_between(before, after, between);
    return Sample{std::move(before), std::move(after), between, std::move(rates)};
}

void print(const Options& options, const json::Value& document) {
    put(json::write(document, {.indent = options.oneline ? 0 : 4}) + "\n");
}

void Session::print(const json::Value& document, std::string_view text) const {
    if (options_.json)
        print(document);
    else
        put(text);
}

} // namespace teamo::ctl
