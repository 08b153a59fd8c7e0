// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Asks irqbalance(1) to leave the ports' interrupts alone, for as long as they are to be: again at once when
// it is started anew, which has forgotten all, and again when somebody replaces its list. Never waits for it.
// It takes in its socket before it places anything, an interval (10 s) after its start: a ban that comes
// before that is in time (irqbalance.c: main, scan).
#pragma once

#include "base/clock.h"
#include "kernel/interrupts/irqbalance_socket.h"
#include "log.h"
#include "loop.h"
#include "runtime/irqbalance_bans.h"
#include "runtime/lock_file.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace teamo {

class IrqBalance {
public:
    struct Status {
        bool present = false; ///< it runs
        pid_t pid = 0;
        BannedIrqs asked;      ///< what it is to leave alone
        BannedIrqs honoured;   ///< of these, what it said that it does
        std::string complaint; ///< why it cannot be asked, or does not as asked
        bool operator==(const Status&) const = default;
    };
    struct Hooks {
        std::function<void()> changed; ///< status() is another
    };
    struct Places {
        std::string sockets = irqbalance_directory; ///< comes and goes with irqbalance's service
        std::string record = "/run/teamd-offload";  ///< what the teams of this machine have asked
        std::string proc = "/proc";                 ///< where an irqbalance without a socket shows
        std::chrono::seconds patience{15};          ///< for an answer, besides its own interval
        std::chrono::milliseconds poll_unreported = std::chrono::minutes{1}; ///< whether all is as it was
    };

    static Result<std::unique_ptr<IrqBalance>> make(sd_event* loop, const Log& log, std::string team,
                                                    Hooks hooks, Places places);
    static Result<std::unique_ptr<IrqBalance>> make(sd_event* loop, const Log& log, std::string team,
                                                    Hooks hooks) {
        return make(loop, log, std::move(team), std::move(hooks), Places());
    }

    /// From now on these and no others, where they are others than before.
    void keep_out(BannedIrqs irqs);

    /// Takes back what this team asked for; `done` when that is so, or cannot be. Who ends waits for it for a
    /// second or two and no longer: what stays banned stays where it was put, until irqbalance starts anew.
    void release(std::function<void()> done);

    const Status& status() const { return status_; }

private:
    IrqBalance(sd_event* loop, const Log& log, std::string team, Hooks hooks, Places places)
        : loop_(loop),
          log_(log),
          team_(std::move(team)),
          hooks_(std::move(hooks)),
          places_(std::move(places)) {}

    enum class Stage : std::uint8_t { idle, reading, writing, verifying };

    void watch();
    void came_or_went();
    void look();
    void ask_next_socket();
    void ask(const std::string& request);
    void answered();
    void read_list(const IrqBalanceSetup& setup);
    void settle(const IrqBalanceSetup& setup);
    void absent();
    void failed(const Error& error);
    void end_round(Status status, Clock::duration next_look, bool final);
    void say(const Status& status);
    /// False: another team asks just now.
    Result<bool> lock();
    std::string record_path() const { return places_.record + "/irqbalance-bans"; }
    BansAsked read_record(pid_t pid, const BannedIrqs& found) const;
    Result<> write_record() const;

    sd_event* loop_;
    const Log& log_;
    std::string team_;
    Hooks hooks_;
    Places places_;

    std::optional<Inotify> folder_, above_; ///< the folder of the sockets, and where that comes and goes
    std::optional<Timer> timer_;            ///< the next look, or an answer's deadline
    std::optional<LockFile> lock_; ///< against other teams, from the first question to the last answer
    std::optional<IrqBalanceExchange> exchange_;
    std::optional<Io> io_; // after what it watches

    bool begun_ = false;         ///< there has been a keep_out() or a release()
    BannedIrqs wanted_, asking_; ///< from now on, and in this round
    Stage stage_ = Stage::idle;
    bool again_ = false; ///< something changed while a round was under way
    unsigned failures_ = 0;
    std::vector<IrqBalanceSocket> sockets_; ///< still to be tried
    IrqBalanceSocket socket_;
    std::chrono::seconds interval_{0}; ///< of that irqbalance
    std::optional<pid_t> without_socket_;
    Clock::time_point without_socket_since_;
    BansAsked record_;

    /// What was asked last and what the list was then: the same is not asked again for the same list.
    struct Written {
        pid_t pid = 0;
        std::string request;
        BannedIrqs list;
        bool operator==(const Written&) const = default;
    };
    Written written_;

    Status status_;
    std::function<void()> released_;
};

} // namespace teamo
