// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/affinity_settings.h"

#include "kernel/cpus/thread_affinity.h"
#include "kernel/files/files.h"

namespace teamo {
namespace {

void add(CpuSettings& settings, const std::vector<IrqVector>& vectors) {
    for (const auto& vector : vectors)
        if (vector.movable && !vector.affinity.empty())
            settings[{.kind = CpuSetting::Kind::irq, .number = vector.irq}] = vector.affinity;
}

void add(CpuSettings& settings, CpuSetting::Kind kind, const std::vector<CpuList>& masks) {
    for (unsigned queue = 0; queue < masks.size(); ++queue)
        settings[{.kind = kind, .number = queue}] = masks[queue];
}

/// kernel/irq/proc.c: write_irq_affinity; arch/x86/kernel/apic/vector.c; lib/bitmap-str.c.
std::string meaning_for_irq(int number, unsigned irq, const CpuList& cpus) {
    switch (number) {
    case EIO:   // to 6.11
    case EPERM: // from 6.12 on
        return fmt::format("the kernel manages the affinity of interrupt {} itself", irq);
    case EACCES: return fmt::format("only root may change the affinity of interrupt {}", irq);
    case ENOENT: return fmt::format("interrupt {} no longer exists", irq);
    case ENOSPC:
        return fmt::format("CPU {} has no free interrupt vector for interrupt {}", text_of(cpus), irq);
    case EBUSY: return fmt::format("interrupt {} is still moving to another CPU", irq);
    case EINVAL: return fmt::format("interrupt {}: no CPU of \"{}\" is online", irq, text_of(cpus));
    case ERANGE:
    case EOVERFLOW: return fmt::format("interrupt {}: this machine has no CPU {}", irq, text_of(cpus));
    default: return fmt::format("interrupt {} cannot be moved to CPU {}", irq, text_of(cpus));
    }
}

std::string meaning_for_thread(int number, unsigned pid, const CpuList& cpus) {
    switch (number) {
    case ESRCH: return fmt::format("thread {} no longer exists", pid);
    case EPERM: return fmt::format("thread {} belongs to another user, and CAP_SYS_NICE is missing", pid);
    case EINVAL:
        return fmt::format(
            "the kernel does not allow thread {} to move, or its cpuset has no online CPU of \"{}\"", pid,
            text_of(cpus));
    default: return fmt::format("thread {} cannot be moved to CPU {}", pid, text_of(cpus));
    }
}

std::string meaning_for_queue(int number, const std::string& queue, const CpuList& cpus) {
    switch (number) {
    case ENOENT:
        return fmt::format("{} has no CPU setting: it is the only queue, or it no longer exists", queue);
    case EPERM:
    case EACCES: return fmt::format("{}: CAP_NET_ADMIN is missing", queue);
    case EINVAL: // net/core/net-sysfs.c: rps_cpumask_housekeeping
        return fmt::format("{}: all CPUs of \"{}\" are isolated", queue, text_of(cpus));
    case EOVERFLOW:
    case ERANGE: return fmt::format("{}: this machine has no CPU {}", queue, text_of(cpus));
    default: return fmt::format("{} cannot be moved to CPU {}", queue, text_of(cpus));
    }
}

Result<> write(const std::string& path, const std::string& content) {
    return write_into(path, content + "\n");
}

} // namespace

CpuSettings read_cpu_settings(const PortInterrupts& port) {
    CpuSettings settings;
    for (const auto& queue : port.queues) {
        add(settings, queue.vectors);
        for (const auto& thread : {queue.thread, queue.second_thread})
            if (thread)
                settings[{.kind = CpuSetting::Kind::thread, .number = static_cast<unsigned>(thread->pid)}] =
                    thread->affinity;
    }
    add(settings, port.others);
    add(settings, CpuSetting::Kind::xps, port.xps);
    add(settings, CpuSetting::Kind::rps, port.rps);
    return settings;
}

std::string text_of(const CpuSetting& setting) {
    switch (setting.kind) {
    case CpuSetting::Kind::irq: return fmt::format("interrupt {}", setting.number);
    case CpuSetting::Kind::thread: return fmt::format("thread {}", setting.number);
    case CpuSetting::Kind::xps: return fmt::format("transmit queue {}", setting.number);
    case CpuSetting::Kind::rps: break;
    }
    return fmt::format("receive queue {}", setting.number);
}

std::string meaning_of(int number, const std::string& device, const CpuSetting& setting,
                       const CpuList& cpus) {
    switch (setting.kind) {
    case CpuSetting::Kind::irq: return meaning_for_irq(number, setting.number, cpus);
    case CpuSetting::Kind::thread: return meaning_for_thread(number, setting.number, cpus);
    default: return meaning_for_queue(number, fmt::format("{}: {}", device, text_of(setting)), cpus);
    }
}

Result<> write_cpu_setting(const std::string& device, const CpuSetting& setting, const CpuList& cpus,
                           const std::string& root) {
    Result<> done;
    std::string where;
    const auto put = [&](std::string path, const std::string& content) {
        where = std::move(path);
        done = write(root + where, content);
    };
    const auto queue = [&](const char* kind, const char* file) {
        put(fmt::format("/sys/class/net/{}/queues/{}-{}/{}", device, kind, setting.number, file),
            mask_of(cpus));
    };
    switch (setting.kind) {
    case CpuSetting::Kind::irq:
        put(fmt::format("/proc/irq/{}/smp_affinity_list", setting.number), text_of(cpus));
        break;
    case CpuSetting::Kind::thread:
        done = write_thread_affinity(static_cast<pid_t>(setting.number), cpus);
        break;
    case CpuSetting::Kind::xps: queue("tx", "xps_cpus"); break;
    case CpuSetting::Kind::rps: queue("rx", "rps_cpus"); break;
    }
    if (done) return done;
    const int number = done.error().number;
    const auto meaning = meaning_of(number, device, setting, cpus);
    const auto reason = errno_text(number);
    return fail(number, where.empty() ? fmt::format("{} ({})", meaning, reason)
                                      : fmt::format("{} ({}: {})", meaning, where, reason));
}

} // namespace teamo
