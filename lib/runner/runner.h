// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A runner decides which ports send and receive. A value: ports and the time in, decision out.
#pragma once

#include "lacp/system.h"
#include "model/config.h"
#include "model/failure_domain.h"
#include "model/status.h"

#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace teamo {

/// A port as a runner sees it.
struct Candidate {
    IfIndex port;
    bool up = false;   ///< by its link watches; lacp: its device has a link
    bool held = false; ///< lacp: other link watches are down, so it must not transmit
    std::int32_t prio = 0;
    bool sticky = false;
    std::uint32_t speed = 0; ///< Mbit/s; 0 is unknown
    Duplex duplex = Duplex::unknown;
    DrainPhase drain =
        DrainPhase::none;      ///< silent: use it only if no other port is up, also none that is `last`
    bool drain_forced = false; ///< then not even so; lacp: others see it as not up
    bool last = false; ///< use it only if no other port is up: it lacks an offload ("lacking": "demote"), or
                       ///< loses packets (link watch "loss")
    Slot slot{};
    std::uint16_t lacp_prio = 255, lacp_key = 0;
    std::uint32_t carrier_losses = 0; ///< of its device
    FailureDomain domain{};           ///< as far as known
    bool operator==(const Candidate&) const = default;
};

/// Why a port became active although an equal one comes before it: that one shares something with the port
/// that was lost.
struct ActiveChoice {
    IfIndex chosen, before, lost;
    DomainPart part = DomainPart::at; ///< that `before` shares with `lost`, and `chosen` does not
    bool operator==(const ActiveChoice&) const = default;
};

struct Decision {
    std::vector<IfIndex> transmit; ///< ports that send packets
    std::vector<IfIndex> receive;  ///< ports whose received packets are delivered
    /// Ports that are up but do not send, in order of preference: the first with a link takes over when no
    /// port of `transmit` has one.
    std::vector<IfIndex> standby{};
    std::optional<IfIndex> active; ///< activebackup
    /// activebackup: of the last change of the active port; none: the order of the ports decided.
    std::optional<ActiveChoice> choice{};
    /// lacp: the ports have no partner. The team has a carrier then with any number of ports (min_ports).
    bool falls_back = false;
    bool operator==(const Decision&) const = default;
};

/// Every port that is up sends; those that are `last` only if no other port is up, and one that is drained
/// only if there is none of these either. Received packets are delivered from every port.
class AllPorts {
public:
    static Decision step(std::span<const Candidate> ports);
};

/// One port is active, the others wait (teamd_runner_activebackup.c). The best port is not drained, then not
/// `last`, then has the highest prio, then is the fastest, then has full duplex. teamd combines these with
/// "or", so that a fast port of low prio wins. Of equal ports the one that shares least with the port that
/// was lost becomes active (docs/adr/0030), so that a switch or a card that fails takes one change and not
/// two.
class ActiveBackup {
public:
    /// `active`: the active port of an earlier daemon; `by_hand`: made active by command then.
    explicit ActiveBackup(std::optional<IfIndex> active = std::nullopt, bool by_hand = false)
        : active_(active), was_by_hand_(by_hand) {}

    Decision step(std::span<const Candidate> ports);

    /// Makes a port active by command. It stays active until the ports change, as with teamd. False: no such
    /// port, or its link is down.
    bool choose(IfIndex port, std::span<const Candidate> ports);
    /// Whether the active port stays because of that command.
    bool is_by_hand() const { return !chosen_among_.empty(); }

private:
    const Candidate* best(std::span<const Candidate> ports, const Candidate* current) const;
    std::optional<ActiveChoice> choice_over(std::span<const Candidate> ports, const Candidate& chosen) const;

    std::optional<IfIndex> active_;
    bool was_by_hand_;     ///< under an earlier daemon, whose ports the first step has
    FailureDomain domain_; ///< of the active port, also when its device is gone
    std::optional<ActiveChoice> choice_;
    std::vector<Candidate> chosen_among_; ///< the ports when one was chosen by command, without domains
};

/// The ports of the chosen aggregator carry as their mux machines say.
class Lacp {
public:
    explicit Lacp(lacp::System system) : system_(std::move(system)) {}

    Decision step(std::span<const Candidate> ports, Clock::time_point now);

    /// Frames go in and out here.
    lacp::System& system() { return system_; }

private:
    void update(std::span<const Candidate> ports, Clock::time_point now);

    lacp::System system_;
    bool others_carry_ = true; ///< ports that are not drained
};

using Runner = std::variant<AllPorts, ActiveBackup, Lacp>;

/// What a runner needs besides its configuration.
struct RunnerStart {
    std::optional<IfIndex> active{};                   ///< as in ActiveBackup
    bool active_by_hand = false;                       ///< as in ActiveBackup
    MacAddress system{};                               ///< lacp: identifies the team
    bool can_only_receive = false;                     ///< lacp: Datapath::can_only_receive()
    std::map<IfIndex, lacp::PortMemory> lacp_memory{}; ///< of an earlier daemon
};
lacp::Settings lacp_settings(const LacpRunner& config, const RunnerStart& start);
Runner make_runner(const RunnerConfig& config, const RunnerStart& start);

Decision step(Runner& runner, std::span<const Candidate> ports, Clock::time_point now);

} // namespace teamo
