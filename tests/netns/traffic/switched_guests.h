// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A host with guests behind a bridge on its team, and one or two switches that know nothing of the team: they
// learn and flood. Counts each frame everywhere it arrives.
#pragma once

#include "netns/configs.h"
#include "support/traffic/frames.h"
#include "support/traffic/packet_socket.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace teamo::test {

class SwitchedGuests {
public:
    static constexpr unsigned guests = 50;

    /// Two ports to each of two switches, which are cabled to each other, or two ports to one.
    explicit SwitchedGuests(unsigned switches)
        : ports_(switches == 2 ? 4 : 2),
          host_(NetNs::current()),
          switches_(NetNs::create()),
          x_(NetNs::create()),
          y_(NetNs::create()),
          guests_(NetNs::create()) {
        for (unsigned number = 1; number <= switches; ++number)
            switches_.ip(fmt::format("link add dev sw{0} type bridge forward_delay 0 stp_state 0 "
                                     "mcast_snooping 0\nlink set sw{0} up",
                                     number));
        for (unsigned number = 1; number <= ports_; ++number) {
            host_.ip(fmt::format("link add dev {0} index {1} type veth peer name {2} index {3} netns {4}\n"
                                 "link set {0} up\nlink set {0} down",
                                 port(number), 1'000'000 + number, far_end(number), 1'000'050 + number,
                                 switches_.path()));
            switches_.ip(fmt::format("link set {} master sw{} up", far_end(number), number <= 2 ? 1 : 2));
        }
        if (switches == 2)
            switches_.ip("link add isl1 type veth peer name isl2\nlink set isl1 master sw1 up\n"
                         "link set isl2 master sw2 up");
        add_station(x_, "x", 1);
        add_station(y_, "y", switches);
    }
    SwitchedGuests(const SwitchedGuests&) = delete;
    SwitchedGuests& operator=(const SwitchedGuests&) = delete;
    ~SwitchedGuests() { stop(); }

    /// Puts the guests behind a bridge on the team, and begins to count.
    void begin(const TeamUnderTest& team, std::string_view device = "team0") {
        for (unsigned number = 1; number <= ports_; ++number)
            if (const auto up = team.await_link(port(number)); !up) throw SetupError(up.message());
        begin_on(device);
        if (!eventually("every guest is reached", [this] { return reached(1) == guests; }))
            throw SetupError("the guests are not reached");
    }
    /// The same on another device, by which they may not be reached.
    void begin_on(std::string_view device) {
        host_.ip(fmt::format("link add dev vmbr type bridge forward_delay 0 stp_state 0 mcast_snooping 0\n"
                             "link add guestbr type veth peer name guest0 netns {}\n"
                             "link set guestbr master vmbr up\nlink set {} master vmbr up\n"
                             "link set vmbr up",
                             guests_.path(), device));
        guests_.ip("link set guest0 up");
        for (const auto& [in, name] : {std::pair{&host_, device},
                                       {&host_, std::string_view("guestbr")},
                                       {&guests_, std::string_view("guest0")}})
            await_operation(*in, name);
        for (auto& end : ends_) {
            end.socket.emplace(*end.in, end.device, ether_experiment);
            end.socket->be_promiscuous();
            end.reader = std::thread([this, &end] {
                while (!done_)
                    if (const auto frame = end.socket->receive(20ms)) take(end, *frame);
            });
        }
    }

    static std::string port(unsigned number) { return "eth" + std::to_string(number); }
    static std::string far_end(unsigned number) { return "p" + std::to_string(number); }
    unsigned ports() const { return ports_; }
    void pull(unsigned number) const { switches_.ip(fmt::format("link set {} down", far_end(number))); }
    void plug(unsigned number) const { switches_.ip(fmt::format("link set {} up", far_end(number))); }
    static MacAddress guest(unsigned number) { return first_guest + number; }

    /// Sends requests to the guests in the background, this many a second, and to the guest n a part that
    /// falls with 1/n; each is answered. Beside them broadcasts of both sides, and frames to addresses that
    /// nobody has, whose place no switch knows.
    void start_traffic(unsigned rate) {
        sender_ = std::thread([this, rate] {
            std::array<double, guests> due{};
            auto next = SteadyClock::now();
            for (unsigned count = 0; !quiet_;
                 ++count, next += std::chrono::nanoseconds(1'000'000'000 / rate)) {
                std::this_thread::sleep_until(next);
                for (unsigned number = 0; number < guests; ++number)
                    due[number] += 1.0 / (number + 1);
                const auto most = std::ranges::max_element(due);
                *most -= harmonic;
                send(x(), guest(static_cast<unsigned>(most - due.begin())), Kind::request);
                if (count % 50 == 0) send(x(), broadcast_mac, Kind::to_all);
                if (count % 50 == 10) send(y(), nobody, Kind::to_nobody);
                if (count % 50 == 20) send(from_guest(count / 50 % guests), broadcast_mac, Kind::by_guest);
                if (count % 50 == 30) send(from_guest(count / 50 % guests), nobody, Kind::by_guest);
                if (count % 50 == 40) send(from_guest(count / 50 % guests), group, Kind::by_guest);
            }
        });
    }
    void stop_traffic() {
        quiet_ = true;
        if (sender_.joinable()) sender_.join();
        quiet_ = false;
    }

    /// For start_traffic(): as much as a guest of the lab can do.
    static unsigned some() { return emulated() ? 300 : 1'000; }

    /// How many guests answer this many requests each, of the same number.
    unsigned reached(unsigned times, milliseconds patience = 1s) {
        std::map<std::uint64_t, unsigned> asked;
        for (unsigned time = 0; time < times; ++time)
            for (unsigned number = 0; number < guests; ++number) {
                asked.emplace(send(x(), guest(number), Kind::request), number);
                if (number % 4 == 3) std::this_thread::sleep_for(1ms);
            }
        std::array<unsigned, guests> answers{};
        static_cast<void>(eventually(
            "",
            [&] {
                return std::ranges::all_of(asked, [&](const auto& one) { return is_answered(one.first); });
            },
            patience));
        for (const auto& [number, of] : asked)
            answers.at(of) += is_answered(number) ? 1 : 0;
        return static_cast<unsigned>(std::ranges::count(answers, times));
    }

    struct Tally {
        std::uint64_t sent = 0, lost = 0; ///< frames, and places that one of them has not reached
        std::uint64_t twice = 0;          ///< arrived at a place again
        std::uint64_t back = 0;           ///< from a guest, and came back to the guests
        std::uint64_t late = 0;           ///< requests and answers that overtook another one of the same way
    };
    /// Of all frames that were sent from one of these numbers on. Without traffic when all have arrived, or
    /// none has for a second.
    Tally tally(std::uint64_t from = 0) {
        if (!sender_.joinable())
            static_cast<void>(eventually("", [&] { return tally_now(from).lost == 0 || nothing_comes(); }));
        std::this_thread::sleep_for(100ms); // what comes twice may still be on its way
        return tally_now(from);
    }
    std::uint64_t sent() {
        const std::lock_guard lock(mutex_);
        return frames_.size();
    }

private:
    enum class Kind : std::uint8_t { request, answer, to_all, to_nobody, by_guest };
    struct End {
        const NetNs* in;
        std::string device;
        std::optional<PacketSocket> socket{};
        std::thread reader{};
    };
    enum Place : std::size_t { at_guests, at_x, at_y };
    struct Frame {
        Kind kind{};
        std::array<std::uint8_t, 3> arrived{};
        bool answered = false;
    };
    struct Sender {
        Place place;
        MacAddress address;
    };
    static constexpr MacAddress first_guest{{0x02, 0x10, 0, 0, 0, 1}}, x_mac{{0x02, 0x20, 0, 0, 0, 1}},
        y_mac{{0x02, 0x20, 0, 0, 0, 2}}, nobody{{0x02, 0x30, 0, 0, 0, 1}}, group{{0x33, 0x33, 0, 0, 0, 99}};
    static constexpr std::size_t frame_size = 600, number_at = 20;
    static constexpr double harmonic = 4.499205338329425; ///< of the first 50 numbers

    Tally tally_now(std::uint64_t from) {
        const std::lock_guard lock(mutex_);
        Tally sum{.sent = frames_.size() - from, .late = late_};
        for (auto number = from; number < frames_.size(); ++number) {
            const auto& frame = frames_[number];
            for (std::size_t place = 0; place < ends_.size(); ++place) {
                const auto count = frame.arrived[place];
                if (is_by_guest(frame.kind) && place == at_guests) {
                    sum.back += count;
                    continue;
                }
                if (count > 1) sum.twice += count - 1;
                if (count == 0 && must_arrive(frame, place)) ++sum.lost;
            }
        }
        return sum;
    }
    bool nothing_comes() {
        const std::lock_guard lock(mutex_);
        return since(last_arrival_) > 1s;
    }

    static Sender x() { return {at_x, x_mac}; }
    static Sender y() { return {at_y, y_mac}; }
    static Sender from_guest(unsigned number) { return {at_guests, guest(number)}; }
    static bool is_by_guest(Kind kind) { return kind == Kind::answer || kind == Kind::by_guest; }
    static bool must_arrive(const Frame& frame, std::size_t place) {
        switch (frame.kind) {
        case Kind::request: return place == at_guests;
        case Kind::answer: return place == at_x;
        case Kind::to_all: return place != at_x;
        case Kind::to_nobody: return place != at_y;
        case Kind::by_guest: return true;
        }
        return false;
    }

    void add_station(const NetNs& station, std::string_view name, unsigned at) const {
        switches_.ip(fmt::format("link add to{0} type veth peer name {0}0 netns {1}\n"
                                 "link set to{0} master sw{2} up",
                                 name, station.path(), at));
        station.ip(fmt::format("link set {}0 up", name));
        await_operation(station, std::string(name) + "0");
    }

    std::uint64_t send(const Sender& from, const MacAddress& to, Kind kind, std::uint64_t of = 0) {
        std::uint64_t number = 0;
        {
            const std::lock_guard lock(mutex_);
            number = frames_.size();
            frames_.push_back({.kind = kind});
        }
        std::array<char, frame_size> payload{};
        std::memcpy(payload.data() + number_at, &number, sizeof number);
        std::memcpy(payload.data() + number_at + sizeof number, &of, sizeof of);
        ends_.at(from.place)
            .socket->send(ethernet(to, from.address, ether_experiment, {payload.data(), payload.size()}));
        return number;
    }

    void take(End& end, const Seen& seen) {
        if (seen.outgoing) return;
        const auto words = from_offset(seen.frame, 14 + number_at);
        std::uint64_t number = 0, of = 0;
        if (words.size() < sizeof number + sizeof of) return;
        std::memcpy(&number, words.data(), sizeof number);
        std::memcpy(&of, words.data() + sizeof number, sizeof of);
        const auto place = static_cast<std::size_t>(&end - ends_.data());
        Kind kind{};
        {
            const std::lock_guard lock(mutex_);
            last_arrival_ = SteadyClock::now();
            auto& frame = frames_.at(number);
            kind = frame.kind;
            ++frame.arrived.at(place);
            if (kind == Kind::request && place == at_guests)
                note_order(requests_[destination_of(seen.frame)], number);
            if (kind == Kind::answer && place == at_x) {
                frames_.at(of).answered = true;
                note_order(answers_[source_of(seen.frame)], number);
            }
        }
        if (kind == Kind::request && place == at_guests)
            send({at_guests, destination_of(seen.frame)}, source_of(seen.frame), Kind::answer, number);
    }

    void note_order(std::uint64_t& last, std::uint64_t number) {
        if (number < last) ++late_;
        last = std::max(last, number);
    }

    bool is_answered(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        return frames_.at(number).answered;
    }

    void stop() {
        stop_traffic();
        done_ = true;
        for (auto& end : ends_)
            if (end.reader.joinable()) end.reader.join();
    }

    unsigned ports_;
    NetNs host_, switches_, x_, y_, guests_;
    std::array<End, 3> ends_{End{&guests_, "guest0"}, End{&x_, "x0"}, End{&y_, "y0"}};
    std::atomic<bool> done_ = false, quiet_ = false;
    std::thread sender_;
    std::mutex mutex_; ///< of what follows
    std::vector<Frame> frames_;
    std::map<MacAddress, std::uint64_t> requests_, answers_;
    std::uint64_t late_ = 0;
    SteadyClock::time_point last_arrival_;
};

inline std::string text_of(const SwitchedGuests::Tally& tally) {
    return fmt::format("{} frames, {} lost, {} twice, {} back, {} late", tally.sent, tally.lost, tally.twice,
                       tally.back, tally.late);
}

/// The fullest port's part of the bytes since `before`, as a multiple of the mean, each way.
struct Fullest {
    double sent = 0, received = 0;
};
class PortBytes {
public:
    PortBytes(const TeamUnderTest& team, unsigned ports) {
        for (unsigned number = 1; number <= ports; ++number)
            for (const bool sent : {true, false})
                (sent ? sent_ : received_)
                    .push_back(
                        std::stod(team.item(fmt::format("ports.{}.datapath.counters.{}_bytes",
                                                        SwitchedGuests::port(number), sent ? "tx" : "rx"))));
    }
    Fullest since(const PortBytes& before) const {
        return {fullest(sent_, before.sent_), fullest(received_, before.received_)};
    }

private:
    static double fullest(const std::vector<double>& now, const std::vector<double>& before) {
        double sum = 0, most = 0;
        for (std::size_t port = 0; port < now.size(); ++port) {
            sum += now[port] - before[port];
            most = std::max(most, now[port] - before[port]);
        }
        return most * static_cast<double>(now.size()) / sum;
    }
    std::vector<double> sent_, received_;
};

} // namespace teamo::test
