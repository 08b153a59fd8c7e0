// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/ip_address.h"
#include "base/named.h"
#include "config/steps.h"
#include "json/fields.h"
#include "json/quote.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <linux/if.h>

namespace teamo::config {
namespace {

constexpr std::size_t max_bearer_name = 31; // TIPC_MAX_BEARER_NAME of linux/tipc.h, less the NUL

// The kernel's isspace (lib/ctype.c) uses Latin-1, where 0xA0 is the no-break space.
bool is_separator(char letter) {
    return std::string_view(" \t\n\v\f\r\xA0/:").find(letter) != std::string_view::npos;
}

/// Why the kernel's dev_valid_name() refuses a name; empty: it accepts it. `most`: bytes.
std::string name_fault(std::string_view name, std::size_t most) {
    if (name.empty()) return "is empty";
    if (name.size() > most) return fmt::format("is longer than {} bytes", most);
    if (name == "." || name == "..") return "is the name of a directory";
    if (std::ranges::any_of(name, is_separator)) return "contains a blank, a colon or a slash";
    return {};
}

void check_name(const Where& where, std::string_view name, std::size_t most, Diagnostics& diagnostics) {
    if (const auto fault = name_fault(name, most); !fault.empty())
        diagnostics.error(where,
                          fmt::format("{} is not a valid device name: it {}", json::quote(name), fault));
}

/// Names that the kernel gives no device: __dev_alloc_name() takes '%' for a number to insert, and these are
/// directories beside those of the devices (net/core/sysctl_net_core.c: sysctl_dev_name_is_allowed).
void check_new_name(const Where& where, std::string_view name, Diagnostics& diagnostics) {
    check_name(where, name, IFNAMSIZ - 1, diagnostics);
    if (name.find('%') != std::string_view::npos)
        diagnostics.error(where, fmt::format("{} is not a valid device name: it contains a per cent sign; "
                                             "for the first free team0, team1, ... leave \"device\" out",
                                             json::quote(name)));
    if (name == "all" || name == "default")
        diagnostics.error(
            where,
            fmt::format(
                "{} is not a valid device name: the kernel uses it for the settings of {} (net.ipv6.conf.{})",
                json::quote(name), name == "all" ? "all devices" : "new devices", name));
}

void check_device(const Located& document, std::string_view device, Diagnostics& diagnostics) {
    if (!device.empty()) return check_new_name(document.where.member("device", {}), device, diagnostics);
    const auto written = document.member("device");
    if (const auto* name = written.value.string()) check_new_name(written.where, *name, diagnostics);
}

/// As the kernel's is_valid_ether_addr().
void check_hwaddr(const Located& hwaddr, Diagnostics& diagnostics) {
    const auto* text = hwaddr.value.string();
    if (text == nullptr) return;
    const auto refuse = [&](std::string_view why) {
        diagnostics.error(hwaddr.where,
                          fmt::format("{} {}; an example: 52:54:00:aa:bb:cc", json::quote(*text), why));
    };
    const auto address = parse_mac_address(*text);
    if (!address)
        refuse("is not a hardware address");
    else if (address->is_multicast())
        refuse("is a group address, which no device can have: the first number must be even");
    else if (address->is_zero())
        refuse("is zero, which no device can have; remove the key to use its default");
}

void check_cpus(const Located& cpus, Diagnostics& diagnostics) {
    const auto* text = cpus.value.string();
    if (text == nullptr) return;
    if (const auto list = parse_cpu_list(*text); list && !list->empty()) return;
    diagnostics.error(cpus.where,
                      fmt::format("{} is not a list of CPUs; an example: 0-3,6", json::quote(*text)));
}

/// A host name may be known later.
void check_host(const Located& target, bool ipv6, Diagnostics& diagnostics) {
    const auto* text = target.value.string();
    if (text == nullptr) return;
    const auto ip = parse_ip(*text);
    if (text->empty() || (ip && ip->ipv6 != ipv6))
        diagnostics.error(target.where, fmt::format("{} is not a host name or an IPv{} address",
                                                    json::quote(*text), ipv6 ? 6 : 4));
}

void check_damping(const Located& damping, Diagnostics& diagnostics) {
    if (damping.value.object() == nullptr) return;
    const auto number = [&](const char* name, std::uint32_t usual) {
        const auto* written = damping.value.find(name);
        return written == nullptr || written->integer() == nullptr ? usual : *written->integer();
    };
    const auto reuse = number("reuse", DampingConfig{}.reuse),
               suppress = number("suppress", DampingConfig{}.suppress);
    if (reuse >= suppress)
        diagnostics.error(damping.where,
                          fmt::format("reuse is {} and suppress is {}: a port that is suppressed would be "
                                      "used again at once; reuse must be below suppress",
                                      reuse, suppress));
}

/// `holder`: the team, or a port.
void check_watches(const Located& holder, Diagnostics& diagnostics) {
    holder.member("link_watch").each([&](const Located& watch) {
        const auto name = json::text(watch.value, "name");
        if (name == "arp_ping") check_host(watch.member("target_host"), false, diagnostics);
        if (name == "arp_ping") check_host(watch.member("source_host"), false, diagnostics);
        if (name == "nsna_ping") check_host(watch.member("target_host"), true, diagnostics);
        check_damping(watch.member("damping"), diagnostics);
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
        check_name(name, port.key, ALTIFNAMSIZ - 1, diagnostics); // it may be an alternative name
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

/// A guest changes nothing that these keys set.
void check_attach(const Located& document, Diagnostics& diagnostics) {
    const auto* attach = document.value.find("attach");
    if (attach == nullptr || attach->boolean() == nullptr || !*attach->boolean()) return;
    constexpr auto remove = "the bond decides this, to which \"attach\" attaches the daemon; remove it";
    for (const auto* key : {"hwaddr", "datapath", "notify_peers", "mcast_rejoin"})
        if (document.value.find(key) != nullptr) diagnostics.error(document.member(key).where, remove);
    const auto* runner = document.value.find("runner");
    const auto is_only = [runner](std::string_view name) {
        const auto* members = runner->object();
        const auto* given = runner->find("name");
        return members != nullptr && members->size() == 1 && given != nullptr && given->string() != nullptr &&
               *given->string() == name;
    };
    if (runner != nullptr && !is_only("activebackup") && !is_only("slb"))
        diagnostics.error(document.member("runner").where,
                          "the bond decides this, to which \"attach\" attaches the daemon; remove it, or let "
                          "{\"name\": \"activebackup\"} choose the active slave of an active-backup bond, or "
                          "{\"name\": \"slb\"} steer a balance-xor bond by source address");
}

} // namespace

void check_names(const json::Value& document, std::string_view device, Diagnostics& diagnostics) {
    const Located top{document, {"", document.place()}};
    check_device(top, device, diagnostics);
    check_hwaddr(top.member("hwaddr"), diagnostics);
    check_hwaddr(top.member("runner").member("system"), diagnostics);
    check_cpus(top.member("interrupts").member("cpus"), diagnostics);
    check_watches(top, diagnostics);
    check_ports(top.member("ports"), diagnostics);
    check_workers(top.member("workers"), diagnostics);
    check_attach(top, diagnostics);
}

} // namespace teamo::config
