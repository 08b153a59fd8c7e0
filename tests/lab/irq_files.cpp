// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/irq_files.h"

#include "support/daemon/team_under_test.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace teamo::test {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

bool has_name(const std::string& handler, const std::string& name) {
    return handler == name || handler.starts_with(name + "-");
}

} // namespace

std::vector<IrqLine> vectors_of(const std::string& card) {
    const auto device = fs::canonical("/sys/class/net/" + card + "/device").filename().string();
    std::vector<IrqLine> lines;
    for (const auto& irq : fs::directory_iterator("/proc/irq"))
        if (irq.is_directory())
            for (const auto& handler : fs::directory_iterator(irq))
                if (const auto name = handler.path().filename().string();
                    handler.is_directory() && (has_name(name, card) || has_name(name, device)))
                    lines.push_back({static_cast<unsigned>(std::stoul(irq.path().filename())), name});
    std::ranges::sort(lines, {}, &IrqLine::irq);
    return lines;
}

bool is_link_vector(const IrqLine& vector) {
    return vector.name.find('-') == std::string::npos || vector.name.ends_with("-config");
}

CpuList effective(unsigned irq) {
    return parse_cpu_list(line_of(fmt::format("/proc/irq/{}/effective_affinity_list", irq)))
        .value_or(CpuList{});
}

CpuList affinity(unsigned irq) {
    return parse_cpu_list(line_of(fmt::format("/proc/irq/{}/smp_affinity_list", irq))).value_or(CpuList{});
}

std::vector<std::uint64_t> counts(unsigned irq) {
    std::stringstream line(line_of(fmt::format("/sys/kernel/irq/{}/per_cpu_count", irq)));
    std::vector<std::uint64_t> list;
    for (std::string number; std::getline(line, number, ',');)
        list.push_back(std::stoull(number));
    return list;
}

std::map<unsigned, std::string> all_affinities() {
    std::map<unsigned, std::string> all;
    for (const auto& irq : fs::directory_iterator("/proc/irq"))
        if (irq.is_directory())
            for (const auto& handler : fs::directory_iterator(irq))
                if (handler.is_directory())
                    all[static_cast<unsigned>(std::stoul(irq.path().filename()))] =
                        line_of(irq.path() / "smp_affinity_list");
    return all;
}

std::string changed_since(const std::map<unsigned, std::string>& before) {
    const auto now = all_affinities();
    std::string text;
    for (const auto& [irq, was] : before) {
        const auto found = now.find(irq);
        const auto is = found == now.end() ? std::string("gone") : found->second;
        if (is != was) text += fmt::format("{}: {}, now {}; ", irq, was, is);
    }
    for (const auto& [irq, is] : now)
        if (!before.contains(irq)) text += fmt::format("{}: new, {}; ", irq, is);
    return text;
}

std::string pci_address(const std::string& card) {
    auto device = fs::canonical("/sys/class/net/" + card + "/device");
    if (device.filename().string().starts_with("virtio")) device = device.parent_path();
    return device.filename();
}

std::string driver(const std::string& card) {
    auto device = fs::canonical("/sys/class/net/" + card + "/device");
    if (device.filename().string().starts_with("virtio")) device = device.parent_path();
    return fs::canonical(device / "driver").filename();
}

std::map<std::string, CpuList> planned_cpus(const TeamUnderTest& team,
                                            const std::vector<std::string>& command) {
    rapidjson::Document document;
    document.Parse(team.teamoctl(command, {"--json"}).out.c_str());
    std::map<std::string, CpuList> plan;
    if (document.HasParseError() || !document.HasMember("ports")) return plan;
    for (const auto& port : document["ports"].GetObject()) {
        std::vector<unsigned> cpus;
        for (const auto& cpu : port.value["cpus"].GetArray())
            cpus.push_back(cpu.GetUint());
        plan[port.name.GetString()] = cpu_list_of(std::move(cpus));
    }
    return plan;
}

} // namespace teamo::test
