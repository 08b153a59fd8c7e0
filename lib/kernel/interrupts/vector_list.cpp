// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A PCI device lists its vectors in DEVICE/msi_irqs, a virtio device in that of its PCI device. Vectors can
// exist there before a driver requests them. /proc/irq/N has a folder for each handler, by name: a vector
// without one is unused, and the vectors of devices without msi_irqs are found by handler name.
#include "kernel/interrupts/vector_list.h"

#include "kernel/files/sysfs.h"
#include "kernel/interrupts/vector_names.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace teamo {
namespace {

namespace fs = std::filesystem;

/// An interrupt and its handlers' names: several if devices share a line.
struct Interrupt {
    unsigned number = 0;
    std::vector<std::string> handlers;
};

fs::path folder_of(const std::string& root, unsigned irq) {
    return fs::path(root + "/proc/irq") / std::to_string(irq);
}

std::vector<Interrupt> with_handlers(const std::vector<unsigned>& numbers, const std::string& root) {
    std::vector<Interrupt> list;
    for (const auto number : numbers)
        if (auto handlers = sysfs::names_in(folder_of(root, number), true); !handlers.empty())
            list.push_back({.number = number, .handlers = std::move(handlers)});
    return list;
}

/// The first handler that meets the condition; "" if there is none.
template <class Condition>
std::string handler_of(const Interrupt& interrupt, Condition condition) {
    const auto found = std::ranges::find_if(interrupt.handlers, condition);
    return found == interrupt.handlers.end() ? std::string() : *found;
}

IrqVector vector_of(const Interrupt& interrupt, std::string name, const std::string& root) {
    const auto folder = folder_of(root, interrupt.number);
    IrqVector vector;
    vector.irq = interrupt.number;
    vector.name = std::move(name);
    // The file of a managed vector is read-only from 6.12 on; before, only a write shows it (EIO).
    std::error_code error;
    const auto mode = fs::status(folder / "smp_affinity_list", error).permissions();
    constexpr auto writable = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
    vector.movable = error || (mode & writable) != fs::perms::none;
    static_cast<void>(refresh(vector, root));
    return vector;
}

/// By dev_port, which mlx4 sets (Documentation/ABI/testing/sysfs-class-net). Representors of virtual
/// functions have no dev_port of their own.
bool has_several_ports(const fs::path& network_devices) {
    std::set<std::uint64_t> numbers;
    for (const auto& name : sysfs::names_in(network_devices, true))
        numbers.insert(
            static_cast<std::uint64_t>(sysfs::number(network_devices / name / "dev_port").value_or(0)));
    return numbers.size() > 1;
}

/// Sums "0,17,0", one count for each CPU.
std::uint64_t sum_of(std::string_view counts) {
    std::uint64_t sum = 0;
    while (!counts.empty()) {
        std::uint64_t number = 0;
        const auto [rest, error] = std::from_chars(counts.data(), counts.data() + counts.size(), number);
        if (error == std::errc{}) sum += number;
        counts.remove_prefix(error == std::errc{} ? static_cast<std::size_t>(rest - counts.data()) : 1);
    }
    return sum;
}

} // namespace

std::vector<IrqVector> list_vectors(const DeviceFolder& folder, const std::string& name,
                                    std::span<const unsigned> known, const std::string& root) {
    std::vector<IrqVector> vectors;
    if (folder.device.empty()) return vectors;
    const auto device = folder.device.filename().string();
    const auto by_name = [&](const std::string& handler) {
        return is_named_after(handler, name) || is_named_after(handler, device);
    };
    const auto add = [&](const Interrupt& one, std::string handler) {
        if (!handler.empty()) vectors.push_back(vector_of(one, std::move(handler), root));
    };
    auto listed = with_handlers(sysfs::numbers_in(folder.bus / "msi_irqs"), root);
    if (listed.empty())
        for (const auto& one : with_handlers(sysfs::numbers_in(root + "/proc/irq"), root))
            add(one, handler_of(one, by_name));
    const auto own = [&](const std::string& handler) { return handler.find(name) != std::string::npos; };
    // If ports share a PCI function, a vector without the port's name counts only if it is in `known`.
    const bool shared =
        has_several_ports(folder.device / "net") ||
        (sysfs::names_in(folder.device / "net").size() > 1 &&
         std::ranges::any_of(listed, [&](const Interrupt& one) { return !handler_of(one, own).empty(); }));
    const auto is_own_handler = [&](const std::string& handler) {
        return shared ? own(handler) : by_name(handler);
    };
    for (const auto& one : listed) {
        const auto handler = handler_of(one, is_own_handler);
        add(one, handler.empty() && !shared ? one.handlers.front() : handler);
    }
    const auto is_listed = [&](unsigned irq) {
        return std::ranges::find(vectors, irq, &IrqVector::irq) != vectors.end();
    };
    std::vector<unsigned> missing;
    std::ranges::copy_if(known, std::back_inserter(missing), [&](unsigned irq) { return !is_listed(irq); });
    for (const auto& one : with_handlers(missing, root))
        add(one, one.handlers.front());
    std::ranges::sort(vectors, {}, &IrqVector::irq);
    return vectors;
}

Result<> refresh(IrqVector& vector, const std::string& root) {
    const auto folder = folder_of(root, vector.irq);
    std::error_code error;
    if (!fs::is_directory(folder / vector.name, error)) {
        if (!fs::is_directory(folder, error))
            return fail(ENOENT, fmt::format("interrupt {} no longer exists", vector.irq));
        return fail(ESTALE,
                    fmt::format("interrupt {} no longer has the handler {}", vector.irq, vector.name));
    }
    vector.affinity = sysfs::cpus(folder / "smp_affinity_list").value_or(CpuList());
    // Empty if the kernel or the interrupt controller does not report it.
    vector.effective = sysfs::cpus(folder / "effective_affinity_list").value_or(CpuList());
    vector.count =
        sum_of(sysfs::first_line(root + "/sys/kernel/irq/" + std::to_string(vector.irq) + "/per_cpu_count"));
    return {};
}

} // namespace teamo
