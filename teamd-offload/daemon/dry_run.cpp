// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/dry_run.h"

#include "balance/buckets.h"
#include "daemon/process.h"
#include "datapath/bond/bond_device.h"
#include "datapath/datapath.h"
#include "datapath/programs/device_programs.h"
#include "kernel/cpus/cpus.h"
#include "kernel/ethtool/ethtool.h"
#include "kernel/files/device_files.h"
#include "kernel/interrupts/port_interrupts.h"
#include "kernel/netlink/links.h"
#include "kernel/netlink/netdev_queues.h"
#include "plan/interrupts/interrupt_plan.h"
#include "plan/team/bond_steering.h"
#include "plan/team/make_plan.h"
#include "plan/team/membership.h"
#include "plan/team/offload_plan.h"
#include "plan/workers/worker_plan.h"
#include "runtime/journal.h"
#include "runtime/shared_files.h"
#include "workers/processes.h"
#include "json/write.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace teamo {
namespace {

/// A port's offloads now, and their plan.
struct PortOffloads {
    const OffloadContract* contract = nullptr;
    Features features{};
    bool is_known = false; ///< its features could be read
    OffloadPlan plan{};
    FeatureNames lacks{}; ///< when the plan is done
    bool distrusts_tso = false;
};

struct Found {
    std::vector<Member> members;
    std::vector<Candidate> candidates;
    std::vector<ServedPort> served;
    std::vector<PortOffloads> offloads; ///< as `members`
    std::vector<PlannedPort> placed;    ///< ports with interrupts: cards that are up
    json::Object refused;               ///< why a port could not join, by its name
};

/// Features that cannot be read count as none.
PortOffloads read_offloads(Result<Ethtool>& ethtool, const Link& port, const OffloadContract& contract) {
    const auto features = ethtool ? ethtool->read_features(port.index) : fail(ENOTSUP, "");
    return {.contract = &contract,
            .features = features.value_or(Features{}),
            .is_known = features.has_value(),
            .distrusts_tso = distrusts_tso(read_driver(port))};
}

void plan(PortOffloads& port, const FeatureNames& in_team, bool forwards) {
    port.plan = plan_offloads({.contract = port.contract,
                               .features = port.features,
                               .kept = offloads_in(port.features.active),
                               .in_team = in_team,
                               .distrusts_tso = port.distrusts_tso,
                               .forwards = forwards});
}

/// A port that may not join; the slots after its own are one less.
void refuse(Found& found, std::size_t number, const std::string& name, const Link& link) {
    found.refused.push_back({name, refusal_without(found.offloads[number].lacks)});
    const auto at = static_cast<std::ptrdiff_t>(number);
    found.members.erase(found.members.begin() + at);
    found.candidates.erase(found.candidates.begin() + at);
    found.served.erase(found.served.begin() + at);
    found.offloads.erase(found.offloads.begin() + at);
    std::erase_if(found.placed, [&link](const PlannedPort& port) { return port.name == link.name; });
    for (; number < found.members.size(); ++number)
        --found.members[number].slot.value, --found.served[number].slot.value;
}

/// Plans the offloads as if all ports joined together.
void plan_all_offloads(Found& found, bool forwards) {
    FeatureNames in_team;
    for (const auto& port : found.offloads)
        in_team.add(tso_of(*port.contract, {}, port.features));
    for (std::size_t number = 0; number < found.offloads.size(); ++number) {
        auto& port = found.offloads[number];
        plan(port, in_team, forwards);
        auto after = port.features;
        for (const auto& [name, on] : port.plan.settings)
            on ? static_cast<void>(after.active.insert(name)) : static_cast<void>(after.active.erase(name));
        found.members[number].segments = after.active.contains(tso);
        port.lacks = lacking(port.plan, after);
        found.candidates[number].last = port.contract->lacking != Lacking::accept && !port.lacks.empty();
    }
}

/// The first port that lacks what it may not lack.
bool refuse_one_that_lacks(Found& found, const Links& links, const TeamConfig& config) {
    const auto lacks = std::ranges::find_if(found.offloads, [](const PortOffloads& port) {
        return port.is_known && port.contract->lacking == Lacking::refuse && !port.lacks.empty();
    });
    if (lacks == found.offloads.end()) return false;
    const auto number = static_cast<std::size_t>(lacks - found.offloads.begin());
    const auto& link = *find_link(links, found.members[number].index);
    refuse(found, number, configured_name(config, link), link);
    return true;
}

Found find_ports(const Links& links, const TeamConfig& config, Takes takes) {
    Found found;
    auto ethtool = Ethtool::open();
    auto family = NetdevFamily::open();
    for (const auto& [name, port] : config.ports) {
        const auto* link = find_named(links, name);
        if (link == nullptr) continue;
        auto may = may_join(links, *link, config.device, takes);
        if (std::ranges::find(found.members, link->index, &Member::index) != found.members.end())
            may = tl::unexpected(another_name_of(link->name));
        if (!may) {
            found.refused.push_back({name, may.error().text});
            continue;
        }
        const Slot slot{static_cast<std::uint8_t>(found.members.size() + 1)};
        found.members.push_back({.index = link->index,
                                 .slot = slot,
                                 .own_address = link->address,
                                 .settings = {.prio = port.prio,
                                              .queue_id = port.queue_id.value_or(0),
                                              .user_linkup = {},
                                              .lacp_prio = port.lacp_prio},
                                 .weight = port.weight.value_or(1),
                                 .drained = port.drain});
        const auto queues = family ? family->read(link->index) : Result<NetdevQueues>(NetdevQueues{});
        const auto interrupts =
            read_port_interrupts(*link, queues.value_or(NetdevQueues{})).value_or(PortInterrupts{});
        found.served.push_back({.slot = slot, .interrupt_cpus = interrupt_cpus(interrupts)});
        if (!interrupts.queues.empty()) found.placed.push_back(planned_port(link->name, interrupts));
        found.offloads.push_back(read_offloads(ethtool, *link, port.offload));
        // As if every link were up, so that a port that is down now is in the plan too.
        found.candidates.push_back({.port = link->index,
                                    .up = true,
                                    .prio = port.prio,
                                    .sticky = port.sticky,
                                    .drain = port.drain ? DrainPhase::drained : DrainPhase::none});
    }
    return found;
}

/// Empty: no interrupt would be placed.
InterruptPlan plan_interrupt_cpus(std::vector<PlannedPort> ports, const TeamConfig& config) {
    const auto topology = read_cpu_topology();
    if (!topology || config.interrupts.policy == InterruptPolicy::off) return {};
    InterruptPlanInput input{
        .topology = &*topology, .ports = std::move(ports), .allowed = config.interrupts.cpus};
    const std::string directory(journal_directory);
    if (std::filesystem::exists(directory)) // else there are no teams; do not create it
        input.claims = CpuClaims(directory).others({config.device});
    return plan_interrupts(input);
}

json::Value cpu_list_of(const CpuList& cpus) { return json::Array(cpus.begin(), cpus.end()); }

/// What a start would change, and what would stay lacking.
json::Value value_of(const PortOffloads& offloads) {
    json::Object change;
    for (const auto& [name, on] : missing(offloads.features, offloads.plan.settings))
        change.push_back({name, on ? "on" : "off"});
    json::Array kept, lacks;
    for (const auto& [name, on] : offloads.plan.settings)
        if (on && offloads.features.active.contains(name)) kept.emplace_back(name);
    for (const auto& name : lacking(offloads.plan, offloads.features))
        if (!offloads.plan.settings.contains(name)) lacks.emplace_back(name);
    return json::Object{
        {"change", std::move(change)}, {"keep", std::move(kept)}, {"lacking", std::move(lacks)}};
}

/// The rules for workers, each with the processes that it selects now. Those that receive by the team are
/// bound.
json::Array workers_of(const std::vector<WorkerRule>& rules) {
    const auto users = resolve_users(rules);
    std::vector<json::Array> selected(rules.size());
    for (const auto pid : sysfs::numbers_in("/proc"))
        if (const auto process = read_process(static_cast<pid_t>(pid)))
            if (const auto* rule = rule_for(process->worker, rules, users))
                selected[static_cast<std::size_t>(rule - rules.data())].emplace_back(std::int64_t{pid});
    json::Array list;
    for (std::size_t number = 0; number < rules.size(); ++number) {
        const auto& rule = rules[number];
        list.push_back(
            json::Object{{"rule", text_of(rule)},
                         {"policy", enum_names<WorkerPolicy>[static_cast<std::size_t>(rule.policy)]},
                         {"processes", std::move(selected[number])}});
    }
    return list;
}

json::Value value_of(const Links& links, const TeamPlan& plan, const Found& found,
                     const InterruptPlan& interrupts, const TeamConfig& config, std::string_view datapath) {
    json::Object ports;
    const auto& tables = plan.tables;
    for (const auto& port : plan.ports) {
        const auto number = std::ranges::find(tables.ports, port.index) - tables.ports.begin();
        const Slot slot{static_cast<std::uint8_t>(number)};
        ports.push_back(
            {find_link(links, port.index)->name,
             json::Object{{"address", text_of(port.address)},
                          {"mtu", port.mtu},
                          {"transmits", (tables.transmit & bit(slot)) != 0},
                          {"receives", (tables.receive & bit(slot)) != 0},
                          {"buckets", std::int64_t{std::ranges::count(plan.owners, slot)}},
                          {"interrupt_cpus", cpu_list_of(found.served[slot.value - 1U].interrupt_cpus)},
                          {"offloads", value_of(found.offloads[slot.value - 1U])}}});
        const auto placed = std::ranges::find(interrupts.ports, ports.back().key, &PlacedPort::name);
        if (placed != interrupts.ports.end())
            ports.back().value.set(
                "interrupts", json::Object{{"cpus", cpu_list_of(placed->cpus)}, {"reason", placed->reason}});
        if (has(tables.hash_fields, HashField::cpu))
            ports.back().value.set("cpus", cpu_list_of(cpus_of(tables.cpu_slots, slot)));
    }
    json::Array owners;
    for (const auto owner : plan.owners)
        owners.emplace_back(int{owner.value});
    json::Value value = json::Object{
        {"team",
         json::Object{{"device", config.device}, {"address", text_of(plan.address)}, {"datapath", datapath}}},
        {"ports", std::move(ports)},
        {"buckets", std::move(owners)}};
    if (!found.refused.empty()) value.set("refused", found.refused);
    if (!config.workers.empty()) value.set("workers", workers_of(config.workers));
    return value;
}

/// Why the kernel refuses the programs that steer; empty: it accepts them. They are loaded, and attached to
/// nothing. An error: without the privileges of a start nobody can tell.
Result<std::string> try_programs(const TeamConfig& config, LinkControl& control) {
    TEAMO_TRY(check_capabilities(/*needs_bpf=*/true));
    ProgramNames names;
    const auto hooks = TEAMO_TRY(DevicePrograms::open(names));
    const auto opened = TEAMO_TRY(open_datapath(DatapathChoice::automatic, control, nullptr, config, *hooks));
    return opened.datapath->cannot_steer();
}

/// What the configuration asks for of a slave, which nobody needs for the steering.
void add_wishes(json::Array& changes, const Link& slave, const TeamConfig& config, Result<Ethtool>& ethtool) {
    const auto own =
        std::ranges::find_if(config.ports, [&slave](const auto& port) { return slave.has_name(port.first); });
    const auto& contract = own == config.ports.end() ? config.offload : own->second.offload;
    auto offloads = read_offloads(ethtool, slave, contract);
    plan(offloads, {}, /*forwards=*/false);
    for (const auto& [name, on] : missing(offloads.features, offloads.plan.settings))
        if (contract.wishes.contains(name))
            changes.push_back(json::Object{{"device", slave.name},
                                           {"what", name},
                                           {"from", on ? "off" : "on"},
                                           {"to", on ? "on" : "off"}});
    if (config.guard != GuardMode::off)
        changes.push_back(
            json::Object{{"device", slave.name}, {"what", "BPF program of the guard on the ingress"}});
    if (config.interrupts.policy != InterruptPolicy::off)
        changes.push_back(json::Object{{"device", slave.name}, {"what", "interrupt CPUs"}});
}

/// What a guest would write: the bond's policy, its program, and what the configuration asks for.
Result<> dry_run_attached(const TeamConfig& config) {
    auto control = TEAMO_TRY(LinkControl::open());
    const auto links = TEAMO_TRY(control.read_all());
    const auto found = TEAMO_TRY(find_bond_of_others(links, config.device));
    if (!found) { // a start waits for it
        std::puts(json::write(json::Object{{"bond", json::Object{{"device", config.device}}},
                                           {"changes", json::Array()},
                                           {"steered", false},
                                           {"reason", fmt::format("waits for bond {}", config.device)}})
                      .c_str());
        return {};
    }
    const auto* bond = find_link(links, found->team);
    BondSteering steering;
    auto view = view_of(links, *bond);
    steering.step(view, Clock::now());
    const auto own = bond->bond_policy ? name_of(*bond->bond_policy) : "";
    AttachedStatus attached{.mode = bond_mode_name(bond->bond_mode.value_or(0)), .own_policy = own};
    std::string not_tried;
    if (steering.reason() == Unsteered::nothing) {
        const auto refusal = try_programs(config, control);
        if (!refusal) not_tried = fmt::format("the BPF programs were not tried: {}", refusal.error().text);
        attached.detail = refusal.value_or(std::string());
        view.has_programs = attached.detail.empty();
        steering.step(view, Clock::now());
    }
    attached.unsteered = steering.reason();
    json::Array changes, names;
    for (const auto& [index, link] : links)
        if (link.master == bond->index) names.emplace_back(link.name);
    const bool by_backup = bond->bond_mode == bond_mode_active_backup;
    const auto add_program = [&changes](const std::string& device, const char* hook) {
        changes.push_back(
            json::Object{{"device", device}, {"what", fmt::format("BPF program on the {}", hook)}});
    };
    if (attached.unsteered == Unsteered::nothing) {
        add_program(bond->name, "egress");
        for (const auto& [index, link] : links)
            if (by_backup && link.master == bond->index && link.bond_backup)
                add_program(link.name, "ingress");
    }
    // As BondFollower does.
    if (by_backup && (config.chooses_active || attached.unsteered == Unsteered::nothing ||
                      attached.unsteered == Unsteered::programs))
        changes.push_back(
            json::Object{{"device", bond->name},
                         {"what", config.chooses_active ? "active_slave, as the runner chooses"
                                                        : "active_slave, when it has lost its link"}});
    if (const auto policy = steering.to_write(true))
        changes.push_back(json::Object{
            {"device", bond->name}, {"what", "xmit_hash_policy"}, {"from", own}, {"to", name_of(*policy)}});
    auto ethtool = Ethtool::open();
    for (const auto& [index, link] : links)
        if (link.master == bond->index) add_wishes(changes, link, config, ethtool);
    std::puts(json::write(json::Object{{"bond", json::Object{{"device", bond->name},
                                                             {"mode", attached.mode},
                                                             {"xmit_hash_policy", own},
                                                             {"slaves", std::move(names)}}},
                                       {"changes", std::move(changes)},
                                       {"steered", attached.unsteered == Unsteered::nothing},
                                       {"reason", not_tried.empty() ? text_of(attached) : not_tried}})
                  .c_str());
    return {};
}

/// The datapath of a start; `automatic`: without privileges it is not known. An error: it cannot use the
/// device that has the team's name.
Result<DatapathChoice> find_datapath(LinkControl& control, const Links& links, const TeamConfig& config,
                                     const Options& options) {
    const auto* existing = options.force_recreate ? nullptr : find_team(links, config.device);
    const auto chosen =
        needs_device_tls(config)
            ? DatapathChoice::bond
            : choose_datapath(config.datapath, control, existing, config).value_or(DatapathChoice::automatic);
    TEAMO_TRY(within("/runner/name", check_runner(chosen, config.runner)));
    if (existing != nullptr && team_of_device(*existing) == config.device)
        if (const auto its = datapath_of(*existing))
            TEAMO_TRY(check_kept(enum_names<DatapathChoice>[static_cast<std::size_t>(*its)], chosen));
    const auto journal = read_journal(config.device).value_or(std::nullopt);
    const bool is_made_again =
        options.force_recreate || is_half_made(links, config.device, journal && journal->making);
    if (chosen != DatapathChoice::automatic && !is_made_again)
        TEAMO_TRY(find_device(chosen, links, config, options.take_over));
    return chosen;
}

} // namespace

Result<> dry_run(const Configuration& configuration, const Options& options) {
    const auto& config = configuration.team;
    if (config.attach) return dry_run_attached(config);
    auto control = TEAMO_TRY(LinkControl::open());
    const auto links = TEAMO_TRY(control.read_all());
    TEAMO_TRY(check_free(links, config.device));
    const auto choice = TEAMO_TRY(find_datapath(control, links, config, options));
    const bool takes_all = choice == DatapathChoice::bpf;
    auto found =
        options.no_ports ? Found{} : find_ports(links, config, takes_all ? Takes::all : Takes::untagged);
    Link team;
    team.mtu = 1500; // of a new device
    team.address =
        config.hwaddr.value_or(found.members.empty() ? MacAddress{} : found.members.front().own_address);
    auto runner = make_runner(config.runner, {});
    PlanInput input;
    input.runner = &config.runner;
    input.team = &team;
    input.tables.notify_peers = config.notify_peers;
    input.tables.mcast_rejoin = config.mcast_rejoin;
    const auto datapath = enum_names<DatapathChoice>[static_cast<std::size_t>(choice)];
    do {
        plan_all_offloads(found, /*forwards=*/takes_all);
    } while (refuse_one_that_lacks(found, links, config));
    if (const auto online = read_online_cpus()) input.tables.cpu_slots = cpu_slots(found.served, *online);
    input.members = found.members;
    const auto plan = make_plan(input, step(runner, found.candidates, Clock::now()));
    const auto interrupts = plan_interrupt_cpus(found.placed, config);
    // Not fmt::print(), which throws if nobody reads.
    std::puts(json::write(value_of(links, plan, found, interrupts, config, datapath)).c_str());
    return {};
}

} // namespace teamo
