// SPDX-License-Identifier: LGPL-2.1-or-later
#include "runtime/cpu_claims.h"

#include "base/whole_number.h"
#include "kernel/files/files.h"
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
    json::Value irqs(json::Object{});
    for (const auto& [irq, cpus] : port.irqs)
        irqs.set(std::to_string(irq), text_of(cpus));
    json::Value value(json::Object{});
    value.set("port", port.port);
    value.set("cpus", text_of(port.cpus));
    value.set("irqs", std::move(irqs));
    value.set("load", port.load);
    value.set("standby", port.standby);
    return value;
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

} // namespace

std::string text_of(const TeamClaims& claims) {
    json::Array ports;
    for (const auto& port : claims.ports)
        ports.push_back(value_of(port));
    json::Value value(json::Object{});
    value.set("version", claims_version);
    value.set("pid", static_cast<std::int64_t>(claims.pid));
    value.set("start_time", static_cast<std::int64_t>(claims.start_time));
    value.set("ports", std::move(ports));
    return json::write(value) + "\n";
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
    for (const auto& entry : *ports->array()) {
        auto port = TEAMO_TRY(parse_claim(entry));
        claims.ports.push_back(std::move(port));
    }
    return claims;
}

Result<std::optional<LockFile>> CpuClaims::try_lock() const {
    if (::mkdir(directory_.c_str(), 0755) < 0 && errno != EEXIST) return fail_errno(errno, directory_);
    return LockFile::try_take(directory_ + "/cpus.lock");
}

std::string CpuClaims::path_of(std::string_view team) const {
    return fmt::format("{}/{}{}", directory_, team, suffix);
}

bool CpuClaims::is_alive(const TeamClaims& claims) const {
    return read_start_time(fmt::format("{}/proc/{}", root_, claims.pid)) == claims.start_time;
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

} // namespace teamo
