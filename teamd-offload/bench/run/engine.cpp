// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/run/engine.h"

#include "bench/json.h"
#include "bench/run/read_machine.h"
#include "bench/run/run_rounds.h"
#include "bench/stage/stage.h"
#include "bench/stage/world.h"
#include "kernel/cpus/cpus.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>

namespace teamo::bench {
namespace {

/// Stages that were built so far. They stay: rounds alternate, and to build one takes longer than a round.
/// All but the one in use rest.
class Stages {
public:
    Stages(double link_mbits, CpuList cpus) : link_mbits_(link_mbits), cpus_(std::move(cpus)) {}

    Result<Ends> ends_of(const Case& what) {
        const auto wanted = stage_of(what);
        if (in_use_ != nullptr && in_use_->what() == wanted) return in_use_->ends();
        if (in_use_ != nullptr) in_use_->rest();
        in_use_ = nullptr;
        const auto found = std::ranges::find(stages_, wanted, &Stage::what);
        if (found != stages_.end()) {
            TEAMO_TRY((*found)->wake());
            in_use_ = found->get();
        } else {
            stages_.push_back(
                TEAMO_TRY(Stage::build({.what = wanted, .link_mbits = link_mbits_, .cpus = cpus_})));
            in_use_ = stages_.back().get();
        }
        return in_use_->ends();
    }

    /// Of the hosts; empty: there was none.
    std::string congestion_control() const {
        return stages_.empty() ? "" : stages_.front()->congestion_control();
    }

private:
    double link_mbits_;
    CpuList cpus_;
    std::vector<std::unique_ptr<Stage>> stages_;
    Stage* in_use_ = nullptr; ///< nullptr: none, all rest
};

Result<std::string> measure_in_world(Options options, Machine machine) {
    auto links = TEAMO_TRY(LinkControl::open());
    options.datapaths.clear();
    // In the order of the daemon's "auto": the first is what a team has by default on this kernel. The others
    // are asked for only if they are measured, because the kernel loads the driver.
    const bool all = compares_datapaths(options.profile);
    for (const auto& [kind, datapath] :
         {std::pair<std::string, const char*>("team", "team"), {bond_kind, "bond"}, {"veth", "bpf"}})
        if ((all || options.datapaths.empty()) && TEAMO_TRY(links.knows_kind(kind)))
            options.datapaths.emplace_back(datapath);
    Results results{.machine = std::move(machine), .profile = options.profile};
    for (auto& [name, value] : read_sysctls()) // the hosts' namespaces are as new as this one
        results.machine.sysctls[name] = value;
    results.machine.driver = "veth";
    results.machine.nftables = "none"; // the namespaces are new
    results.machine.link_mbits = options.rate;
    if (options.rate > 0) results.machine.shaped_by = "tbf";
    for (auto& what : TEAMO_TRY(only_chosen(cases_of(options), options.only)))
        results.cases.push_back({.what = std::move(what)});
    Stages stages(options.rate, TEAMO_TRY(read_thread_affinity(0)));
    TEAMO_TRY(run_rounds(options, results, [&](const Case& what) { return stages.ends_of(what); }));
    results.machine.sysctls["net.ipv4.tcp_congestion_control"] = stages.congestion_control();
    for (auto& measured : results.cases)
        measured.limit = limit_of(measured, options.rate * measured.what.ports, /*shaped=*/true);
    return json::write(to_json(results), {.indent = 0});
}

} // namespace

Result<Results> measure_self(const Options& options) {
    const auto machine = read_machine(); // a new namespace does not show all sysctls
    const auto text = TEAMO_TRY(in_own_world([&] { return measure_in_world(options, machine); }));
    const auto document = json::parse(text, {.bytes = text.size()});
    if (!document)
        return fail(EPROTO, "the benchmark's process ended unexpectedly: " + document.error().text);
    return from_json(*document);
}

} // namespace teamo::bench
