// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A PCI device lists its vectors in DEVICE/msi_irqs, a virtio device its PCI device's; some of these exist
// before anybody has asked for them. /proc/irq/N has a folder for each handler, by name: so a vector without
// one serves nobody, and devices without such a list are found by their names.
#include "kernel/interrupt_cpus.h"

#include "kernel/files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace teamo {
namespace {

namespace fs = std::filesystem;

/// An interrupt and its handlers' names.
struct Interrupt {
    unsigned number = 0;
    std::vector<std::string> handlers;
};

/// Names in a folder; none where there is no such folder.
std::vector<std::string> names_in(const fs::path& folder, bool only_folders = false) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (std::error_code ignored; !only_folders || entry->is_directory(ignored))
            names.push_back(entry->path().filename());
    std::ranges::sort(names);
    return names;
}

std::vector<unsigned> numbers_in(const fs::path& folder) {
    std::vector<unsigned> numbers;
    for (const auto& name : names_in(folder)) {
        unsigned number = 0;
        const auto* end = name.data() + name.size();
        if (const auto [rest, error] = std::from_chars(name.data(), end, number);
            error == std::errc{} && rest == end)
            numbers.push_back(number);
    }
    return numbers;
}

std::string first_line(const fs::path& file) {
    const auto text = read_file(file, 4096);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

class Interrupts {
public:
    Interrupts(const std::string& root, const std::string& name)
        : irqs_(root + "/proc/irq"),
          counts_(root + "/sys/kernel/irq"),
          folder_(root + "/sys/class/net/" + name),
          name_(name) {
        std::error_code error;
        device_ = fs::canonical(folder_ / "device", error);
        if (error) device_.clear();
    }

    bool is(IfIndex index) const { return first_line(folder_ / "ifindex") == std::to_string(index.value); }

    /// Of the queues, or whatever there is.
    std::vector<Interrupt> serving() const {
        if (device_.empty()) return {};
        auto all = vectors();
        if (names_in(device_ / "net").size() > 1) { // several ports in one: an old mlx4 card
            std::vector<Interrupt> own;
            std::ranges::copy_if(all, std::back_inserter(own), [this](const Interrupt& one) {
                return has_handler(one, [this](const auto& handler) { return handler.contains_name(name_); });
            });
            if (!own.empty()) all = std::move(own);
        }
        std::vector<Interrupt> queues;
        std::ranges::copy_if(all, std::back_inserter(queues),
                             [&all](const Interrupt& one) { return !is_beside(one, all); });
        if (!queues.empty()) all = std::move(queues);
        // A virtio device has vectors for queues that it does not use, and an idle one stays on its old CPU
        // after its affinity has changed.
        std::vector<Interrupt> busy;
        std::ranges::copy_if(all, std::back_inserter(busy),
                             [this](const Interrupt& one) { return has_come(one.number); });
        return busy.empty() ? all : busy;
    }

    CpuList cpus_of(const Interrupt& interrupt) const {
        const auto folder = irqs_ / std::to_string(interrupt.number);
        // Kernels without the first, and controllers that do not tell, have the second.
        for (const auto* file : {"effective_affinity_list", "smp_affinity_list"})
            if (const auto cpus = parse_cpu_list(first_line(folder / file)); cpus && !cpus->empty())
                return *cpus;
        return {};
    }

private:
    /// "0,17,0" by CPU.
    bool has_come(unsigned number) const {
        const auto counts = first_line(counts_ / std::to_string(number) / "per_cpu_count");
        return counts.empty() || counts.find_first_of("123456789") != std::string::npos;
    }

    struct Handler {
        const std::string& name;
        bool is_of(const std::string& device) const {
            return name.starts_with(device) &&
                   (name.size() == device.size() ||
                    std::string_view("-.:@").find(name[device.size()]) != std::string_view::npos);
        }
        bool contains_name(const std::string& device) const { return name.find(device) != std::string::npos; }
    };

    template <class Condition>
    static bool has_handler(const Interrupt& interrupt, Condition condition) {
        return std::ranges::any_of(interrupt.handlers,
                                   [&](const std::string& name) { return condition(Handler{name}); });
    }

    /// Tells of the link, of commands done, of configuration: "virtio0-config", "i40e-0000:01:00.0:misc",
    /// and "eth0" beside "eth0-rx-0" (e1000e, igb, ixgbe).
    static bool is_beside(const Interrupt& one, const std::vector<Interrupt>& all) {
        constexpr auto words = std::to_array<std::string_view>(
            {"config", "misc", "event", "async", "control", "cmd", "pages", "mgm", "mbox", "health"});
        return has_handler(one, [&](const Handler& handler) {
            if (std::ranges::any_of(words, [&](std::string_view word) {
                    return handler.name.find(word) != std::string::npos;
                }))
                return true;
            return std::ranges::any_of(all, [&](const Interrupt& other) {
                return other.number != one.number && has_handler(other, [&](const Handler& longer) {
                           return longer.name.size() > handler.name.size() && longer.is_of(handler.name);
                       });
            });
        });
    }

    std::vector<Interrupt> vectors() const {
        auto listed = with_handlers(numbers_in(device_ / "msi_irqs"));
        const bool virtio = device_.filename().string().starts_with("virtio");
        if (listed.empty() && virtio) listed = with_handlers(numbers_in(device_.parent_path() / "msi_irqs"));
        if (!listed.empty()) return listed;
        std::vector<Interrupt> named;
        for (auto& one : with_handlers(numbers_in(irqs_)))
            if (has_handler(one, [this](const Handler& handler) {
                    return handler.is_of(name_) || handler.is_of(device_.filename());
                }))
                named.push_back(std::move(one));
        return named;
    }

    std::vector<Interrupt> with_handlers(const std::vector<unsigned>& numbers) const {
        std::vector<Interrupt> list;
        for (const auto number : numbers)
            if (auto handlers = names_in(irqs_ / std::to_string(number), true); !handlers.empty())
                list.push_back({.number = number, .handlers = std::move(handlers)});
        return list;
    }

    fs::path irqs_, counts_, folder_, device_;
    std::string name_;
};

} // namespace

Result<CpuList> read_interrupt_cpus(const Link& link, const std::string& root) {
    const Interrupts interrupts(root, link.name);
    if (!interrupts.is(link.index))
        return fail(ENODEV, fmt::format("/sys/class/net/{} is not device {}", link.name, link.index.value));
    CpuList cpus;
    for (const auto& one : interrupts.serving()) {
        const auto here = interrupts.cpus_of(one);
        cpus.insert(cpus.end(), here.begin(), here.end());
    }
    std::ranges::sort(cpus);
    const auto doubled = std::ranges::unique(cpus);
    cpus.erase(doubled.begin(), doubled.end());
    return cpus;
}

Result<CpuList> read_online_cpus(const std::string& root) {
    const auto path = root + "/sys/devices/system/cpu/online";
    const auto text = read_file(path, 65536);
    if (!text) return tl::unexpected(text.error());
    auto cpus = parse_cpu_list(*text);
    if (!cpus) return fail(EINVAL, path + " is no list of CPUs");
    return std::move(*cpus);
}

} // namespace teamo
