// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Asks irqbalance(1) to leave the ports' interrupts alone: again at once when it has restarted or another
// program has replaced its ban list. Never blocks. A ban within 10 s of irqbalance's start is early enough:
// it serves its socket one interval before it first moves interrupts (irqbalance.c: main, scan).
#pragma once

#include "base/clock.h"
#include "daemon/context/log.h"
#include "daemon/context/loop.h"
#include "kernel/files/files.h"
#include "kernel/interrupts/irqbalance.h"
#include "runtime/shared_files.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace teamo {

struct IrqBalancePlaces {
    std::string sockets = irqbalance_directory;             ///< exists while irqbalance's service runs
    std::string record = "/run/teamd-offload";              ///< the bans of all teams on this machine
    std::string proc = "/proc", cgroups = "/sys/fs/cgroup"; ///< to find an irqbalance without a socket
    std::chrono::seconds patience{15};                      ///< for an answer, in addition to its interval
    std::chrono::milliseconds poll_unreported = std::chrono::minutes{1}; ///< interval of polls
};

class IrqBalance {
public:
    struct Status {
        bool present = false; ///< irqbalance runs
        pid_t pid = 0;
        BannedIrqs asked{};      ///< the interrupts that it was asked to leave alone
        BannedIrqs honoured{};   ///< of these, those in its ban list
        std::string complaint{}; ///< why it cannot be asked, or what it has not banned
        bool operator==(const Status&) const = default;
    };

    static Result<std::unique_ptr<IrqBalance>> make(sd_event* loop, const Log& log, std::string team,
                                                    IrqBalancePlaces places = {});

    /// True if a daemon of this team has asked for bans that nobody has withdrawn.
    static bool has_asked(const std::string& team, const IrqBalancePlaces& places = {});

    /// Bans these and no others from now on; does nothing if they are the same.
    void keep_out(BannedIrqs irqs);

    /// Removes this team's bans; calls `done` when they are removed, or cannot be. A daemon that stops should
    /// not wait long: an interrupt that stays banned just keeps its affinity until irqbalance restarts.
    void release(std::function<void()> done);

    const Status& status() const { return status_; }
    /// Those that irqbalance gives no interrupts, by its last answer: they stay while it starts again.
    const CpuList& banned_cpus() const { return banned_cpus_; }

private:
    IrqBalance(sd_event* loop, const Log& log, std::string team, IrqBalancePlaces places)
        : loop_(loop), log_(log), team_(std::move(team)), places_(std::move(places)) {}

    enum class Stage : std::uint8_t { idle, reading, writing, verifying };

    void watch();
    void watch_sockets();
    void begin_round();
    void try_next_socket();
    void ask(const std::string& request);
    void step_exchange();
    void read_list(const IrqBalanceSetup& setup);
    void finish(const IrqBalanceSetup& setup);
    void absent();
    void failed(const Error& error);
    void end_round(Status status, Clock::duration next_round, bool final);
    static std::string record_in(const IrqBalancePlaces& places) {
        return places.record + "/irqbalance-bans";
    }
    std::string record_path() const { return record_in(places_); }
    Result<> write_record() const;

    sd_event* loop_;
    const Log& log_;
    std::string team_;
    IrqBalancePlaces places_;

    std::optional<Inotify> folder_, above_; ///< the folder of the sockets, and its parent
    std::optional<Timer> timer_;            ///< the next round, or an answer's deadline
    std::optional<LockFile> lock_;          ///< against other teams, for a whole round
    std::optional<IrqBalanceExchange> exchange_;
    std::optional<Io> io_; // after exchange_, whose descriptor it watches

    bool begun_ = false;            ///< keep_out() or release() was called
    BannedIrqs wanted_, requested_; ///< now, and in the current round
    Stage stage_ = Stage::idle;
    bool again_ = false; ///< something changed during the round
    unsigned failures_ = 0;
    std::vector<IrqBalanceSocket> sockets_; ///< not tried yet
    IrqBalanceSocket socket_;
    std::chrono::seconds interval_{0}; ///< of irqbalance, as it reports
    std::optional<pid_t> without_socket_;
    Clock::time_point without_socket_since_;
    BansAsked record_;

    /// The last request, and the ban list after it: the same request is not repeated for the same list.
    struct Written {
        pid_t pid = 0;
        std::string request;
        BannedIrqs list;
        bool operator==(const Written&) const = default;
    };
    Written written_;

    Status status_;
    CpuList banned_cpus_;
    std::function<void()> released_;
};

} // namespace teamo
