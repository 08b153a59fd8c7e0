// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/team/reload.h"

#include "daemon/team/ignored_settings.h"

#include <algorithm>

namespace teamo {

Result<> check_kept(const TeamContext& context, const TeamConfig& next) {
    constexpr auto again = "stop the team and start it again";
    const auto& datapath = *context.datapath;
    if (next.device != context.name())
        return fail(ENOTSUP,
                    fmt::format("/device: a running team keeps its name, {}; {}", context.name(), again));
    if (next.attach != datapath.is_guest())
        return fail(ENOTSUP,
                    fmt::format("/attach: {0} is {1}; {2}", context.name(),
                                next.attach ? "a device of the daemon" : "a bond of another program", again));
    if (next.attach) return {};
    const auto choice = context.options.datapath.value_or(next.datapath);
    const auto name = enum_names<DatapathChoice>[static_cast<std::size_t>(choice)];
    if (choice != DatapathChoice::automatic && name != datapath.name())
        return fail(ENOTSUP, fmt::format("/datapath: a running team keeps its datapath, {}; {}",
                                         datapath.name(), again));
    TEAMO_TRY(check_device_tls(choice, next));
    TEAMO_TRY(check_runner(datapath.name() == "team" ? DatapathChoice::team : choice, next));
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

HashKind hash_of(const TeamConfig& config) { return kind_of(hash_fields_of(config.runner)); }

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

void log_reload(const TeamContext& context, const Reload& reload, std::string_view file) {
    for (const auto& warning : reload.warnings)
        context.log(Level::warning, warning);
    for (const auto& difference : reload.differences)
        context.log(Level::info, fmt::format("configuration: {}", text_of(difference)));
    context.log(Level::notice,
                fmt::format("configuration reloaded from {}: {} {}", file, reload.differences.size(),
                            reload.differences.size() == 1 ? "setting differs" : "settings differ"),
                message_id::config_reloaded);
}

/// As after a restart: the programs take the place of those that run, with the same tables.
Result<> replace_datapath(TeamParts& parts, std::unique_ptr<Datapath> datapath) {
    auto& context = parts.context;
    TEAMO_TRY(datapath->steer(parts.bond.steering())); // before, so that it takes the place of the former
    TEAMO_TRY(datapath->attach_team(context.device, parts.reconciler.tables()));
    std::swap(context.datapath, datapath);
    parts.ports.attach_all();
    return {};
}

} // namespace

Result<Reload> plan_reload(TeamParts& parts, std::string_view text, std::string_view file) {
    auto& context = parts.context;
    if (context.team() == nullptr) return fail(ENODEV, "the team's device is gone");
    auto accepted = TEAMO_TRY(
        accept(read_configuration(text, context.options.team_device, context.options.attach), file));
    Reload reload{.next = std::move(accepted.configuration), .warnings = std::move(accepted.warnings)};
    auto& next = reload.next.team;
    if (next.device.empty()) {
        next.device = context.name(); // the start chose it
        reload.next.document.set("device", next.device);
    }
    next.debug_level = std::max(context.options.debug, next.debug_level);
    TEAMO_TRY(within(file, check_kept(context, next)));
    TEAMO_TRY(within(file, parts.ports.check_distinct(next)));
    TEAMO_TRY(within(file, check_new_ports(context, parts.ports, next)));
    reload.differences = differences(context.configuration.document, reload.next.document);
    if (std::ranges::find(reload.differences, "/debug_level", &Difference::pointer) ==
        reload.differences.end())
        next.debug_level = context.config().debug_level; // perhaps set by a request
    if (reload.differences.empty()) return reload;
    for (auto warnings : {ignored_settings(reload.next), ignored_by_datapath(*context.datapath, next)})
        std::ranges::move(warnings, std::back_inserter(reload.warnings));
    if (hash_of(next) != hash_of(context.config()) && context.datapath->name() != "team") {
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
    log_reload(context, reload, file);
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

} // namespace teamo
