// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/reload.h"

#include "daemon/team/ignored_settings.h"
#include "json/write.h"

#include <algorithm>

namespace teamo {

Result<> check_kept(const TeamContext& context, const TeamConfig& next) {
    constexpr auto again = "stop the team and start it again";
    const auto& datapath = *context.datapath;
    if (next.device != context.name())
        return fail(ENOTSUP,
                    fmt::format("/device: a running team keeps its name, {}; {}", context.name(), again));
    if (next.attach && !datapath.is_guest())
        return fail(ENOTSUP, fmt::format("/attach: {} is a device of the daemon; {}", context.name(), again));
    if (!next.attach && datapath.is_guest())
        return fail(ENOTSUP, fmt::format("/attach: {} is a bond of another program; add \"attach\": true",
                                         context.name()));
    if (next.attach) return {};
    TEAMO_TRY(check_kept(datapath.name(), next.datapath));
    if (datapath.name() == "team")
        TEAMO_TRY(within("/runner/name", check_runner(DatapathChoice::team, next.runner)));
    if (needs_device_tls(next) != datapath.kernel_hashes())
        return fail(ENOTSUP,
                    fmt::format("/offload/tls-hw-tx-offload: device TLS needs another device; {}", again));
    if (datapath.can_run(next)) return {};
    if (next.runner.index() == context.config().runner.index())
        return fail(
            ENOTSUP,
            fmt::format("/runner: a bond keeps the settings of LACP with which it was made; {}", again));
    return fail(ENOTSUP,
                fmt::format("/runner/name: the kernel's {} driver cannot change from {} to {} while the "
                            "team has ports; {}",
                            datapath.name(), name_of(context.config().runner), name_of(next.runner), again));
}

namespace {

/// For another hash, and for another min_links of a bond of ours, which it gets with its programs.
bool needs_programs(const TeamContext& context, const TeamConfig& next) {
    const auto& now = context.config();
    const auto hash_of = [](const TeamConfig& config) { return kind_of(hash_fields_of(config.runner)); };
    if (context.datapath->name() == "team") return false;
    const bool has_min_links =
        context.datapath->is_bond() && !context.datapath->is_guest() && is_lacp(next.runner);
    return hash_of(next) != hash_of(now) || (has_min_links && next.min_ports != now.min_ports);
}

/// Of ports that the team has had before, each failed join was reported then.
Result<> check_new_ports(const TeamContext& context, const PortSet& ports, const TeamConfig& next) {
    auto fresh = next;
    const auto& journal = context.journal.now();
    std::erase_if(fresh.ports, [&](const auto& port) {
        return ports.find(port.first) != nullptr || std::ranges::count(journal.configured, port.first) != 0 ||
               std::ranges::count(journal.removed_by_hand, port.first) != 0;
    });
    return ports.check(fresh);
}

/// For the control socket: the differences and warnings as JSON.
json::Value document_of(const Reload& reload) {
    json::Array list;
    for (const auto& difference : reload.differences) {
        json::Value entry(json::Object{{"pointer", difference.pointer}});
        if (difference.from) entry.set("from", *difference.from);
        if (difference.to) entry.set("to", *difference.to);
        list.push_back(std::move(entry));
    }
    return json::Object{{"differences", std::move(list)},
                        {"warnings", json::Array(reload.warnings.begin(), reload.warnings.end())}};
}

/// As after a restart: the programs take the place of those that run, with the same tables.
Result<> replace_datapath(TeamParts& parts, std::unique_ptr<Datapath> datapath) {
    auto& context = parts.context;
    const auto attach = [&](Datapath& to) -> Result<> {
        TEAMO_TRY(to.steer(parts.bond.steering())); // before, so that it takes the place of the former
        return to.attach_team(context.device, parts.reconciler.tables());
    };
    if (auto done = attach(*datapath); !done) {
        static_cast<void>(datapath->steer(Steering::off)); // the first failure is reported
        // What it has set, such as min_links, is as before.
        if (auto back = attach(*context.datapath); !back) context.log(Level::warning, back.error().text);
        return done;
    }
    std::swap(context.datapath, datapath);
    parts.ports.attach_all();
    return {};
}

} // namespace

Result<Reload> read_reload(const Options& options, const Configuration& now, std::string_view text,
                           std::string_view file) {
    auto accepted = TEAMO_TRY(
        accept(read_configuration(text, options.team_device, options.attach, options.datapath), file));
    Reload reload{.next = std::move(accepted.configuration), .warnings = std::move(accepted.warnings)};
    auto& next = reload.next.team;
    if (next.device.empty()) {
        next.device = now.team.device; // the start chose it
        reload.next.document.set("device", next.device);
    }
    reload.differences = differences(now.document, reload.next.document);
    const bool is_kept = std::ranges::find(reload.differences, "/debug_level", &Difference::pointer) ==
                         reload.differences.end();
    // It may have been set by a request.
    next.debug_level = is_kept ? now.team.debug_level : std::max(options.debug, next.debug_level);
    return reload;
}

void log_reload(const Log& log, const Reload& reload, std::string_view file) {
    for (const auto& warning : reload.warnings)
        log(Level::warning, warning);
    for (const auto& difference : reload.differences)
        log(Level::info, fmt::format("configuration: {}", text_of(difference)));
    log(Level::notice,
        fmt::format("configuration reloaded from {}: {} {}", file, reload.differences.size(),
                    reload.differences.size() == 1 ? "setting differs" : "settings differ"),
        message_id::config_reloaded);
}

Result<Reload> plan_reload(TeamParts& parts, std::string_view text, std::string_view file) {
    auto& context = parts.context;
    if (context.team() == nullptr) return fail(ENODEV, "the team's device is gone");
    auto reload = TEAMO_TRY(read_reload(with_a_file(context.options), context.configuration, text, file));
    const auto& next = reload.next.team;
    TEAMO_TRY(within(file, check_kept(context, next)));
    TEAMO_TRY(within(file, parts.ports.check_distinct(next)));
    TEAMO_TRY(within(file, check_new_ports(context, parts.ports, next)));
    if (reload.differences.empty()) return reload;
    std::ranges::move(ignored_by_datapath(*context.datapath, next), std::back_inserter(reload.warnings));
    if (needs_programs(context, next)) {
        const auto kept = context.datapath->name() == "bond" ? DatapathChoice::bond : DatapathChoice::bpf;
        reload.datapath =
            TEAMO_TRY(open_datapath(kept, context.control, context.team(), next, *context.programs)).datapath;
        if (auto why = reload.datapath->cannot_steer(); !why.empty() && context.datapath->steers())
            return fail(ENOTSUP, std::move(why));
    }
    return reload;
}

Result<> apply_reload(TeamParts& parts, Reload reload, std::string_view file) {
    auto& context = parts.context;
    if (reload.datapath)
        TEAMO_TRY(replace_datapath(parts, std::move(reload.datapath)));
    else
        parts.ports.attach_refused();
    log_reload(context.log, reload, file);
    const auto before = std::exchange(context.configuration, std::move(reload.next)).team;
    context.log.set_debug(context.config().debug_level > 0);
    set_hwaddr(context); // before ports leave, with which a bond loses its address
    parts.ports.reconfigure(before);
    if (before.guard != context.config().guard) parts.ports.guard();
    parts.reconciler.reconfigure(before.runner);
    parts.subsystems.offloads->change(context.device.team, context.config().offload);
    parts.subsystems.balancing->reconfigure(before.balance);
    parts.subsystems.interrupts->reconfigure(before.interrupts);
    const auto policy = context.config().interrupts.policy;
    if (policy != before.interrupts.policy)
        parts.subsystems.interrupts->manage(policy == InterruptPolicy::unique);
    parts.subsystems.workers->reconfigure(before.workers);
    if (before.runner != context.config().runner && context.changed) context.changed();
    return {};
}

control::Reply answer_reload(const control::ConfigReload& request, const Log& log,
                             const std::function<Result<Reload>()>& plan,
                             const std::function<Result<>(Reload)>& apply) {
    auto planned = plan();
    const auto document = planned ? document_of(*planned) : json::Value();
    auto done = planned ? Result<>() : Result<>(tl::unexpected(planned.error()));
    if (planned && !request.dry_run) done = apply(std::move(*planned));
    if (done) return json::write(document);
    if (!request.dry_run)
        log(Level::error, fmt::format("nothing is changed: {}", done.error().text),
            message_id::config_refused);
    return control::Refusal{
        .code = "ConfigReloadFail",
        .message = fmt::format("{}: {}.", request.dry_run ? "Would be refused" : "Nothing is changed",
                               done.error().text)};
}

} // namespace teamo
