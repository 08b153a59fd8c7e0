// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/shared_files.h"

#include "base/whole_number.h"
#include "kernel/files/process_files.h"
#include "json/document.h"
#include "json/parse.h"
#include "json/write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace teamo {
namespace {

constexpr std::int64_t files_version = 1;
constexpr std::string_view suffix = ".cpus";

/// The affinity of each interrupt, as the kernel writes it.
json::Value write_irqs(const std::map<unsigned, CpuList>& irqs) {
    json::Object object;
    for (const auto& [irq, cpus] : irqs)
        object.push_back({std::to_string(irq), text_of(cpus)});
    return object;
}
bool read_irqs(const json::Value& in, std::map<unsigned, CpuList>& irqs) {
    if (in.object() == nullptr) return false;
    for (const auto& [key, list, place] : *in.object()) {
        const auto irq = whole_number<unsigned>(key);
        auto cpus = parse_cpu_list(json::string_of(list));
        if (!irq || !cpus || cpus->empty()) return false;
        irqs.emplace(*irq, std::move(*cpus));
    }
    return true;
}

constexpr auto claim_fields = [](auto field, auto& port) {
    field("port", port.port);
    field.cpu_text("cpus", port.cpus);
    field.as("irqs", port.irqs, write_irqs, read_irqs);
    field.amount("load", port.load);
    field("standby", port.standby);
    field.require(!port.port.empty() && !port.cpus.empty(), "invalid port");
};

constexpr auto claims_fields = [](auto field, auto& claims) {
    field.write_only("version", files_version);
    field("pid", claims.pid);
    field("start_time", claims.start_time);
    field.records("ports", claims.ports, claim_fields);
    field.require(claims.pid > 0, "no \"pid\" in the file");
};

constexpr auto bans_fields = [](auto field, auto& asked) {
    field.write_only("version", files_version);
    field("pid", asked.pid);
    field("found", asked.found);
    field("teams", asked.teams);
    field.require(asked.pid > 0, "no \"pid\" in the file");
};

void drop_impossible(BannedIrqs& irqs) {
    std::erase_if(irqs, [](unsigned irq) { return irq >= most_irqs; });
}

} // namespace

std::string text_of(const TeamClaims& claims) {
    return json::write(json::write_fields(claims, claims_fields)) + "\n";
}

Result<TeamClaims> parse_claims(std::string_view content) {
    const auto value = json::parse(content);
    if (!value) return fail(EBADMSG, value.error().text);
    if (json::child(*value, "ports").array() == nullptr) return fail(EBADMSG, "no \"ports\" in the file");
    return json::read_versioned<TeamClaims>(*value, claims_fields);
}

Result<std::optional<LockFile>> CpuClaims::try_lock() const {
    if (::mkdir(directory_.c_str(), 0750) < 0 && errno != EEXIST) return fail_errno(errno, directory_);
    return LockFile::try_take(directory_ + "/cpus.lock");
}

std::string CpuClaims::path_of(std::string_view team) const {
    return fmt::format("{}/{}{}", directory_, team, suffix);
}

bool CpuClaims::is_alive(const TeamClaims& claims) const {
    const auto started = read_start_time(fmt::format("{}/proc/{}", root_, claims.pid));
    if (started) return *started == claims.start_time;
    // /proc hides daemons with more rights (ProtectProc=): those of teams with workers.
    const auto name = process_name(claims.pid);
    return name && is_name_of_daemon(*name);
}

bool CpuClaims::is_in_effect(const PortClaim& port) const {
    return std::ranges::any_of(port.irqs, [this](const auto& irq) {
        return sysfs::cpus(fmt::format("{}/proc/irq/{}/smp_affinity_list", root_, irq.first)) == irq.second;
    });
}

std::vector<CpuClaim> CpuClaims::others(const std::set<std::string, std::less<>>& own) const {
    std::vector<CpuClaim> all;
    for (const std::string_view name : sysfs::names_in(directory_)) {
        if (!name.ends_with(suffix)) continue;
        const auto owner = name.substr(0, name.size() - suffix.size());
        if (own.contains(owner)) continue;
        const auto content = read_file(path_of(owner));
        if (!content) continue;
        const auto claims = parse_claims(*content);
        if (!claims) continue;
        const bool alive = is_alive(*claims);
        for (const auto& port : claims->ports)
            if (alive || is_in_effect(port))
                std::ranges::move(
                    claims_of(std::string(owner), port.port, port.cpus, port.load, port.standby),
                    std::back_inserter(all));
    }
    return all;
}

Result<> CpuClaims::write(std::string_view team, std::vector<PortClaim> ports) const {
    const auto pid = ::getpid();
    const auto started = read_start_time(fmt::format("{}/proc/{}", root_, pid));
    if (!started) return fail(ENOENT, fmt::format("/proc/{}/stat has no start time", pid));
    return replace_file(path_of(team),
                        text_of(TeamClaims{.pid = pid, .start_time = *started, .ports = std::move(ports)}));
}

void CpuClaims::remove(std::string_view team) const { remove_file(path_of(team)); }

std::string text_of(const BansAsked& asked) {
    return json::write(json::write_fields(asked, bans_fields)) + "\n";
}

Result<BansAsked> parse_bans_asked(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(EBADMSG, value.error().text);
    auto asked = TEAMO_TRY(json::read_versioned<BansAsked>(*value, bans_fields));
    drop_impossible(asked.found);
    for (auto& [team, irqs] : asked.teams)
        drop_impossible(irqs);
    return asked;
}

BannedIrqs bans_wanted(const BannedIrqs& current, const BansAsked& asked, const std::string& team,
                       const BannedIrqs& wanted) {
    auto bans = current;
    if (const auto before = asked.teams.find(team); before != asked.teams.end())
        for (const auto irq : before->second) {
            const bool others = std::ranges::any_of(asked.teams, [&](const auto& other) {
                return other.first != team && other.second.contains(irq);
            });
            if (!others && !asked.found.contains(irq)) bans.erase(irq);
        }
    bans.insert(wanted.begin(), wanted.end());
    return bans;
}

} // namespace teamo
