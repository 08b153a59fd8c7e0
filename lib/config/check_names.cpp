// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/check_names.h"

#include "base/cpu_list.h"
#include "base/named.h"
#include "model/workers.h"
#include "json/quote.h"

#include <algorithm>
#include <net/if.h>

namespace teamo::config {
namespace {

constexpr std::size_t max_bearer_name = 31; // TIPC_MAX_BEARER_NAME of linux/tipc.h, less the NUL

// The kernel's isspace (lib/ctype.c) uses Latin-1, where 0xA0 is the no-break space.
bool is_separator(char letter) {
    return std::string_view(" \t\n\v\f\r\xA0/:").find(letter) != std::string_view::npos;
}

/// Why the kernel's dev_valid_name() refuses a name; empty: it accepts it.
std::string_view name_fault(std::string_view name) {
    if (name.empty()) return "is empty";
    if (name.size() >= IFNAMSIZ) return "is longer than 15 bytes";
    if (name == "." || name == "..") return "is the name of a directory";
    if (std::ranges::any_of(name, is_separator)) return "contains a blank, a colon or a slash";
    return {};
}

void check_name(const Where& where, std::string_view name, Diagnostics& diagnostics) {
    if (const auto fault = name_fault(name); !fault.empty())
        diagnostics.error(where,
                          fmt::format("{} is not a valid device name: it {}", json::quote(name), fault));
}

void check_device(const json::Value& document, const Where& top, std::string_view device,
                  Diagnostics& diagnostics) {
    if (!device.empty()) return check_name(top.member("device", {}), device, diagnostics);
    const auto* written = document.find("device");
    if (written != nullptr && written->string() != nullptr)
        check_name(top.member("device", written->place()), *written->string(), diagnostics);
}

void check_hwaddr(const json::Value& document, const Where& top, Diagnostics& diagnostics) {
    const auto* hwaddr = document.find("hwaddr");
    if (hwaddr == nullptr || hwaddr->string() == nullptr || parse_mac_address(*hwaddr->string())) return;
    diagnostics.error(top.member("hwaddr", hwaddr->place()),
                      fmt::format("{} is not a hardware address; an example: 52:54:00:aa:bb:cc",
                                  json::quote(*hwaddr->string())));
}

void check_cpus(const json::Value& document, const Where& top, Diagnostics& diagnostics) {
    const auto* interrupts = document.find("interrupts");
    const auto* cpus = interrupts == nullptr ? nullptr : interrupts->find("cpus");
    if (cpus == nullptr || cpus->string() == nullptr) return;
    if (const auto list = parse_cpu_list(*cpus->string()); list && !list->empty()) return;
    diagnostics.error(
        top.member("interrupts", interrupts->place()).member("cpus", cpus->place()),
        fmt::format("{} is not a list of CPUs; an example: 0-3,6", json::quote(*cpus->string())));
}

void check_bearer(const json::Value& watch, const Where& where, Diagnostics& diagnostics) {
    const auto* name = watch.find("name");
    const auto* bearer = watch.find("tipc_bearer");
    if (name == nullptr || *name != json::Value("tipc") || bearer == nullptr) return;
    if (const auto* text = bearer->string(); text != nullptr && text->size() > max_bearer_name)
        diagnostics.error(where.member("tipc_bearer", bearer->place()),
                          fmt::format("is longer than {} bytes", max_bearer_name));
}

void check_bearers(const json::Value& holder, const Where& where, Diagnostics& diagnostics) {
    const auto* watches = holder.find("link_watch");
    if (watches == nullptr) return;
    const auto inner = where.member("link_watch", watches->place());
    check_bearer(*watches, inner, diagnostics);
    const auto* array = watches->array();
    for (std::size_t index = 0; array != nullptr && index < array->size(); ++index)
        check_bearer((*array)[index], inner.element(index, (*array)[index].place()), diagnostics);
}

void check_ports(const json::Value& document, const Where& top, Diagnostics& diagnostics) {
    const auto* ports = document.find("ports");
    if (ports == nullptr || ports->object() == nullptr) return;
    const auto where = top.member("ports", ports->place());
    std::size_t count = 0;
    for (const auto& port : *ports->object()) {
        check_name(where.member(port.key, port.key_place), port.key, diagnostics);
        check_bearers(port.value, where.member(port), diagnostics);
        if (++count == max_ports + 1)
            diagnostics.error(where.member(port.key, port.key_place),
                              fmt::format("too many ports: a team has at most {}", max_ports));
    }
}

/// A rule needs exactly one selector: with none it would match every process, two would be ambiguous.
void check_worker(const json::Value& rule, const Where& where, Diagnostics& diagnostics) {
    std::string_view first;
    for (const auto selector : worker_selector_names) {
        const auto* written = rule.find(selector);
        if (written == nullptr) continue;
        const auto here = where.member(selector, written->place());
        if (!first.empty())
            diagnostics.error(here, fmt::format("the rule already has {}: it must have exactly one of {}",
                                                first, fmt::join(worker_selector_names, ", ")));
        else
            first = selector;
        const auto* text = written->string();
        if (text != nullptr && text->empty())
            diagnostics.error(here, "is empty");
        else if (text != nullptr && selector == "cgroup" && !text->starts_with('/'))
            diagnostics.error(here,
                              "is not the path of a control group; an example: /system.slice/foo.service");
    }
    if (first.empty())
        diagnostics.error(where, fmt::format("selects no processes: one of {} is missing",
                                             fmt::join(worker_selector_names, ", ")));
}

void check_workers(const json::Value& document, const Where& top, Diagnostics& diagnostics) {
    const auto* workers = document.find("workers");
    const auto* array = workers == nullptr ? nullptr : workers->array();
    if (array == nullptr) return;
    const auto where = top.member("workers", workers->place());
    for (std::size_t index = 0; index < array->size(); ++index)
        if ((*array)[index].object() != nullptr)
            check_worker((*array)[index], where.element(index, (*array)[index].place()), diagnostics);
}

} // namespace

void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics) {
    const Where top{"", document.place()};
    check_device(document, top, device, diagnostics);
    check_hwaddr(document, top, diagnostics);
    check_cpus(document, top, diagnostics);
    check_bearers(document, top, diagnostics);
    check_ports(document, top, diagnostics);
    check_workers(document, top, diagnostics);
}

} // namespace teamo::config
