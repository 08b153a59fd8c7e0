// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/cpus/irqbalance_ban.h"

#include "base/cpu_list.h"
#include "kernel/files/files.h"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

namespace teamo {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto lock_retry = 50ms; // another team holds the lock
constexpr auto first_retry = 20ms, last_retry = 10'000ms;
// Failures in a row before a complaint (irqbalance's start or end causes some): 80 ms; 5 s if they may pass.
constexpr unsigned max_failures = 3, max_passing_failures = 8;

BannedIrqs both(const BannedIrqs& one, const BannedIrqs& other) {
    BannedIrqs common;
    std::ranges::set_intersection(one, other, std::inserter(common, common.end()));
    return common;
}

/// What our teams have banned, without what was banned before.
BannedIrqs ours(const BansAsked& asked) {
    BannedIrqs all;
    for (const auto& [team, irqs] : asked.teams)
        all.insert(irqs.begin(), irqs.end());
    for (const auto irq : asked.found)
        all.erase(irq);
    return all;
}

} // namespace

Result<std::unique_ptr<IrqBalance>> IrqBalance::make(sd_event* loop, const Log& log, std::string team,
                                                     IrqBalancePlaces places) {
    std::unique_ptr<IrqBalance> ban(new IrqBalance(loop, log, std::move(team), std::move(places)));
    ban->timer_ = TEAMO_TRY(Timer::make(
        loop, [self = ban.get()] { return self->exchange_ ? self->step_exchange() : self->begin_round(); }));
    ban->watch();
    return ban;
}

/// There may be no free inotify watch (fs.inotify.*). Then irqbalance is only polled; the team starts anyway.
void IrqBalance::watch() {
    const fs::path folder(places_.sockets);
    auto above =
        Inotify::make(loop_, folder.parent_path(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR,
                      [this, name = folder.filename().native()](std::uint32_t, std::string_view made) {
                          if (made == name) watch_sockets();
                      });
    if (above)
        above_ = std::move(*above);
    else
        log_(Level::warning,
             fmt::format("a start of irqbalance is detected up to {} s late: {}",
                         std::chrono::ceil<std::chrono::seconds>(places_.poll_unreported).count(),
                         above.error().text));
    watch_sockets();
}

void IrqBalance::watch_sockets() {
    // A watch ends with its folder, so each new folder needs a new watch.
    auto folder = Inotify::make(loop_, places_.sockets, IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR,
                                [this](std::uint32_t events, std::string_view) {
                                    if ((events & IN_IGNORED) != 0) return;
                                    failures_ = 0;
                                    begin_round();
                                });
    folder_.reset();
    if (folder) folder_ = std::move(*folder);
    failures_ = 0;
    begin_round();
}

void IrqBalance::keep_out(BannedIrqs irqs) {
    if (begun_ && irqs == wanted_) return;
    begun_ = true;
    wanted_ = std::move(irqs);
    failures_ = 0;
    begin_round();
}

void IrqBalance::release(std::function<void()> done) {
    released_ = std::move(done);
    begun_ = false; // a round also if nothing is banned
    keep_out({});
}

// ---- a round: read the ban list, write it if it must change, read it again ---------------------

void IrqBalance::begin_round() {
    if (!begun_) return;
    again_ = stage_ != Stage::idle;
    if (again_) return;
    requested_ = wanted_;
    sockets_ = find_irqbalance(places_.sockets);
    if (sockets_.empty()) return absent();
    if (::mkdir(places_.record.c_str(), 0750) < 0 && errno != EEXIST)
        return failed(fail_errno(errno, places_.record).value());
    auto locked = LockFile::try_take(record_path() + ".lock");
    if (!locked) return failed(locked.error());
    if (!*locked) return timer_->after(lock_retry);
    lock_.emplace(std::move(**locked));
    try_next_socket();
}

void IrqBalance::try_next_socket() {
    if (sockets_.empty()) return failed({ECONNREFUSED, "no process listens on irqbalance's socket"});
    socket_ = sockets_.front();
    sockets_.erase(sockets_.begin());
    stage_ = Stage::reading;
    ask("setup");
}

void IrqBalance::ask(const std::string& request) {
    auto exchange =
        IrqBalanceExchange::start(socket_.path, request, Clock::now() + places_.patience + interval_);
    if (!exchange) {
        const auto number = exchange.error().number;
        // The socket of a killed irqbalance whose PID was reused, or of one that does not listen yet.
        if (stage_ == Stage::reading && (number == ECONNREFUSED || number == ENOENT))
            return try_next_socket();
        return failed(exchange.error());
    }
    exchange_ = std::move(*exchange);
    auto io = Io::make(loop_, exchange_->fd(), EPOLLIN, Priority::client,
                       [this](std::uint32_t) { step_exchange(); });
    if (!io) return failed(io.error());
    io_ = std::move(*io);
    timer_->at(exchange_->deadline());
}

void IrqBalance::step_exchange() {
    const auto progress = exchange_->step(Clock::now());
    if (!progress) return failed(progress.error());
    if (*progress == IrqBalanceExchange::Progress::again) return;
    const auto reply = exchange_->reply();
    io_.reset();
    exchange_.reset();
    timer_->stop();
    if (stage_ == Stage::writing) {
        stage_ = Stage::verifying;
        return ask("setup");
    }
    const auto setup = parse_irqbalance_setup(reply);
    if (!setup) return failed(setup.error());
    interval_ = std::chrono::seconds(std::min(setup->seconds, 3600U));
    if (stage_ == Stage::reading) return read_list(*setup);
    written_.list = setup->banned;
    finish(*setup);
}

void IrqBalance::read_list(const IrqBalanceSetup& setup) {
    const auto text = read_file(record_path());
    if (!text && text.error().number != ENOENT)
        return failed(text.error()); // without it no ban is known as ours
    auto asked = parse_bans_asked(text.value_or(""));
    const bool by_this = asked && asked->pid == socket_.pid; // a new irqbalance has none of our bans
    record_ = by_this ? std::move(*asked) : BansAsked{socket_.pid, setup.banned, {}};
    const auto bans = bans_wanted(setup.banned, record_, team_, requested_);
    if (bans == setup.banned) return finish(setup);
    record_.teams[team_].insert(requested_.begin(), requested_.end());
    const auto request = ban_request(bans, ours(record_));
    if (!request) return failed(request.error());
    // Each request makes irqbalance scan the whole machine: do not fight a program that removes our bans.
    if (written_ == Written{socket_.pid, *request, setup.banned}) return finish(setup);
    // Before the list, so that a daemon after a crash knows which bans are ours.
    if (auto kept = write_record(); !kept) return failed(kept.error());
    written_ = {socket_.pid, *request, {}};
    stage_ = Stage::writing;
    ask(*request);
}

void IrqBalance::finish(const IrqBalanceSetup& setup) {
    record_.teams[team_] = requested_;
    if (requested_.empty()) record_.teams.erase(team_);
    if (auto kept = write_record(); !kept) return failed(kept.error());
    failures_ = 0;
    Status status{true, socket_.pid, requested_, both(requested_, setup.banned), ""};
    banned_cpus_ = setup.banned_cpus;
    if (status.honoured != status.asked)
        status.complaint = fmt::format("irqbalance has banned only {} of {} interrupts",
                                       status.honoured.size(), status.asked.size());
    end_round(std::move(status), places_.poll_unreported, true);
}

void IrqBalance::absent() {
    Status status{.asked = requested_};
    // Only if there is something to ask for, and if it lasts: irqbalance may just be starting or ending.
    const auto process =
        requested_.empty() ? std::nullopt : find_irqbalance_process(places_.proc, places_.cgroups);
    const auto now = Clock::now();
    if (process != without_socket_) without_socket_since_ = now;
    if (process && now - without_socket_since_ >= places_.poll_unreported / 2) {
        status.present = true;
        status.pid = *process;
        status.complaint =
            "irqbalance runs without a socket and cannot be asked to leave our interrupts alone";
    }
    without_socket_ = process;
    written_ = {};
    end_round(std::move(status), places_.poll_unreported, true);
}

void IrqBalance::failed(const Error& error) {
    ++failures_;
    const bool may_pass = error.number == EAGAIN || error.number == ECONNREFUSED || error.number == ENOENT;
    const auto limit = may_pass ? max_passing_failures : max_failures;
    const bool final = failures_ >= limit || error.number == ETIMEDOUT;
    auto status = status_;
    status.asked = requested_;
    status.honoured = status.pid == socket_.pid ? both(requested_, status.honoured) : BannedIrqs();
    if (final && error.number == ECONNREFUSED) {
        status = {.asked = requested_};
    } else if (final) {
        status.present = true;
        status.pid = socket_.pid;
        status.complaint =
            fmt::format("irqbalance cannot be asked to leave our interrupts alone: {}", error.text);
    }
    const auto delay = std::min<Clock::duration>(
        {first_retry * (1U << std::min(failures_ - 1, 16U)), last_retry, places_.poll_unreported});
    end_round(std::move(status), delay, final);
}

void IrqBalance::end_round(Status status, Clock::duration next_round, bool final) {
    io_.reset();
    exchange_.reset();
    lock_.reset();
    stage_ = Stage::idle;
    timer_->after(std::chrono::ceil<std::chrono::microseconds>(next_round));
    const bool again = std::exchange(again_, false);
    if (!status.complaint.empty() && status.complaint != status_.complaint)
        log_(Level::warning, status.complaint);
    if (status_.present && !status.present) log_(Level::info, "irqbalance has stopped");
    const bool fresh = status.pid != status_.pid || status.honoured != status_.honoured;
    if (status.complaint.empty() && !status.honoured.empty() && status.honoured == status.asked && fresh)
        log_(Level::info, fmt::format("irqbalance (process {}) leaves interrupts {} alone", status.pid,
                                      text_of(CpuList(status.honoured.begin(), status.honoured.end()))));
    status_ = std::move(status);
    if (again) return timer_->after(0us);
    if (!final || !released_) return;
    const auto done = std::exchange(released_, {});
    done(); // may destroy this object
}

bool IrqBalance::has_asked(const std::string& team, const IrqBalancePlaces& places) {
    const auto asked = parse_bans_asked(read_file(record_in(places)).value_or(""));
    return asked && asked->teams.contains(team);
}

Result<> IrqBalance::write_record() const {
    const auto text = text_of(record_);
    return read_file(record_path()).value_or("") == text ? Result<>() : replace_file(record_path(), text);
}

} // namespace teamo
