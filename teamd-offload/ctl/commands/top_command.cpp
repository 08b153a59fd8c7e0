// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a team does now: `stats live`, and `top`, also of all teams, which uses plain ANSI sequences, as every
// terminal of the last forty years understands them.
#include "ctl/commands.h"
#include "ctl/report/top.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>

namespace teamo::ctl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_events = 200;
constexpr const char *enter_screen = "\x1b[?1049h\x1b[?25l", *leave_screen = "\x1b[?25h\x1b[?1049l";
constexpr const char *home = "\x1b[H", *clear_line = "\x1b[K", *clear_below = "\x1b[J";

volatile std::sig_atomic_t ended = 0; // by a signal

Result<Reading> read_team_and_cpus(Session& session) {
    auto state = TEAMO_TRY(session.state());
    return Reading{.state = std::move(state),
                   .cpus = read_cpus().value_or(CpuReading{}),
                   .at = std::chrono::steady_clock::now()};
}

std::string time_of_day() {
    const auto now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

/// Keys come one by one and are not shown, until it is destroyed.
class Terminal {
public:
    Terminal() {
        ::tcgetattr(STDIN_FILENO, &before_);
        auto raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
        put(enter_screen);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal() {
        put(leave_screen);
        std::fflush(stdout);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }

    static void measure(TopView& view) {
        winsize size{};
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return;
        view.columns = size.ws_col;
        view.rows = size.ws_row;
    }

    /// Draws over the last screen, so that nothing flickers.
    static void draw(std::string_view text) {
        std::string screen(home);
        for (const char letter : text) {
            if (letter == '\n') screen += std::string(clear_line) + "\r";
            screen += letter;
        }
        put(screen + clear_line + clear_below);
        std::fflush(stdout);
    }

    /// 0: none until then.
    static char key(std::chrono::steady_clock::time_point until) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
        char letter = 0;
        if (left.count() <= 0 || ::poll(&input, 1, static_cast<int>(left.count())) <= 0) return 0;
        if (::read(STDIN_FILENO, &letter, 1) != 1) ended = 1; // the terminal is gone
        return letter;
    }

private:
    termios before_{};
};

constexpr std::string_view keys_line = "q quit  t by sent  r by received  p by port  w workers  e events";

/// False: quit.
bool take_key(char key, TopView& view) {
    switch (key) {
    case 'q':
    case 3: return false; // Ctrl-C, if the terminal does not make a signal of it
    case 't': view.order = TopOrder::sent; break;
    case 'r': view.order = TopOrder::received; break;
    case 'p': view.order = TopOrder::configured; break;
    case 'w': view.workers = !view.workers; break;
    case 'e': view.events = !view.events; break;
    default: break;
    }
    return true;
}

/// Shows what `text` makes of the last two readings.
template <class Read, class Text>
CommandResult show_live(const Read& read, const Text& text, std::string_view keys, TopView view) {
    struct sigaction end{};
    end.sa_handler = [](int) { ended = 1; };
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        ::sigaction(number, &end, nullptr);
    auto earlier = TEAMO_TRY(read());
    auto later = earlier;
    const Terminal terminal;
    auto next = std::chrono::steady_clock::now() + 1s;
    while (ended == 0) {
        Terminal::measure(view);
        auto screen = view;
        screen.rows -= std::min<std::size_t>(screen.rows, 1);
        auto lines = text(earlier, later, screen);
        if (!lines.ends_with('\n')) lines += '\n';
        Terminal::draw(lines + std::string(keys.substr(0, view.columns)));
        if (const auto key = Terminal::key(next); key != 0) {
            if (!take_key(key, view)) break;
            continue;
        }
        if (ended != 0) break;
        auto now = TEAMO_TRY(read());
        earlier = std::exchange(later, std::move(now));
        next = std::max(next + 1s, std::chrono::steady_clock::now());
    }
    return {};
}

/// A second apart.
template <class One>
struct TwoReadings {
    One earlier, later;
};

template <class Read, class One = typename std::invoke_result_t<Read>::value_type>
Result<TwoReadings<One>> read_twice(Waits& waits, const Read& read) {
    const auto waiting = waits.usual("measures for a second", 1s);
    const auto start = std::chrono::steady_clock::now();
    auto earlier = TEAMO_TRY(read());
    std::this_thread::sleep_until(start + 1s);
    auto later = TEAMO_TRY(read());
    return TwoReadings<One>{std::move(earlier), std::move(later)};
}

template <class Read, class Text>
CommandResult show(const Options& options, const Read& read, const Text& text,
                   std::string_view keys = keys_line, TopView view = {}) {
    if (!options.once && ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1)
        return show_live(read, text, keys, view);
    const auto readings = TEAMO_TRY(read_twice(*options.waits, read));
    view.columns = view.rows = 1000;
    put(text(readings.earlier, readings.later, view));
    return {};
}

Result<TeamReadings> read_all_teams(const Options& options) {
    TeamReadings teams;
    auto answers = TEAMO_TRY(ask_all_teams(options, read_team_and_cpus));
    for (auto& [team, reading] : answers.of_teams)
        teams[team] = reading ? std::optional(std::move(*reading)) : std::nullopt;
    return teams;
}

} // namespace

CommandResult stats_live(Session& session, Arguments) {
    const auto readings =
        TEAMO_TRY(read_twice(session.waits(), [&session] { return read_team_and_cpus(session); }));
    const auto& earlier = readings.earlier;
    const auto figures = live_figures(earlier, readings.later);
    session.print(live_json(earlier.state.name, figures), live_text(earlier.state.name, figures));
    return {};
}

CommandResult top_show(Session& session, Arguments) {
    std::optional<TeamState> former;
    std::deque<std::string> events;
    const auto read = [&]() -> Result<Reading> {
        auto now = TEAMO_TRY(read_team_and_cpus(session));
        for (const auto& event : top_events(former ? *former : now.state, now.state))
            events.push_front(time_of_day() + "  " + event);
        if (events.size() > most_events) events.resize(most_events);
        former = now.state;
        return now;
    };
    return show(session.options(), read,
                [&events](const Reading& earlier, const Reading& later, const TopView& view) {
                    return top_text(earlier, later, events, view);
                });
}

CommandResult top_of_all_teams(const Options& options, Arguments) {
    return show(options, [&options] { return read_all_teams(options); }, top_text_of_teams,
                "q quit  t by sent  r by received  p by name", {.order = TopOrder::sent});
}

} // namespace teamo::ctl
