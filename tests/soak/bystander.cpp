// SPDX-License-Identifier: LGPL-2.1-or-later
#include "soak/bystander.h"

#include "soak/state.h"
#include "support/daemon/configs.h"
#include "support/net/links.h"

namespace teamo::soak {

using namespace test;

Bystander::Bystander(const Cabling& wires)
    : host_(wires.host()),
      team_(team_config(by_flow, ports_object({"by1", "by2"}), "", "team1"), TeamUnderTest::later, "team1") {
    for (const auto* port : {"by1", "by2"})
        host_.ip(
            fmt::format("link add {0} type veth peer name far-{0} netns {1}", port, wires.peer().path()));
    wires.peer().ip("link set far-by1 up\nlink set far-by2 up");
    team_.start();
    host_.ip("link set team1 up");
    for (const auto* port : {"by1", "by2"})
        if (const auto up = team_.await_link(port); !up) throw SetupError(up.message());
    inner_ = look(host_, "teamo-inner-team1").name;
    for (const auto& device : {std::string("team1"), inner_, std::string("by1"), std::string("by2")})
        await_operation(host_, device);
    before_ = text();
}

std::string Bystander::wrong() const {
    if (!team_.answers()) return "the other team's daemon does not answer"; // the answer takes a pass
    const auto difference = test::difference(before_, text());
    return difference.empty() ? "" : "the other team has changed:\n" + difference;
}

std::string Bystander::text() const {
    return must(host_,
                fmt::format("ip -d -o link | grep -e team1 -e by1 -e by2; for device in by1 by2 {0}; do "
                            "tc filter show dev $device ingress; done",
                            inner_)) +
           content_of(journal_file);
}

void Bystander::stop() {
    if (const auto status = team_.stop(); status != 0)
        throw SetupError(
            fmt::format("SIGTERM: the exit status of the other team is {}", status.value_or(-1)));
}

} // namespace teamo::soak
