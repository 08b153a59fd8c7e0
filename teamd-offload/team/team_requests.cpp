// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What the control socket asks of a team, with teamd's codes and messages; the reason follows teamd's words.
#include "team/team.h"

#include "balance/buckets.h"
#include "base/match.h"
#include "base/whole_number.h"
#include "control/interrupt_document.h"
#include "control/state_document.h"
#include "json/write.h"

#include <algorithm>
#include <functional>

namespace teamo {
namespace {

using control::Refusal;
using control::Reply;

Refusal no_such_device() { return {.code = "NoSuchDev", .message = "No such device."}; }

Refusal refusal(std::string_view code, std::string_view teamds_words, const Error& error) {
    return {.code = std::string(code), .message = fmt::format("{}: {}.", teamds_words, error.text)};
}

std::optional<BenchmarkResult> read_benchmark(const control::KeepBenchmark& request) {
    BenchmarkResult result;
    const auto read = [](const std::string& text, std::uint64_t& figure) {
        const auto number = whole_number<std::uint64_t>(text);
        figure = number.value_or(0);
        return number && figure <= INT64_MAX;
    };
    if (!read(request.bytes_without, result.bytes_without) || !read(request.bytes_with, result.bytes_with) ||
        !read(request.cpu_without, result.cpu_without) || !read(request.cpu_with, result.cpu_with))
        return std::nullopt;
    for (const auto effect :
         {BenchmarkEffect::unclear, BenchmarkEffect::none, BenchmarkEffect::gain, BenchmarkEffect::loss})
        if (request.effect == name_of(effect)) {
            result.effect = effect;
            return result;
        }
    return std::nullopt;
}

/// What is "true" or "false".
Reply told(const std::string& text, std::string_view failed, const std::function<void(bool)>& act) {
    if (text != "true" && text != "false")
        return refusal("InvalidArgs", failed, {EINVAL, "it is \"true\" or \"false\""});
    act(text == "true");
    return {};
}

Reply about_process(const std::string& text, std::string_view failed,
                    const std::function<Result<>(pid_t)>& act) {
    const auto pid = whole_number<pid_t>(text);
    if (!pid || *pid <= 0) return refusal("InvalidArgs", failed, {EINVAL, text + " is no process number"});
    if (auto done = act(*pid); !done) return refusal("WorkersFail", failed, done.error());
    return {};
}

} // namespace

struct Team::Answering {
    Team& team;

    const Link* device(const std::string& name) const { return find_link(team.observer_->links(), name); }

    Reply operator()(const control::PortAdd& request) const {
        const auto* link = device(request.port);
        if (link == nullptr) return no_such_device();
        if (team.find_port(request.port) != nullptr)
            return refusal("PortAddFail", "Failed to add port",
                           {EEXIST, request.port + " is a port of this team already"});
        if (auto joined = team.join(link->index); !joined)
            return refusal("PortAddFail", "Failed to add port",
                           {0, request.port + " " + joined.error().text});
        team.pass();
        return {};
    }

    Reply operator()(const control::PortRemove& request) const {
        const auto* link = device(request.port);
        if (link == nullptr) return no_such_device();
        if (team.find_port(request.port) == nullptr)
            return refusal("PortRemoveFail", "Failed to del port",
                           {ENODEV, request.port + " is no port of this team"});
        team.journal_.removed_by_hand.push_back(request.port);
        if (auto left = team.leave(link->index); !left)
            return refusal("PortRemoveFail", "Failed to del port",
                           {0, request.port + " " + left.error().text});
        return {};
    }

    Reply operator()(const control::PortConfigUpdate& request) const {
        if (device(request.port) == nullptr) return no_such_device();
        return team.update_port(request);
    }

    Reply operator()(const control::PortConfigDump& request) const {
        if (device(request.port) == nullptr) return no_such_device();
        if (team.find_port(request.port) == nullptr)
            return Refusal{.code = "ConfigDumpFail", .message = "Failed to dump config."};
        const auto* ports = team.configuration_.document.find("ports");
        const auto* port = ports == nullptr ? nullptr : ports->find(request.port);
        return json::write(port == nullptr ? json::Value(json::Object{}) : *port);
    }

    Reply operator()(const control::ConfigDump& /*request*/) const {
        return json::write(team.configuration_.document);
    }

    Reply operator()(const control::ConfigDumpActual& /*request*/) const {
        std::vector<std::string> present;
        for (const auto& port : team.ports_)
            present.push_back(port.name);
        return json::write(actual_configuration(team.configuration_.document, present));
    }

    Reply operator()(const control::StateDump& /*request*/) const {
        return json::write(control::state_document(team.status()));
    }

    Reply operator()(const control::StateItemValueGet& request) const {
        auto item = control::state_item(control::state_document(team.status()), request.path);
        if (!item) return Refusal{.code = "PathDoesNotExist", .message = "Item path does not exist."};
        return std::move(*item);
    }

    Reply operator()(const control::StateItemValueSet& request) const {
        return team.set_item(request.path, request.value);
    }

    Reply operator()(const control::BalanceMove& request) const {
        const auto bucket = whole_number<unsigned>(request.bucket);
        if (!bucket || *bucket >= bucket_count)
            return refusal("InvalidArgs", "Failed to move bucket",
                           {EINVAL, request.bucket + " is no bucket; they are 0 to 255"});
        if (request.when != "gap" && request.when != "now")
            return refusal("InvalidArgs", "Failed to move bucket",
                           {EINVAL, request.when + " is no time; it is \"gap\" or \"now\""});
        const auto* port = team.find_port(request.port);
        if (port == nullptr) return no_such_device();
        if (auto moved =
                team.balancing_->move(static_cast<std::uint8_t>(*bucket), port->slot, request.when == "now");
            !moved)
            return refusal("BalanceMoveFail", "Failed to move bucket", moved.error());
        return {};
    }

    Reply operator()(const control::BalanceFreeze& request) const {
        return told(request.frozen, "Failed to freeze",
                    [this](bool frozen) { team.balancing_->freeze(frozen); });
    }

    Reply operator()(const control::InterruptsPlan& /*request*/) const {
        return json::write(control::interrupt_document(team.interrupts_->rehearse()));
    }

    Reply operator()(const control::InterruptsManage& request) const {
        return told(request.managed, "Failed to manage interrupts",
                    [this](bool managed) { team.benchmark_pause_->settle("interrupts", managed); });
    }

    Reply operator()(const control::WorkersBind& request) const {
        if (request.policy != "follow" && request.policy != "spread")
            return refusal("InvalidArgs", "Failed to bind a worker",
                           {EINVAL, request.policy + " is no policy; it is \"follow\" or \"spread\""});
        const auto policy = request.policy == "spread" ? WorkerPolicy::spread : WorkerPolicy::follow;
        return about_process(request.process, "Failed to bind a worker",
                             [&](pid_t pid) { return team.workers_->bind(pid, policy); });
    }

    Reply operator()(const control::WorkersRelease& request) const {
        return about_process(request.process, "Failed to release a worker",
                             [&](pid_t pid) { return team.workers_->release(pid); });
    }

    Reply operator()(const control::WorkersManage& request) const {
        return told(request.managed, "Failed to manage workers",
                    [this](bool managed) { team.benchmark_pause_->settle("workers", managed); });
    }

    Reply operator()(const control::PauseForBenchmark& request) const {
        if (auto tried = team.benchmark_pause_->ask(request.step, request.state); !tried)
            return refusal("ProofTryFail", "Failed to try without", tried.error());
        return {};
    }

    Reply operator()(const control::KeepBenchmark& request) const {
        const auto result = read_benchmark(request);
        if (!result || (request.step != "interrupts" && request.step != "workers"))
            return refusal("InvalidArgs", "Failed to keep a proof", {EINVAL, "it makes no sense"});
        team.benchmarks_[request.step] = *result;
        return {};
    }

    Reply operator()(const control::OffloadTry& request) const {
        const auto* port = team.find_port(request.port);
        if (port == nullptr) return no_such_device();
        if (auto tried = team.trial_->ask(port->index, port->name, request.state); !tried)
            return refusal("OffloadTryFail", "Failed to try an offload", tried.error());
        return {};
    }
};

control::Reply Team::answer(const control::Request& request) {
    // The events taken in here wake nobody any more: the pass they call for is made here too, before the
    // answer and after it, since carrying out a request takes in events as well.
    observer_->catch_up();
    pass();
    auto reply = std::visit(Answering{*this}, request);
    pass();
    return reply;
}

control::Reply Team::set_item(const std::string& path, const std::string& value) {
    const auto failed = [](std::string_view why) {
        return Refusal{.code = "ItemValueSetFail",
                       .message = fmt::format("Failed to set item value: {}.", why)};
    };
    if (path == "setup.debug_level") {
        const auto level = whole_number<std::uint32_t>(value);
        if (!level || *level > INT32_MAX) return failed("the level is a number from 0 up");
        configuration_.team.debug_level = *level;
        log_.set_debug(*level > 0);
        return {};
    }
    if (path == "runner.active_port")
        if (auto* backup = std::get_if<ActiveBackup>(&runner_)) {
            const auto* port = find_port(value);
            if (port == nullptr) return failed(value + " is no port of this team");
            if (!backup->choose(port->index, candidates()))
                return failed("the link of " + value + " is down");
            pass();
            return {};
        }
    if (!control::state_item(control::state_document(status()), path))
        return Refusal{.code = "PathDoesNotExist", .message = "Item path does not exist."};
    return Refusal{.code = "OpNotSupp", .message = "Operation not supported."};
}

control::Reply Team::update_port(const control::PortConfigUpdate& request) {
    const auto failed = [](std::string_view why) {
        return Refusal{.code = "ConfigUpdateFail",
                       .message = fmt::format("Failed to update config: {}.", why)};
    };
    auto object = parse_port_configuration(request.config);
    if (!object) return failed(object.error().text);
    auto document = with_port_configuration(configuration_.document, request.port, std::move(*object));
    auto read = read_configuration(document, name());
    if (!read.configuration) return failed(read.diagnostics.empty() ? "" : read.diagnostics.front().text);
    for (const auto& entry : read.configuration->team.ports)
        if (const auto watch = unsupported_watch(entry.second.link_watches); !watch.empty())
            return failed(fmt::format("link watch {} is not supported yet", watch));
    // Until here nothing has changed.
    configuration_ = {.team = std::move(read.configuration->team),
                      .document = std::move(document)}; // dumped as it was sent
    for (auto& port : ports_) {
        auto config = config_of(port.name);
        if (config.link_watches != port.config.link_watches)
            port.watch =
                PortWatch(config.link_watches, configuration_.team.link_watch_policy, port.watch.up());
        offloads_->change(port.index, config.offload);
        port.config = std::move(config);
    }
    pass();
    return {};
}

TeamStatus Team::status() {
    const auto* team = find_link(observer_->links(), device_.team);
    TeamStatus status;
    status.name = name();
    status.ifindex = device_.team;
    status.runner = configuration_.team.runner;
    status.datapath = datapath_->name();
    status.device_kind = device_.kind;
    status.pid = ::getpid();
    status.pid_file = options_.pid_file;
    status.debug_level = configuration_.team.debug_level;
    status.daemonized = options_.daemonized;
    if (team != nullptr) {
        status.address = team->address;
        status.link.up = team->has_link();
    }
    const auto counters = datapath_->read_counters();
    std::uint32_t speed = 0;
    for (const auto& port : ports_) {
        auto one = port_status(port);
        if (counters) one.counters = (*counters)[port.slot.value];
        if (one.transmits) speed += one.link.speed.value_or(0);
        if (one.transmits) status.link.duplex = one.link.duplex;
        if (decision_.active == port.index) status.active_port = one.name;
        status.ports.push_back(std::move(one));
    }
    if (speed != 0) status.link.speed = speed;
    status.offload = offload_status();
    status.interrupts = interrupts_->status();
    status.workers = workers_->status();
    status.benchmarks = benchmarks_;
    status.refused = refused_status();
    if (tables_.mode == TransmitMode::hash && device_.team) status.balance = balancing_->status();
    return status;
}

std::vector<RefusedStatus> Team::refused_status() const {
    std::vector<RefusedStatus> list;
    for (const auto& [port, refused] : refused_ports_)
        list.push_back({.where = port, .what = refused.said});
    for (const auto& [port, patience] : leaving_)
        for (const auto& entry : journal_.ports)
            if (entry.index == port)
                list.push_back({.where = entry.name, .what = "is not as it was before it was a port yet"});
    for (const auto& refused : refused_)
        list.push_back({.where = name(), .what = refused.said});
    for (const auto* complaint : {&complaint_, &journal_complaint_})
        if (!complaint->empty()) list.push_back({.where = name(), .what = *complaint});
    return list;
}

PortStatus Team::port_status(const Port& port) const {
    PortStatus status;
    status.name = port.name;
    status.ifindex = port.index;
    status.link = port.modes;
    status.link_up = port.watch.up();
    status.watches = port.watch.status();
    if (const auto* link = find_link(observer_->links(), port.index)) {
        status.name = link->name;
        status.address = link->address;
        status.link.up = link->has_link();
    }
    status.transmits = (tables_.transmit & bit(port.slot)) != 0;
    status.receives = (tables_.receive & bit(port.slot)) != 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (leaves_by(tables_, bucket) == port.slot) ++status.buckets;
    return status;
}

} // namespace teamo
