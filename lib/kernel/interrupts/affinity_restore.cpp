// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/affinity_restore.h"

#include "kernel/cpus/thread_affinity.h"
#include "kernel/files/device_folder.h"
#include "kernel/files/files.h"
#include "kernel/files/sysfs.h"
#include "kernel/interrupts/affinity_settings.h"
#include "kernel/interrupts/vector_list.h"

#include <algorithm>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

bool belongs_to(const DeviceFolder& folder, const Link& link, unsigned irq, const std::string& root) {
    if (folder.bus.empty()) return false;
    if (std::ranges::binary_search(sysfs::numbers_in(folder.bus / "msi_irqs"), irq)) return true;
    const auto vectors = list_vectors(folder, link.name, {}, root);
    return std::ranges::find(vectors, irq, &IrqVector::irq) != vectors.end();
}

std::optional<CpuList> read_mask(const std::filesystem::path& file) {
    constexpr std::size_t longest = 4096;
    const auto text = read_file(file, longest);
    return text ? parse_cpu_mask(*text) : std::nullopt;
}

} // namespace

std::optional<CpuList> read_cpu_setting(const Link& link, const CpuSetting& setting,
                                        const std::string& root) {
    if (setting.kind == Kind::thread) {
        // The PID may belong to another thread now; NAPI threads are named so in net/core/dev.c:
        // napi_kthread_create.
        constexpr std::string_view napi = "napi/";
        const auto name = read_file(fmt::format("{}/proc/{}/comm", root, setting.number), 64);
        if (!name || !name->starts_with(napi)) return std::nullopt;
        auto cpus = read_thread_affinity(static_cast<pid_t>(setting.number));
        return cpus ? std::optional(std::move(*cpus)) : std::nullopt;
    }
    const auto folder = find_device_folder(link, root);
    if (!folder) return std::nullopt;
    const auto number = std::to_string(setting.number);
    if (setting.kind == Kind::xps) return read_mask(folder->net / "queues" / ("tx-" + number) / "xps_cpus");
    if (setting.kind == Kind::rps) return read_mask(folder->net / "queues" / ("rx-" + number) / "rps_cpus");
    if (!belongs_to(*folder, link, setting.number, root)) return std::nullopt;
    return sysfs::cpus(root + "/proc/irq/" + number + "/smp_affinity_list");
}

Result<> restore_cpus(const Link& link, const SetCpus& set, const std::string& root) {
    std::string failed;
    for (const auto& [setting, cpus] : set) {
        const auto now = read_cpu_setting(link, setting, root);
        if (!now || *now != cpus.ours || *now == cpus.before) continue;
        const auto done = write_cpu_setting(link.name, setting, cpus.before, root);
        if (!done && done.error().number != ENOENT && done.error().number != ESRCH)
            failed.append(failed.empty() ? "" : "; ").append(done.error().text);
    }
    if (!failed.empty()) return fail(EIO, failed);
    return {};
}

bool is_as_hinted(unsigned irq, const std::string& root) {
    const auto folder = std::filesystem::path(root + "/proc/irq") / std::to_string(irq);
    const auto hint = read_mask(folder / "affinity_hint");
    return hint && !hint->empty() && hint == sysfs::cpus(folder / "smp_affinity_list");
}

} // namespace teamo
