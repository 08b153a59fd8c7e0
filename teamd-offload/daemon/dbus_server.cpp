// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/dbus_server.h"

#include <algorithm>
#include <array>

namespace teamo {
namespace {

using namespace std::chrono_literals;

constexpr const char* our_interface = "org.teamd_offload.Team1";
constexpr auto retry_interval = 2s;
/// After a refused name: another process or the bus's policy has to change first.
constexpr auto refused_interval = 60s;

bool is_refusal(int error) {
    constexpr std::array refusals{EINVAL, EEXIST, EACCES, EPERM};
    return std::ranges::count(refusals, error) > 0;
}

/// errno of the bus's answer to RequestName; 0: we have the name.
int error_of_name(sd_bus_message* answer) {
    constexpr std::uint32_t exists = 3; // D-Bus specification, RequestName
    if (sd_bus_message_is_method_error(answer, nullptr) > 0) return sd_bus_message_get_errno(answer);
    std::uint32_t code = 0;
    if (const int read = sd_bus_message_read(answer, "u", &code); read < 0) return -read;
    return code == exists ? EEXIST : 0;
}

int get_text(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/, const char* property,
             sd_bus_message* reply, void* server, sd_bus_error* /*error*/) {
    const auto& facts = static_cast<DbusServer*>(server)->facts();
    const std::string_view name(property);
    const auto& text = name == "Runner" ? facts.runner : name == "Datapath" ? facts.datapath : facts.active;
    return sd_bus_message_append(reply, "s", text.c_str());
}

int get_list(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/, const char* property,
             sd_bus_message* reply, void* server, sd_bus_error* /*error*/) {
    const auto& facts = static_cast<DbusServer*>(server)->facts();
    std::vector<char*> list;
    for (const auto& port : std::string_view(property) == "Ports" ? facts.ports : facts.carrying)
        list.push_back(const_cast<char*>(port.c_str())); // it is only read
    list.push_back(nullptr);
    return sd_bus_message_append_strv(reply, list.data());
}

// Everybody may read these: ip(8) shows the same.
const std::array our_table{
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_PROPERTY("Runner", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Datapath", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("ActivePort", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Ports", "as", get_list, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("CarryingPorts", "as", get_list, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("PortCarries", "s", SD_BUS_PARAM(port), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("PortLost", "s", SD_BUS_PARAM(port), 0),
    sd_bus_vtable SD_BUS_SIGNAL_WITH_NAMES("ActivePortChanged", "s", SD_BUS_PARAM(port), 0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};

DbusServer::Facts facts_of(const TeamStatus& summary) {
    DbusServer::Facts facts{.runner = name_of(summary.runner),
                            .datapath = summary.datapath,
                            .active = summary.active_port.value_or(""),
                            .ports = {},
                            .carrying = {}};
    for (const auto& port : summary.ports) {
        facts.ports.push_back(port.name);
        if (port.transmits) facts.carrying.push_back(port.name);
    }
    return facts;
}

bool has(const std::vector<std::string>& ports, const std::string& port) {
    return std::ranges::find(ports, port) != ports.end();
}

} // namespace

/// sd-bus refuses callers that are not root.
const std::vector<sd_bus_vtable>& DbusServer::teamd_table() {
    static const auto methods = control::methods();
    static const auto table = [] {
        constexpr std::string_view strings = "ssssss";
        std::vector<sd_bus_vtable> made{SD_BUS_VTABLE_START(0)};
        for (const auto& method : methods)
            made.push_back(SD_BUS_METHOD(method.name.c_str(),
                                         strings.substr(strings.size() - method.arguments).data(),
                                         method.has_result ? "s" : "", &DbusServer::call,
                                         method.is_internal ? std::uint64_t{SD_BUS_VTABLE_HIDDEN} : 0));
        made.push_back(SD_BUS_VTABLE_END);
        return made;
    }();
    return table;
}

Result<std::unique_ptr<DbusServer>> DbusServer::open(sd_event* loop, const std::string& device,
                                                     const Log& log, Answer answer) {
    std::unique_ptr<DbusServer> server(new DbusServer(loop, device, log, std::move(answer)));
    server->retry_ = TEAMO_TRY(Timer::make(loop, [raw = server.get()] { raw->reconnect(); }));
    if (const auto connected = server->connect(/*waits=*/true); !connected) {
        if (is_refusal(connected.error().number)) return tl::unexpected(connected.error());
        // The team does not need the bus.
        log(Level::warning, fmt::format("option -D: {}; trying again", connected.error().text));
        server->retry_->after(retry_interval);
    }
    return server;
}

DbusServer::~DbusServer() {
    if (bus_) sd_bus_detach_event(bus_.get());
}

Result<> DbusServer::connect(bool waits) {
    bus_ = TEAMO_TRY(waits ? open_system_bus() : begin_system_bus());
    auto* bus = bus_.get();
    const auto name = TEAMO_TRY(within("option -D", teamd_name(device_)));
    for (const int step :
         {sd_bus_add_object_vtable(bus, nullptr, teamd_path, teamd_interface, teamd_table().data(), this),
          sd_bus_add_object_vtable(bus, nullptr, teamd_path, our_interface, our_table.data(), this),
          sd_bus_match_signal(bus, nullptr, nullptr, "/org/freedesktop/DBus/Local",
                              "org.freedesktop.DBus.Local", "Disconnected", &DbusServer::lost, this),
          sd_bus_attach_event(bus, loop_, static_cast<int>(Priority::client)),
          waits ? sd_bus_request_name(bus, name.c_str(), 0)
                : sd_bus_request_name_async(bus, nullptr, name.c_str(), 0, &DbusServer::named, this)})
        if (step < 0) {
            sd_bus_detach_event(bus);
            return fail_errno(-step, fmt::format("D-Bus name {}", name));
        }
    return {};
}

/// The bus is only replaced when none of its functions runs.
int DbusServer::lost(sd_bus_message* /*message*/, void* server, sd_bus_error* /*error*/) {
    auto& self = *static_cast<DbusServer*>(server);
    self.log_(Level::warning, "the D-Bus connection is lost; connecting again");
    self.retry_->after(retry_interval);
    return 0;
}

/// Without it sd-bus would close the connection of a refused name, and nobody would know why.
int DbusServer::named(sd_bus_message* answer, void* server, sd_bus_error* /*error*/) {
    auto& self = *static_cast<DbusServer*>(server);
    const int error = error_of_name(answer);
    if (error == 0) {
        self.name_failure_.clear();
        self.log_(Level::info, "connected to D-Bus again");
        return 0;
    }
    self.name_failure_(
        self.log_, Level::warning, "option -D: ",
        fmt::format("D-Bus name {}.{}: {}; trying again", teamd_interface, self.device_, errno_text(error)));
    self.retry_->after(is_refusal(error) ? refused_interval : retry_interval);
    return 0;
}

void DbusServer::reconnect() {
    if (bus_) sd_bus_detach_event(bus_.get());
    if (!connect(/*waits=*/false)) retry_->after(retry_interval);
}

int DbusServer::call(sd_bus_message* message, void* server, sd_bus_error* error) {
    std::vector<std::string> arguments;
    while (sd_bus_message_at_end(message, 0) == 0) {
        const char* argument = nullptr;
        if (const int read = sd_bus_message_read(message, "s", &argument); read < 0) return read;
        arguments.emplace_back(argument);
    }
    const auto request = control::make_request(sd_bus_message_get_member(message), std::move(arguments));
    const auto* refused = std::get_if<control::Refusal>(&request);
    const auto reply = refused != nullptr
                           ? control::Reply{*refused}
                           : static_cast<DbusServer*>(server)->answer_(std::get<control::Request>(request));
    if (const auto* refusal = std::get_if<control::Refusal>(&reply))
        // teamd has no dot between the two (teamd_dbus.c).
        return sd_bus_error_set(error, fmt::format("{}{}", teamd_interface, refusal->code).c_str(),
                                refusal->message.c_str());
    const bool has_result = control::parts_of(std::get<control::Request>(request)).first.has_result;
    return has_result ? sd_bus_reply_method_return(message, "s", std::get<std::string>(reply).c_str())
                      : sd_bus_reply_method_return(message, "");
}

void DbusServer::follow(const TeamStatus& summary) {
    const auto before = std::exchange(facts_, facts_of(summary));
    if (before == facts_ || !bus_) return;
    const auto signal = [this](const char* name, const std::string& port) {
        sd_bus_emit_signal(bus_.get(), teamd_path, our_interface, name, "s", port.c_str());
    };
    for (const auto& port : before.carrying)
        if (!has(facts_.carrying, port)) signal("PortLost", port);
    for (const auto& port : facts_.carrying)
        if (!has(before.carrying, port)) signal("PortCarries", port);
    if (before.active != facts_.active) signal("ActivePortChanged", facts_.active);
    const auto changed = [this](const char* property, bool differs) {
        if (differs) sd_bus_emit_properties_changed(bus_.get(), teamd_path, our_interface, property, nullptr);
    };
    changed("Runner", before.runner != facts_.runner);
    changed("Datapath", before.datapath != facts_.datapath);
    changed("ActivePort", before.active != facts_.active);
    changed("Ports", before.ports != facts_.ports);
    changed("CarryingPorts", before.carrying != facts_.carrying);
}

} // namespace teamo
