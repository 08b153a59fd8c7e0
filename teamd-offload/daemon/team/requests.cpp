// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Carries out requests from the control socket. Errors have teamd's codes and messages, then our reason.
#include "base/whole_number.h"
#include "control/state_document.h"
#include "control/subsystem_documents.h"
#include "daemon/team/reload.h"
#include "daemon/team/team.h"
#include "json/write.h"

#include <strings.h>

namespace teamo {
namespace {

using control::Refusal;
using control::Reply;

MakeReply with(Reply reply) {
    return [reply = std::move(reply)] { return reply; };
}

MakeReply done() { return with(Reply{}); }

MakeReply refused(std::string code, std::string_view teamd_text, std::string_view why) {
    return with(Refusal{.code = std::move(code), .message = fmt::format("{}: {}.", teamd_text, why)});
}

MakeReply done_or_refused(const Result<>& result, std::string code, std::string_view teamd_text) {
    return result ? done() : refused(std::move(code), teamd_text, result.error().text);
}

MakeReply no_such_device() { return with(Refusal{.code = "NoSuchDev", .message = "No such device."}); }

struct Begin {
    TeamParts& parts;

    TeamContext& context() const { return parts.context; }
    const Link* device(const std::string& name) const { return parts.context.observer->find_now(name); }
    /// The names of a path, with the name that the state has for a port.
    std::optional<std::vector<std::string>> item_names(std::string_view path) const {
        auto names = control::split_item_path(path);
        if (!names || names->size() < 2 || names->front() != "ports") return names;
        if (const auto* port = parts.ports.find((*names)[1])) (*names)[1] = port->name;
        return names;
    }
    std::optional<std::string> item(std::string_view path) const {
        const auto names = item_names(path);
        return names ? control::state_item(control::state_document(status_of(parts)), *names) : std::nullopt;
    }

    MakeReply clear_statistics(std::optional<IfIndex> port) const {
        auto* system = parts.reconciler.lacp();
        if (system == nullptr)
            return with(Refusal{.code = "OpNotSupp",
                                .message = context().has_lacp()
                                               ? "The kernel's bonding counts, and does not forget."
                                               : "Only the runner lacp has statistics."});
        system->clear_counters(port);
        return done();
    }

    /// Of a bond of others.
    std::string owner_decides() const {
        return fmt::format(
            "{0} belongs to the program that made it; change its slaves there, or with: ip link "
            "set SLAVE master {0}, ip link set SLAVE nomaster",
            context().name());
    }

    MakeReply operator()(const control::PortAdd& request) const {
        const auto* link = device(request.port);
        if (link == nullptr) return no_such_device();
        if (context().datapath->is_guest())
            return refused("PortAddFail", "Failed to add port", owner_decides());
        const auto joined = parts.ports.join(link->index);
        if (joined) return done();
        return refused("PortAddFail", "Failed to add port", request.port + " " + joined.error().text);
    }

    MakeReply operator()(const control::PortRemove& request) const {
        const auto* link = device(request.port);
        const auto* port = parts.ports.find(request.port);
        if (link == nullptr || port == nullptr) return no_such_device(); // as teamd
        if (context().datapath->is_guest())
            return refused("PortRemoveFail", "Failed to del port", owner_decides());
        parts.ports.note_removed(*link, port->key);
        static_cast<void>(parts.ports.begin_leaving(link->index)); // it is a port
        return [&ports = parts.ports, port = link->index, name = request.port] {
            const auto left = ports.take_leave_result(port);
            return left ? Reply{}
                        : refused("PortRemoveFail", "Failed to del port", name + " " + left.error().text)();
        };
    }

    /// Changes nothing unless all of it is valid.
    MakeReply operator()(const control::PortConfigUpdate& request) const {
        const auto* link = device(request.port);
        if (link == nullptr) return no_such_device();
        const auto key = parts.ports.key_of(*link);
        const auto failed = [](const std::string& why) {
            return refused("ConfigUpdateFail", "Failed to update config", why);
        };
        auto object = parse_port_configuration(request.config);
        if (!object) return failed(object.error().text);
        auto document = with_port_configuration(context().configuration.document, key, std::move(*object));
        auto read = read_document(document, context().name(), context().options.datapath);
        if (!read.configuration) {
            const auto* why = read.refusal();
            return failed(why == nullptr ? "" : text_of(*why));
        }
        if (const auto kept = check_kept(context(), read.configuration->team); !kept)
            return failed(kept.error().text);
        const auto path = "/ports/" + key + "/"; // eth1 is not eth10
        for (const auto& diagnostic : read.diagnostics)
            if (diagnostic.pointer.starts_with(path)) context().log(Level::warning, text_of(diagnostic));
        read.configuration->team.debug_level = context().config().debug_level; // by option or by request
        context().configuration = {.team = std::move(read.configuration->team),
                                   .document = std::move(document)}; // dumps show the document as it was sent
        parts.ports.reconfigure_ports();
        return done();
    }

    MakeReply operator()(const control::PortConfigDump& request) const {
        if (device(request.port) == nullptr) return no_such_device();
        const auto* found = parts.ports.find(request.port);
        if (found == nullptr)
            return with(Refusal{.code = "ConfigDumpFail", .message = "Failed to dump config."});
        const auto* ports = context().configuration.document.find("ports");
        const auto* port = ports == nullptr ? nullptr : ports->find(found->key);
        return with(json::write(port == nullptr ? json::Value(json::Object{}) : *port));
    }

    MakeReply operator()(const control::ConfigDump& /*request*/) const {
        return with(json::write(context().configuration.document));
    }

    MakeReply operator()(const control::ConfigDumpActual& /*request*/) const {
        return [&parts = parts] {
            std::vector<std::string> present;
            for (const auto& port : parts.ports.all())
                present.push_back(port.key);
            return json::write(actual_configuration(parts.context.configuration.document, present));
        };
    }

    MakeReply operator()(const control::StateDump& /*request*/) const {
        return [&parts = parts] { return json::write(control::state_document(status_of(parts))); };
    }

    MakeReply operator()(const control::StateItemValueGet& request) const {
        return [begin = *this, path = request.path]() -> Reply {
            auto item = begin.item(path);
            if (!item) return Refusal{.code = "PathDoesNotExist", .message = "Item path does not exist."};
            return std::move(*item);
        };
    }

    MakeReply operator()(const control::StateItemValueSet& request) const {
        const auto failed = [](const std::string& why) {
            return refused("ItemValueSetFail", "Failed to set item value", why);
        };
        if (request.path == "setup.debug_level") {
            const auto level = whole_number<std::uint32_t>(request.value);
            if (!level || *level > INT32_MAX) return failed("the level must be 0 or a positive number");
            context().configuration.team.debug_level = *level;
            context().log.set_debug(*level > 0);
            return done();
        }
        if (request.path == "runner.active_port" &&
            std::holds_alternative<ActiveBackupRunner>(context().config().runner)) {
            const auto* port = parts.ports.find(request.value);
            if (port == nullptr) return failed(request.value + " is not a port of this team");
            if (parts.ports.is_drained(*port))
                return failed(fmt::format("{1} is drained; to use it again: teamoctl {0} port undrain {1}",
                                          context().name(), request.value));
            const auto by_bonding = context().datapath->is_bond() && !context().chooses_active();
            if (by_bonding) {
                const auto made = parts.bond.make_active(port->index);
                return made ? done() : failed(made.error().text);
            }
            if (!parts.reconciler.choose_active(port->index))
                return failed("the link of " + request.value + " is down");
            return done();
        }
        if (const auto path = control::split_item_path(request.path);
            parts.reconciler.lacp() != nullptr && path && path->size() == 5 && path->front() == "ports" &&
            std::vector(path->begin() + 2, path->end()) ==
                std::vector<std::string>{"runner", "aggregator", "selected"}) {
            const auto* port = parts.ports.find((*path)[1]);
            if (port == nullptr)
                return with(Refusal{.code = "PathDoesNotExist", .message = "Item path does not exist."});
            if (::strcasecmp(request.value.c_str(), "true") != 0)
                return with(Refusal{.code = "OpNotSupp", .message = "Operation not supported."});
            if (!parts.reconciler.lacp()->choose(port->index))
                return failed("port " + (*path)[1] + " has no LACP partner");
            return done();
        }
        if (!item(request.path))
            return with(Refusal{.code = "PathDoesNotExist", .message = "Item path does not exist."});
        return with(Refusal{.code = "OpNotSupp", .message = "Operation not supported."});
    }

    MakeReply operator()(const control::PortChannelClearStats& /*request*/) const {
        return clear_statistics(std::nullopt);
    }

    MakeReply operator()(const control::PortChannelMemberClearStats& request) const {
        const auto* port = parts.ports.find(request.port);
        return port == nullptr ? no_such_device() : clear_statistics(port->index);
    }

    MakeReply operator()(const control::ConfigReload& request) const {
        return with(answer_reload(
            request, context().log, [&] { return plan_reload(parts, request.text, request.file); },
            [&](Reload reload) { return apply_reload(parts, std::move(reload), request.file); }));
    }

    /// Without this port.
    std::size_t others_that_carry(const TeamPort& port) const {
        const auto& decision = parts.reconciler.decision();
        const auto& standby = decision.standby;
        return static_cast<std::size_t>(std::ranges::count_if(parts.ports.all(), [&](const TeamPort& other) {
            const bool can = std::ranges::count(decision.transmit, other.index) != 0 ||
                             std::ranges::count(standby, other.index) != 0;
            return can && other.index != port.index && !parts.ports.is_drained(other);
        }));
    }

    /// Why the port cannot be drained; without an error it can.
    Result<> may_drain(const TeamPort& port, bool forced) const {
        TEAMO_TRY(parts.ports.can_drain());
        const auto& datapath = *context().datapath;
        const bool chosen = datapath.is_bond() && context().is_activebackup();
        if (chosen && !context().chooses_active() && parts.reconciler.decision().active == port.index)
            return fail(EOPNOTSUPP,
                        fmt::format("bonding chooses the active slave; make another one active: ip link set "
                                    "{} type bond active_slave SLAVE",
                                    context().name()));
        const auto others = others_that_carry(port);
        if (forced || others == 0)
            return forced ? Result<>() : fail(EBUSY, "no other port carries; --force drains it nevertheless");
        if (const auto least = context().min_ports(); others < least)
            return fail(EBUSY,
                        fmt::format("only {} would be left, and runner.min_ports is {}; --force drains it "
                                    "nevertheless",
                                    others, least));
        return {};
    }

    MakeReply operator()(const control::DrainPort& request) const {
        const auto* port = parts.ports.find(request.port);
        if (port == nullptr) return no_such_device();
        const auto may = may_drain(*port, request.forced);
        if (may) parts.ports.drain(*port, request.forced);
        return done_or_refused(may, "PortDrainFail", "Failed to drain port");
    }

    MakeReply operator()(const control::UndrainPort& request) const {
        const auto* port = parts.ports.find(request.port);
        if (port == nullptr) return no_such_device();
        parts.ports.undrain(*port);
        return done();
    }

    MakeReply operator()(const control::BalanceMove& request) const {
        const auto* port = parts.ports.find(request.port);
        if (port == nullptr) return no_such_device();
        const bool now = request.time == control::MoveTime::now;
        return done_or_refused(parts.subsystems.balancing->move(request.bucket, port->slot, now),
                               "BalanceMoveFail", "Failed to move bucket");
    }

    MakeReply operator()(const control::BalanceFreeze& request) const {
        parts.subsystems.balancing->freeze(request.frozen);
        return done();
    }

    MakeReply operator()(const control::InterruptsPlan& /*request*/) const {
        return with(json::write(control::interrupt_document(parts.subsystems.interrupts->dry_run())));
    }

    MakeReply operator()(const control::InterruptsManage& request) const {
        parts.subsystems.interrupts->manage(request.managed);
        return done();
    }

    MakeReply operator()(const control::WorkersBind& request) const {
        return done_or_refused(parts.subsystems.workers->bind(request.process, request.policy), "WorkersFail",
                               "Failed to bind a worker");
    }

    MakeReply operator()(const control::WorkersRelease& request) const {
        return done_or_refused(parts.subsystems.workers->release(request.process), "WorkersFail",
                               "Failed to release a worker");
    }

    MakeReply operator()(const control::HandOver& /*request*/) const {
        return refused("OpNotSupp", "Not handed over", "this process runs no other team");
    }

    MakeReply operator()(const control::WorkersManage& request) const {
        parts.subsystems.workers->manage(request.managed);
        return done();
    }

    MakeReply operator()(const control::OffloadTry& request) const {
        const auto* port = parts.ports.find(request.port);
        if (port == nullptr) return no_such_device();
        return done_or_refused(
            parts.subsystems.offloads->request_trial(port->index, port->name, request.state),
            "OffloadTryFail", "Failed to try an offload");
    }
};

} // namespace

MakeReply begin_request(TeamParts& parts, const control::Request& request) {
    return std::visit(Begin{parts}, request);
}

} // namespace teamo
