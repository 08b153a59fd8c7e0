// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The output is byte for byte that of teamdctl (libteam: utils/teamdctl.c), because scripts parse it.
#include "ctl/report/state.h"

#include "json/fields.h"

#include <cstdint>

namespace teamo::ctl {
namespace {

/// Writes lines and remembers the first missing value: take() returns it as the error.
class View {
public:
    explicit View(bool verbose) : verbose_(verbose) {}

    template <class... Parts>
    void line(fmt::format_string<Parts...> form, Parts&&... parts) {
        text_.append(2 * depth_, ' ');
        fmt::format_to(std::back_inserter(text_), form, std::forward<Parts>(parts)...);
        text_ += '\n';
    }
    template <class... Parts>
    void detail(fmt::format_string<Parts...> form, Parts&&... parts) {
        if (verbose_) line(form, std::forward<Parts>(parts)...);
    }

    struct Indent {
        std::size_t& depth;
        ~Indent() { --depth; }
    };
    /// Indents the lines until the end of the result's scope.
    Indent indent() { return {++depth_}; }

    const json::Value& object(const json::Value& in, std::string_view key) {
        value<json::Object>(in, key);
        return json::child(in, key);
    }
    std::string string(const json::Value& in, std::string_view key) { return value<std::string>(in, key); }
    bool boolean(const json::Value& in, std::string_view key) { return value<bool>(in, key); }
    /// libteamdctl's numbers are C ints: the kernel's unknown speed, 2^32 - 1, is shown as -1.
    std::int32_t integer(const json::Value& in, std::string_view key) {
        return static_cast<std::int32_t>(value<std::int64_t>(in, key));
    }
    const char* yes_no(const json::Value& in, std::string_view key) {
        return boolean(in, key) ? "yes" : "no";
    }
    const char* up_down(const json::Value& in, std::string_view key) {
        return boolean(in, key) ? "up" : "down";
    }

    void refuse(std::string reason) {
        if (refused_.empty()) refused_ = std::move(reason);
    }
    Result<std::string> take() {
        if (!refused_.empty()) return fail(EPROTO, std::move(refused_));
        return std::move(text_);
    }

private:
    template <class Type>
    const Type& value(const json::Value& in, std::string_view key) {
        static const Type none{};
        const auto* found = std::get_if<Type>(&json::child(in, key).data());
        if (found == nullptr) refuse(fmt::format("the daemon's state has no proper \"{}\"", key));
        return found == nullptr ? none : *found;
    }

    bool verbose_;
    std::size_t depth_ = 0;
    std::string text_, refused_;
};

void show_setup(View& view, const json::Value& setup) {
    view.line("setup:");
    const auto indented = view.indent();
    view.line("runner: {}", view.string(setup, "runner_name"));
    view.detail("kernel team mode: {}", view.string(setup, "kernel_team_mode_name"));
    view.detail("D-BUS enabled: {}", view.yes_no(setup, "dbus_enabled"));
    view.detail("ZeroMQ enabled: {}", view.yes_no(setup, "zmq_enabled"));
    view.detail("debug level: {}", view.integer(setup, "debug_level"));
    view.detail("daemonized: {}", view.yes_no(setup, "daemonized"));
    view.detail("PID: {}", view.integer(setup, "pid"));
    view.detail("PID file: {}", view.string(setup, "pid_file"));
}

void show_ping(View& view, const json::Value& watch) {
    view.detail("target host: {}", view.string(watch, "target_host"));
    view.detail("interval: {}", view.integer(watch, "interval"));
    view.detail("missed packets: {}/{}", view.integer(watch, "missed"), view.integer(watch, "missed_max"));
}

void show_watch_options(View& view, const std::string& name, const json::Value& watch) {
    if (name == "ethtool") {
        view.detail("link up delay: {}", view.integer(watch, "delay_up"));
        view.detail("link down delay: {}", view.integer(watch, "delay_down"));
    } else if (name == "arp_ping") {
        view.detail("source host: {}", view.string(watch, "source_host"));
        show_ping(view, watch);
        view.detail("validate_active: {}", view.yes_no(watch, "validate_active"));
        view.detail("validate_inactive: {}", view.yes_no(watch, "validate_inactive"));
        view.detail("send_always: {}", view.yes_no(watch, "send_always"));
        view.detail("initial wait: {}", view.integer(watch, "init_wait"));
    } else if (name == "nsna_ping") {
        show_ping(view, watch);
        view.detail("initial wait: {}", view.integer(watch, "init_wait"));
    } else if (name == "tipc") {
        view.detail("tipc bearer: {}", view.string(watch, "tipc_bearer"));
    } else {
        view.refuse(fmt::format("the daemon's state has a link watch of the unknown kind \"{}\"", name));
    }
}

void show_link_watches(View& view, const json::Value& watches) {
    view.line("link watches:");
    const auto indented = view.indent();
    view.line("link summary: {}", view.up_down(watches, "up"));
    const auto* list = watches.find("list");
    if (!list || !list->object()) return;
    for (const auto& [instance, watch, place] : *list->object()) {
        const auto name = view.string(watch, "name");
        view.line("instance[{}]:", instance);
        const auto more_indented = view.indent();
        view.line("name: {}", name);
        view.line("link: {}", view.up_down(watch, "up"));
        view.line("down count: {}", view.integer(watch, "down_count"));
        show_watch_options(view, name, watch);
    }
}

void show_lacpdu(View& view, const char* title, const json::Value& pdu) {
    view.detail("{} LACPDU info:", title);
    const auto indented = view.indent();
    view.detail("system priority: {}", view.integer(pdu, "system_priority"));
    view.detail("system: {}", view.string(pdu, "system"));
    view.detail("key: {}", view.integer(pdu, "key"));
    view.detail("port_priority: {}", view.integer(pdu, "port_priority"));
    view.detail("port: {}", view.integer(pdu, "port"));
    view.detail("state: 0x{:x}", static_cast<std::uint32_t>(view.integer(pdu, "state")));
}

void show_lacp_port(View& view, const json::Value& runner) {
    const auto& aggregator = view.object(runner, "aggregator");
    view.line("runner:");
    const auto indented = view.indent();
    view.line("aggregator ID: {}{}", view.integer(aggregator, "id"),
              view.boolean(aggregator, "selected") ? ", Selected" : "");
    view.line("selected: {}", view.yes_no(runner, "selected"));
    view.line("state: {}", view.string(runner, "state"));
    // teamd has no such key.
    if (const auto reason = json::text(json::child(runner, "detail"), "not_used_because"); !reason.empty())
        view.line("not used because: {}", reason);
    view.detail("key: {}", view.integer(runner, "key"));
    view.detail("priority: {}", view.integer(runner, "prio"));
    show_lacpdu(view, "actor", view.object(runner, "actor_lacpdu_info"));
    show_lacpdu(view, "partner", view.object(runner, "partner_lacpdu_info"));
}

void show_port(View& view, const std::string& name, const json::Value& port, bool is_lacp) {
    const auto& ifinfo = view.object(port, "ifinfo");
    const auto& link = view.object(port, "link");
    view.line("{}", name);
    const auto indented = view.indent();
    view.detail("ifindex: {}", view.integer(ifinfo, "ifindex"));
    view.detail("addr: {}", view.string(ifinfo, "dev_addr"));
    view.detail("ethtool link: {}mbit/{}duplex/{}", view.integer(link, "speed"), view.string(link, "duplex"),
                view.up_down(link, "up"));
    show_link_watches(view, view.object(port, "link_watches"));
    // teamd has no such key.
    if (const auto& loss = json::child(port, "loss"); !json::text(loss, "finding").empty()) {
        view.line("loss: {}", json::text(loss, "finding"));
        if (json::flag(loss, "taken_out"))
            view.line("used only while no other port can; tried again in {} s",
                      json::number(loss, "next_try_milliseconds") / 1000);
    }
    if (const auto& damping = json::child(port, "damping"); json::flag(damping, "suppressed"))
        view.line("damped: used only while no other port can, until it has kept its link for {} s",
                  json::number(damping, "reuse_milliseconds") / 1000);
    if (const auto weight = json::number(port, "weight"); weight != 0) view.line("weight: {}", weight);
    if (const auto& at = json::child(json::child(port, "failure_domain"), "switch");
        json::text(at, "source") == "lldp")
        view.line("leads to: {}, port {}", json::text(at, json::text(at, "name").empty() ? "id" : "name"),
                  json::text(at, "port"));
    if (is_lacp) show_lacp_port(view, view.object(port, "runner"));
}

/// teamd has no such part.
void show_attached(View& view, const json::Value& document) {
    const auto& attached = json::child(document, "attached");
    if (attached.object() == nullptr) return;
    view.line("attached to a bond:");
    const auto indented = view.indent();
    view.line("mode: {}", json::text(attached, "mode"));
    view.line("xmit hash policy: {}", json::text(attached, "own_xmit_hash_policy"));
    const auto why = json::text(attached, "reason");
    view.line("steered: {}", why.empty() ? "yes" : "no, " + why);
}

void show_runner(View& view, const std::string& name, const json::Value& document) {
    if (name != "activebackup" && name != "lacp") return;
    const auto& runner = view.object(document, "runner");
    view.line("runner:");
    const auto indented = view.indent();
    if (name == "activebackup") {
        view.line("active port: {}", view.string(runner, "active_port"));
        return;
    }
    view.line("active: {}", view.yes_no(runner, "active"));
    view.line("fast rate: {}", view.yes_no(runner, "fast_rate"));
    view.detail("system priority: {}", view.integer(runner, "sys_prio"));
}

} // namespace

Result<std::string> view_of_state(const json::Value& document, bool verbose) {
    View view(verbose);
    const auto& setup = view.object(document, "setup");
    const auto runner = view.string(setup, "runner_name");
    show_setup(view, setup);
    show_attached(view, document);
    const auto* ports = document.find("ports");
    if (ports && ports->object()) {
        view.line("ports:");
        const auto indented = view.indent();
        for (const auto& port : *ports->object())
            show_port(view, port.key, port.value, runner == "lacp");
    }
    show_runner(view, runner, document);
    return view.take();
}

} // namespace teamo::ctl
