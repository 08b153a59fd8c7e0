// SPDX-License-Identifier: LGPL-2.1-or-later
//
// AllowedCPUs= against a systemd of our own at the other end of a socket pair.
#include "workers/unit_cpus.h"

#include "base/handle.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>

#include <atomic>
#include <thread>

namespace teamo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CpuBytes, have_bit_0_of_byte_0_for_cpu_0) {
    EXPECT_THAT(cpu_bytes({0, 3, 8, 15}), ElementsAre(0x09, 0x81));
    EXPECT_THAT(cpu_bytes({}), IsEmpty());
    for (const auto& cpus : {CpuList{}, CpuList{0}, CpuList{7, 8, 8191}})
        EXPECT_EQ(cpus_of_bytes(cpu_bytes(cpus)), cpus);
    EXPECT_THAT(cpus_of_bytes(std::vector<std::uint8_t>(100'000, 0)), IsEmpty());
    EXPECT_EQ(cpus_of_bytes(std::vector<std::uint8_t>(100'000, 0xff)).size(), 8192U);
}

/// Knows one unit, and does as systemd does with it.
struct Manager {
    std::string unit;
    int runtime = -1;
    std::vector<std::uint8_t> cpus;
};

int set_properties(sd_bus_message* call, void* data, sd_bus_error* error) {
    auto& manager = *static_cast<Manager*>(data);
    const char *unit = nullptr, *name = nullptr;
    int runtime = 0;
    sd_bus_message_read(call, "sb", &unit, &runtime);
    if (manager.unit != unit)
        return sd_bus_error_setf(error, "org.freedesktop.systemd1.NoSuchUnit", "Unit %s not loaded.", unit);
    manager.runtime = runtime;
    sd_bus_message_enter_container(call, 'a', "(sv)");
    while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
        sd_bus_message_read(call, "s", &name);
        sd_bus_message_enter_container(call, 'v', "ay");
        const void* bytes = nullptr;
        std::size_t size = 0;
        sd_bus_message_read_array(call, 'y', &bytes, &size);
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        if (std::string_view(name) == "AllowedCPUs") manager.cpus.assign(first, first + size);
        sd_bus_message_exit_container(call);
        sd_bus_message_exit_container(call);
    }
    sd_bus_message_exit_container(call);
    return sd_bus_reply_method_return(call, "");
}

int get_cpus(sd_bus* /*bus*/, const char* /*path*/, const char* /*interface*/, const char* /*property*/,
             sd_bus_message* reply, void* data, sd_bus_error* /*error*/) {
    const auto& manager = *static_cast<Manager*>(data);
    return sd_bus_message_append_array(reply, 'y', manager.cpus.data(), manager.cpus.size());
}

const sd_bus_vtable manager_table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("SetUnitProperties", "sba(sv)", "", set_properties, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END};
const sd_bus_vtable unit_table[] = {SD_BUS_VTABLE_START(0),
                                    SD_BUS_PROPERTY("AllowedCPUs", "ay", get_cpus, 0, 0), SD_BUS_VTABLE_END};

class UnitsOnTheBus : public testing::Test {
protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
        server_ = std::jthread([this, end = ends[0]](const std::stop_token& stop) { serve(end, stop); });
        sd_bus* bus = nullptr;
        ASSERT_EQ(0, sd_bus_new(&bus));
        ASSERT_EQ(0, sd_bus_set_fd(bus, ends[1], ends[1]));
        ASSERT_EQ(0, sd_bus_start(bus));
        units_.emplace(bus);
    }

    void serve(int end, const std::stop_token& stop) {
        sd_bus* made = nullptr;
        sd_bus_new(&made);
        const Handle<sd_bus, sd_bus_close_unref> bus(made);
        sd_id128_t id{};
        sd_id128_randomize(&id);
        sd_bus_set_fd(made, end, end);
        sd_bus_set_server(made, 1, id);
        sd_bus_set_anonymous(made, 1);
        sd_bus_add_object_vtable(made, nullptr, "/org/freedesktop/systemd1",
                                 "org.freedesktop.systemd1.Manager", manager_table, &manager_);
        sd_bus_add_object_vtable(made, nullptr, "/org/freedesktop/systemd1/unit/w_401_2eservice",
                                 "org.freedesktop.systemd1.Service", unit_table, &manager_);
        sd_bus_start(made);
        constexpr std::uint64_t patience = 10'000; // microseconds
        while (!stop.stop_requested())
            if (sd_bus_process(made, nullptr) == 0) sd_bus_wait(made, patience);
    }

    Manager manager_{.unit = "w@1.service", .cpus = {}};
    std::jthread server_;
    std::optional<UnitCpus> units_;
};

TEST_F(UnitsOnTheBus, are_given_cpus_until_they_start_anew_and_asked_what_they_have) {
    EXPECT_THAT(units_->read("w@1.service").value(), IsEmpty());
    ASSERT_TRUE(units_->set("w@1.service", {1, 9}));
    EXPECT_EQ(manager_.runtime, 1);
    EXPECT_EQ(units_->read("w@1.service").value(), (CpuList{1, 9}));
    ASSERT_TRUE(units_->set("w@1.service", {}));
    EXPECT_THAT(units_->read("w@1.service").value(), IsEmpty());
}

TEST_F(UnitsOnTheBus, that_there_are_not_are_refused_with_systemds_words) {
    const auto set = units_->set("nobody.service", {1});
    ASSERT_FALSE(set);
    EXPECT_THAT(set.error().text, HasSubstr("nobody.service: Unit nobody.service not loaded."));
    EXPECT_FALSE(units_->read("nobody.service"));
}

} // namespace
} // namespace teamo
