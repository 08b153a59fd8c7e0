// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The programs on the kernel's carrier functions, on kernels that support tracing (fentry).
//
// lab: CarrierTracing.* in -k 6.1 -p 2, 5 s
#include "datapath/carrier_watch.h"

#include "support/eventually.h"
#include "support/net/net_ns.h"

#include <gmock/gmock.h>

#include <poll.h>

namespace teamo::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CarrierTracing : public testing::Test {
protected:
    /// In `here_` device 51 is watched and 52 is not. `there_` has devices with the same indexes, and a
    /// device 53: that index is watched, but does not exist in `here_`.
    void SetUp() override {
        here_.ip(fmt::format("link add dev port index 51 type veth peer name wire index 51 netns {0}\n"
                             "link add dev other index 52 type veth peer name cord index 52 netns {0}\n"
                             "link set port up\nlink set other up",
                             there_.path()));
        there_.ip(
            "link set wire up\nlink set cord up\n"
            "link add dev far index 53 type veth peer name end index 54\nlink set far up\nlink set end up");
        auto opened = here_.inside([] { return CarrierWatch::open(); });
        if (!opened) GTEST_SKIP() << "this kernel refuses fentry: " << opened.error().text;
        watch_.emplace(std::move(*opened));
        ASSERT_TRUE(watch_->watch({IfIndex{51}, IfIndex{53}}));
    }

    /// The changes reported within that time.
    CarrierWatch::Changes changes_within(milliseconds timeout = 1s) {
        pollfd ready{.fd = watch_->fd(), .events = POLLIN, .revents = 0};
        ::poll(&ready, 1, static_cast<int>(timeout.count()));
        return watch_->receive();
    }

    NetNs here_ = NetNs::create(), there_ = NetNs::create();
    std::optional<CarrierWatch> watch_;
};

TEST_F(CarrierTracing, reports_loss_and_return) {
    there_.ip("link set wire down");
    EXPECT_THAT(changes_within().lost, ElementsAre(IfIndex{51}));
    there_.ip("link set wire up");
    const auto changes = changes_within();
    EXPECT_THAT(changes.back, ElementsAre(IfIndex{51}));
    EXPECT_THAT(changes.lost, IsEmpty());
}

TEST_F(CarrierTracing, reports_flap_as_loss) {
    there_.ip("link set wire down\nlink set wire up");
    const auto changes = changes_within();
    EXPECT_THAT(changes.lost, ElementsAre(IfIndex{51}));
    EXPECT_THAT(changes.back, IsEmpty());
}

TEST_F(CarrierTracing, ignores_other_devices_and_namespaces) {
    there_.ip("link set cord down\nlink set far down\nlink set end down");
    const auto changes = changes_within(100ms);
    EXPECT_THAT(changes.lost, IsEmpty());
    EXPECT_THAT(changes.back, IsEmpty());
    there_.ip("link set wire down");
    EXPECT_THAT(changes_within().lost, ElementsAre(IfIndex{51}));
}

TEST_F(CarrierTracing, follows_change_of_watched_devices) {
    ASSERT_TRUE(watch_->watch({IfIndex{52}}));
    there_.ip("link set wire down\nlink set cord down");
    EXPECT_THAT(changes_within().lost, ElementsAre(IfIndex{52}));
}

} // namespace
} // namespace teamo::test
