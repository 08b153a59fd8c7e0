// SPDX-License-Identifier: LGPL-2.1-or-later
#include "support/net/socket_address.h"
#include "support/traffic/traffic.h"

#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace teamo::test {

std::string text_of(const Tally& tally) {
    return fmt::format("{} sent, {} lost, {} twice, {} out of order, longest silence {:.1f} ms", tally.sent,
                       tally.lost, tally.duplicated, tally.reordered,
                       static_cast<double>(tally.silence.count()) / 1000);
}

Stream::Stream(const Way& way)
    : rate_(way.rate),
      size_(std::max(way.size, sizeof(std::uint64_t))),
      per_skb_(way.per_skb),
      burst_(way.burst),
      pause_(way.pause) {
    connect(way);
    last_arrival_ = SteadyClock::now();
    receiving_ = std::jthread([this](const std::stop_token& stop) { receive_all(stop); });
    await_first();
    sending_ = std::jthread([this](const std::stop_token& stop) { send_all(stop); });
}

Stream::~Stream() { stop(); }

void Stream::connect(const Way& way) {
    const SocketAddress target(way.address, way.port);
    sender_ = socket_in(*way.from, target.family(), SOCK_DGRAM);
    receiver_ = socket_in(*way.to, target.family(), SOCK_DGRAM);
    constexpr int large = 32 << 20;
    ::setsockopt(receiver_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof large);
    ::setsockopt(sender_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &large, sizeof large);
    if (::bind(receiver_.get(), target.get(), target.size) < 0)
        throw SetupError(fmt::format("bind {}: {}", way.address, std::strerror(errno)));
    if (::connect(sender_.get(), target.get(), target.size) < 0)
        throw SetupError(fmt::format("connect {}: {}", way.address, std::strerror(errno)));
    if (per_skb_ == 1) return;
    const int segment = static_cast<int>(size_), on = 1;
    if (::setsockopt(sender_.get(), SOL_UDP, UDP_SEGMENT, &segment, sizeof segment) < 0 ||
        ::setsockopt(receiver_.get(), SOL_UDP, UDP_GRO, &on, sizeof on) < 0)
        throw SetupError(fmt::format("UDP GSO: {}", std::strerror(errno)));
}

/// Packets before the stream's start have a special number. Several may be on the way when the first arrives:
/// they waited together for the neighbour entry.
void Stream::await_first() {
    const std::vector<std::byte> probe(size_, std::byte{0xff});
    const auto arrived = [&] {
        (void)::send(sender_.get(), probe.data(), probe.size(), 0);
        ++probes_;
        std::this_thread::sleep_for(5ms);
        const std::lock_guard lock(mutex_);
        return first_came_;
    };
    if (!eventually("", arrived)) throw SetupError("no packet arrives");
}

namespace {

void add(timespec& time, std::int64_t nanoseconds) {
    const auto sum = time.tv_nsec + nanoseconds;
    time.tv_sec += sum / 1'000'000'000;
    time.tv_nsec = sum % 1'000'000'000;
}

} // namespace

void Stream::send_all(const std::stop_token& stop) {
    std::vector<std::byte> skb(size_ * per_skb_);
    timespec deadline{};
    ::clock_gettime(CLOCK_MONOTONIC, &deadline);
    const std::int64_t step = 1'000'000'000L * per_skb_ / rate_;
    const auto in_a_burst = static_cast<std::uint64_t>(burst_.count()) * rate_ / 1'000;
    while (!stop.stop_requested()) {
        add(deadline, step);
        if (in_a_burst > 0 && next_ % in_a_burst == 0) add(deadline, pause_.count() * 1'000'000);
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
        for (std::size_t segment = 0; segment < per_skb_; ++segment) {
            const std::uint64_t number = next_ + segment;
            std::memcpy(skb.data() + segment * size_, &number, sizeof number);
        }
        // A refused packet counts as lost.
        (void)::send(sender_.get(), skb.data(), skb.size(), MSG_DONTWAIT);
        next_ += per_skb_;
    }
}

void Stream::receive_all(const std::stop_token& stop) {
    std::vector<std::byte> skb(std::size_t{1} << 16);
    while (!stop.stop_requested()) {
        pollfd arrival{.fd = receiver_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&arrival, 1, 10) <= 0) continue;
        for (;;) {
            const auto size = ::recv(receiver_.get(), skb.data(), skb.size(), MSG_DONTWAIT);
            if (size < ssize_t{8}) break;
            for (std::size_t at = 0; at < static_cast<std::size_t>(size); at += size_) {
                std::uint64_t number = 0;
                std::memcpy(&number, skb.data() + at, sizeof number);
                note(number);
            }
        }
    }
}

void Stream::note(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto now = SteadyClock::now();
    const auto gap = std::chrono::duration_cast<std::chrono::microseconds>(now - last_arrival_);
    last_arrival_ = now;
    if (number == ~std::uint64_t{0}) { // of await_first()
        first_came_ = true;
        return;
    }
    if (number >= arrivals_.size()) arrivals_.resize(number + 1);
    auto& arrival = arrivals_[number];
    if (++arrival.times > 1) return;
    arrival.late = number < latest_;
    arrival.gap = gap;
    latest_ = std::max(latest_, number);
}

std::uint64_t Stream::latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
}

bool Stream::flows(std::uint64_t packets, milliseconds patience) const {
    const auto then = next() + packets;
    return static_cast<bool>(eventually("", [&] { return latest() >= then; }, patience));
}

void Stream::stop() {
    if (!sending_.joinable()) return;
    sending_.request_stop();
    sending_.join();
    const auto nothing_comes = [this] {
        const std::lock_guard lock(mutex_);
        return since(last_arrival_) > 1s;
    };
    (void)eventually("", [&] { return tally().lost == 0 || nothing_comes(); });
    receiving_.request_stop();
    receiving_.join();
}

Tally Stream::tally(std::uint64_t first, std::uint64_t end) const {
    const std::lock_guard lock(mutex_);
    Tally tally{.sent = end - first};
    for (auto number = first; number < end; ++number) {
        const auto arrival = number < arrivals_.size() ? arrivals_[number] : Arrival{};
        if (arrival.times == 0)
            ++tally.lost;
        else
            tally.duplicated += arrival.times - 1;
        if (arrival.late) ++tally.reordered;
        if (number > first) tally.silence = std::max(tally.silence, arrival.gap);
    }
    return tally;
}

} // namespace teamo::test
