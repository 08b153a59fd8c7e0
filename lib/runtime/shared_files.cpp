// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/shared_files.h"

#include "base/whole_number.h"
#include "kernel/files/process_files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "json/write.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace teamo {
namespace {

constexpr std::int64_t claims_version = 1;
constexpr std::string_view suffix = ".cpus";

double real(const json::Value& value) {
    if (const auto* number = value.integer()) return static_cast<double>(*number);
    return value.real() == nullptr ? 0 : *value.real();
}

json::Value value_of(const PortClaim& port) {
    json::Object irqs;
    for (const auto& [irq, cpus] : port.irqs)
        irqs.push_back({std::to_string(irq), text_of(cpus)});
    return json::Object{{"port", port.port},
                        {"cpus", text_of(port.cpus)},
                        {"irqs", std::move(irqs)},
                        {"load", port.load},
                        {"standby", port.standby}};
}

Result<PortClaim> parse_claim(const json::Value& value) {
    PortClaim port;
    port.port = json::text(value, "port");
    port.cpus = json::cpus(value, "cpus");
    port.load = real(json::child(value, "load"));
    if (port.port.empty() || port.cpus.empty() || !(port.load >= 0)) return fail(EBADMSG, "invalid port");
    port.standby = json::flag(value, "standby");
    for (const auto& [key, list, place] : json::object(value, "irqs")) {
        const auto irq = whole_number<unsigned>(key);
        auto to = parse_cpu_list(json::string_of(list));
        if (!irq || !to || to->empty()) return fail(EBADMSG, "invalid interrupt");
        port.irqs.emplace(*irq, std::move(*to));
    }
    return port;
}

BannedIrqs parse_irqs(const json::Value& list) {
    BannedIrqs irqs;
    if (list.array() == nullptr) return irqs;
    for (const auto& entry : *list.array())
        if (const auto* irq = entry.integer(); irq != nullptr && *irq >= 0 && *irq < most_irqs)
            irqs.insert(static_cast<unsigned>(*irq));
    return irqs;
}

json::Array value_of(const BannedIrqs& irqs) { return json::Array(irqs.begin(), irqs.end()); }

} // namespace

std::string text_of(const TeamClaims& claims) {
    json::Array ports;
    for (const auto& port : claims.ports)
        ports.push_back(value_of(port));
    return json::write(json::Object{{"version", claims_version},
                                    {"pid", static_cast<std::int64_t>(claims.pid)},
                                    {"start_time", static_cast<std::int64_t>(claims.start_time)},
                                    {"ports", std::move(ports)}}) +
           "\n";
}

Result<TeamClaims> parse_claims(std::string_view content) {
    const auto value = json::parse(content);
    if (!value) return fail(EBADMSG, value.error().text);
    if (json::number(*value, "version") != claims_version) return fail(EBADMSG, "unsupported version");
    TeamClaims claims;
    claims.pid = static_cast<pid_t>(json::number(*value, "pid"));
    claims.start_time = static_cast<std::uint64_t>(json::number(*value, "start_time"));
    const auto* ports = value->find("ports");
    if (claims.pid <= 0 || ports == nullptr || ports->array() == nullptr)
        return fail(EBADMSG, "not a claims file: no \"pid\" or no \"ports\"");
    for (const auto& entry : *ports->array())
        claims.ports.push_back(TEAMO_TRY(parse_claim(entry)));
    return claims;
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

std::vector<CpuClaim> CpuClaims::others(std::string_view team) const {
    std::vector<CpuClaim> all;
    for (const std::string_view name : sysfs::names_in(directory_)) {
        if (!name.ends_with(suffix)) continue;
        const auto owner = name.substr(0, name.size() - suffix.size());
        if (owner == team) continue;
        const auto content = read_file(path_of(owner));
        if (!content) continue;
        const auto claims = parse_claims(*content);
        if (!claims) continue;
        const bool alive = is_alive(*claims);
        for (const auto& port : claims->ports)
            if (alive || is_in_effect(port))
                for (const auto cpu : port.cpus)
                    all.push_back({.owner = fmt::format("{} {}", owner, port.port),
                                   .cpu = cpu,
                                   .load = port.load / static_cast<double>(port.cpus.size()),
                                   .standby = port.standby});
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
    json::Object teams;
    for (const auto& [team, irqs] : asked.teams)
        teams.push_back({team, value_of(irqs)});
    return json::write(json::Object{{"pid", static_cast<std::int64_t>(asked.pid)},
                                    {"found", value_of(asked.found)},
                                    {"teams", std::move(teams)}}) +
           "\n";
}

Result<BansAsked> parse_bans_asked(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(EBADMSG, value.error().text);
    BansAsked asked;
    const auto* pid = value->find("pid");
    if (pid == nullptr || pid->integer() == nullptr) return fail(EBADMSG, "no \"pid\" in the file");
    asked.pid = static_cast<pid_t>(*pid->integer());
    asked.found = parse_irqs(json::child(*value, "found"));
    for (const auto& team : json::object(*value, "teams"))
        asked.teams[team.key] = parse_irqs(team.value);
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
