// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/affinity_settings.h"

#include "kernel/cpus/cpus.h"
#include "kernel/files/files.h"
#include "kernel/interrupts/port_interrupts.h"

#include <algorithm>
#include <array>

namespace teamo {
namespace {

using Kind = CpuSetting::Kind;

void add(CpuSettings& settings, const std::vector<IrqVector>& vectors) {
    for (const auto& vector : vectors)
        if (vector.movable && !vector.affinity.empty())
            settings[{.kind = Kind::irq, .number = vector.irq}] = vector.affinity;
}

void add(CpuSettings& settings, Kind kind, const std::vector<CpuList>& masks) {
    for (unsigned queue = 0; queue < masks.size(); ++queue)
        settings[{.kind = kind, .number = queue}] = masks[queue];
}

/// An errno of a failed write, and what it means for {0}, the setting, and {1}, the CPUs.
struct Meaning {
    int number;
    const char* text;
};
constexpr const char *gone = "{0} no longer exists", *no_such_cpu = "{0}: this machine has no CPU {1}";

/// kernel/irq/proc.c: write_irq_affinity; arch/x86/kernel/apic/vector.c; lib/bitmap-str.c.
constexpr auto meanings_for_irq = std::to_array<Meaning>({
    {EIO, "the kernel manages the affinity of {0} itself"},   // to 6.11
    {EPERM, "the kernel manages the affinity of {0} itself"}, // from 6.12 on
    {EACCES, "only root may change the affinity of {0}"},
    {ENOENT, gone},
    {ENOSPC, "CPU {1} has no free interrupt vector for {0}"},
    {EBUSY, "{0} is still moving to another CPU"},
    {EINVAL, "{0}: no CPU of \"{1}\" is online"},
    {ERANGE, no_such_cpu},
    {EOVERFLOW, no_such_cpu},
});
constexpr auto meanings_for_thread = std::to_array<Meaning>({
    {ESRCH, gone},
    {EPERM, "the daemon may not move {0}: CAP_SYS_NICE or sched_setaffinity is missing (teamd-offload(8), "
            "SECURITY CONSIDERATIONS)"},
    {EINVAL, "the kernel does not allow {0} to move, or its cpuset has no online CPU of \"{1}\""},
});
constexpr auto meanings_for_queue = std::to_array<Meaning>({
    {ENOENT, "{0} has no CPU setting: it is the only queue, or it no longer exists"},
    {EPERM, "{0}: CAP_NET_ADMIN is missing"},
    {EACCES, "{0}: CAP_NET_ADMIN is missing"},
    {EINVAL, "{0}: all CPUs of \"{1}\" are isolated"}, // net/core/net-sysfs.c: rps_cpumask_housekeeping
    {EOVERFLOW, no_such_cpu},
    {ERANGE, no_such_cpu},
});

/// "" for a thread.
std::string file_of(const std::string& device, const CpuSetting& setting) {
    switch (setting.kind) {
    case Kind::irq: return fmt::format("/proc/irq/{}/smp_affinity_list", setting.number);
    case Kind::xps: return fmt::format("/sys/class/net/{}/queues/tx-{}/xps_cpus", device, setting.number);
    case Kind::rps: return fmt::format("/sys/class/net/{}/queues/rx-{}/rps_cpus", device, setting.number);
    default: return {};
    }
}

bool belongs_to(const DeviceFolder& folder, const Link& link, unsigned irq, const std::string& root) {
    if (folder.bus.empty()) return false;
    if (std::ranges::binary_search(sysfs::numbers_in(folder.bus / "msi_irqs"), irq)) return true;
    const auto vectors = list_vectors(folder, link.name, {}, root);
    return std::ranges::find(vectors, irq, &IrqVector::irq) != vectors.end();
}

} // namespace

CpuSettings read_cpu_settings(const PortInterrupts& port) {
    CpuSettings settings;
    for (const auto& queue : port.queues) {
        add(settings, queue.vectors);
        for (const auto& thread : {queue.thread, queue.second_thread})
            if (thread)
                settings[{.kind = Kind::thread, .number = static_cast<unsigned>(thread->pid)}] =
                    thread->affinity;
    }
    add(settings, port.others);
    add(settings, Kind::xps, port.xps);
    add(settings, Kind::rps, port.rps);
    return settings;
}

std::string text_of(const CpuSetting& setting) {
    constexpr std::array names{"interrupt", "thread", "transmit queue", "receive queue"};
    return fmt::format("{} {}", names[static_cast<std::size_t>(setting.kind)], setting.number);
}

std::string meaning_of(int number, const std::string& device, const CpuSetting& setting,
                       const CpuList& cpus) {
    std::span<const Meaning> meanings = meanings_for_queue;
    if (setting.kind == Kind::irq) meanings = meanings_for_irq;
    if (setting.kind == Kind::thread) meanings = meanings_for_thread;
    const auto found = std::ranges::find(meanings, number, &Meaning::number);
    const auto* text = found == meanings.end() ? "{0} cannot be moved to CPU {1}" : found->text;
    const auto what = is_mask(setting) ? fmt::format("{}: {}", device, text_of(setting)) : text_of(setting);
    return fmt::format(fmt::runtime(text), what, text_of(cpus));
}

Result<> write_cpu_setting(const std::string& device, const CpuSetting& setting, const CpuList& cpus,
                           const std::string& root) {
    const auto file = file_of(device, setting);
    const auto done =
        file.empty() ? write_thread_affinity(static_cast<pid_t>(setting.number), cpus)
                     : write_into(root + file, (is_mask(setting) ? mask_of(cpus) : text_of(cpus)) + "\n");
    if (done) return {};
    const int number = done.error().number;
    const auto meaning = meaning_of(number, device, setting, cpus);
    const auto reason = errno_text(number);
    return fail(number, file.empty() ? fmt::format("{} ({})", meaning, reason)
                                     : fmt::format("{} ({}: {})", meaning, file, reason));
}

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
    if (is_mask(setting)) return sysfs::cpu_mask(root + file_of(link.name, setting));
    if (!belongs_to(*folder, link, setting.number, root)) return std::nullopt;
    return sysfs::cpus(root + file_of(link.name, setting));
}

CpuList former_cpus(const CpuSetting& setting, const CpuList& now, const std::string& root) {
    if (setting.kind != Kind::thread) return now;
    const auto online = read_online_cpus(root);
    if (!online || !std::ranges::includes(now, *online)) return now;
    return united(now, sysfs::cpus(root + "/sys/devices/system/cpu/possible").value_or(CpuList()));
}

Result<> restore_cpus(const Link& link, const SetCpus& set, const std::string& root) {
    Failures failures;
    for (const auto& [setting, cpus] : set) {
        const auto now = read_cpu_setting(link, setting, root);
        const bool is_ours = now && (*now == cpus.ours || (!cpus.leaving.empty() && *now == cpus.leaving));
        if (!is_ours || *now == cpus.before) continue;
        const auto done = write_cpu_setting(link.name, setting, cpus.before, root);
        if (done || done.error().number == ENOENT || done.error().number == ESRCH) continue;
        failures.add(done.error().number == ENOSPC ? fail(EIO, done.error().text) : done);
    }
    return failures.result();
}

bool is_as_hinted(unsigned irq, const std::string& root) {
    const auto folder = std::filesystem::path(root + "/proc/irq") / std::to_string(irq);
    const auto hint = sysfs::cpu_mask(folder / "affinity_hint");
    return hint && !hint->empty() && hint == sysfs::cpus(folder / "smp_affinity_list");
}

} // namespace teamo
