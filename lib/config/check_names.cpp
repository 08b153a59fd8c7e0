// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/ip_address.h"
#include "base/named.h"
#include "config/steps.h"
#include "json/fields.h"
#include "json/quote.h"

#include <algorithm>
#include <fmt/ranges.h>
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

void check_device(const Located& document, std::string_view device, Diagnostics& diagnostics) {
    if (!device.empty()) return check_name(document.where.member("device", {}), device, diagnostics);
    const auto written = document.member("device");
    if (const auto* name = written.value.string()) check_name(written.where, *name, diagnostics);
}

void check_hwaddr(const Located& hwaddr, Diagnostics& diagnostics) {
    const auto* text = hwaddr.value.string();
    if (text == nullptr || parse_mac_address(*text)) return;
    diagnostics.error(hwaddr.where, fmt::format("{} is not a hardware address; an example: 52:54:00:aa:bb:cc",
                                                json::quote(*text)));
}

void check_cpus(const Located& cpus, Diagnostics& diagnostics) {
    const auto* text = cpus.value.string();
    if (text == nullptr) return;
    if (const auto list = parse_cpu_list(*text); list && !list->empty()) return;
    diagnostics.error(cpus.where,
                      fmt::format("{} is not a list of CPUs; an example: 0-3,6", json::quote(*text)));
}

/// A host name may be known later.
void check_target(const Located& target, bool ipv6, Diagnostics& diagnostics) {
    const auto* text = target.value.string();
    if (text == nullptr) return;
    const auto ip = parse_ip(*text);
    if (text->empty() || (ip && ip->ipv6 != ipv6))
        diagnostics.error(target.where, fmt::format("{} is not a host name or an IPv{} address",
                                                    json::quote(*text), ipv6 ? 6 : 4));
}

/// `holder`: the team, or a port.
void check_watches(const Located& holder, Diagnostics& diagnostics) {
    holder.member("link_watch").each([&](const Located& watch) {
        const auto name = json::text(watch.value, "name");
        if (name == "arp_ping") check_target(watch.member("target_host"), false, diagnostics);
        if (name == "nsna_ping") check_target(watch.member("target_host"), true, diagnostics);
        const auto bearer = watch.member("tipc_bearer");
        const auto* text = bearer.value.string();
        if (name == "tipc" && text != nullptr && text->size() > max_bearer_name)
            diagnostics.error(bearer.where, fmt::format("is longer than {} bytes", max_bearer_name));
    });
}

void check_ports(const Located& ports, Diagnostics& diagnostics) {
    if (ports.value.object() == nullptr) return;
    std::size_t count = 0;
    for (const auto& port : *ports.value.object()) {
        const auto name = ports.where.member(port.key, port.key_place);
        check_name(name, port.key, diagnostics);
        check_watches(ports.member(port), diagnostics);
        if (++count == max_ports + 1)
            diagnostics.error(name, fmt::format("too many ports: a team has at most {}", max_ports));
    }
}

/// A rule needs exactly one selector: with none it would match every process, two would be ambiguous.
void check_worker(const Located& rule, Diagnostics& diagnostics) {
    std::string_view first;
    for (const auto selector : worker_selector_names) {
        if (rule.value.find(selector) == nullptr) continue;
        const auto [written, where] = rule.member(selector);
        if (!first.empty())
            diagnostics.error(where, fmt::format("the rule already has {}: it must have exactly one of {}",
                                                 first, fmt::join(worker_selector_names, ", ")));
        else
            first = selector;
        const auto* text = written.string();
        if (text != nullptr && text->empty())
            diagnostics.error(where, "is empty");
        else if (text != nullptr && selector == "cgroup" && !text->starts_with('/'))
            diagnostics.error(where,
                              "is not the path of a control group; an example: /system.slice/foo.service");
    }
    if (first.empty())
        diagnostics.error(rule.where, fmt::format("selects no processes: one of {} is missing",
                                                  fmt::join(worker_selector_names, ", ")));
}

void check_workers(const Located& workers, Diagnostics& diagnostics) {
    if (workers.value.array() == nullptr) return;
    workers.each([&](const Located& rule) {
        if (rule.value.object() != nullptr) check_worker(rule, diagnostics);
    });
}

} // namespace

void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics) {
    const Located top{document, {"", document.place()}};
    check_device(top, device, diagnostics);
    check_hwaddr(top.member("hwaddr"), diagnostics);
    check_cpus(top.member("interrupts").member("cpus"), diagnostics);
    check_watches(top, diagnostics);
    check_ports(top.member("ports"), diagnostics);
    check_workers(top.member("workers"), diagnostics);
}

} // namespace teamo::config
