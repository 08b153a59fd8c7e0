// SPDX-License-Identifier: LGPL-2.1-or-later
#include "announcer.h"

namespace teamo {

Result<std::unique_ptr<Announcer>> Announcer::make(sd_event* loop, const Log& log,
                                                   std::function<const Links&()> links) {
    auto socket = PacketSocket::open();
    if (!socket) return tl::unexpected(socket.error());
    std::unique_ptr<Announcer> announcer(new Announcer(std::move(*socket), log, std::move(links)));
    for (auto* round : {&announcer->peers_, &announcer->groups_}) {
        auto timer = Timer::make(loop, [raw = announcer.get(), round] { raw->next(*round); });
        if (!timer) return tl::unexpected(timer.error());
        round->timer.emplace(std::move(*timer));
    }
    return announcer;
}

void Announcer::announce(IfIndex team, Repetition peers, Repetition groups) {
    peers_.team = groups_.team = team;
    peers_.left = peers;
    groups_.left = groups;
    next(peers_);
    next(groups_);
}

void Announcer::next(Round& round) {
    if (round.left.count == 0) return round.timer->stop();
    send(round.team, round.what);
    if (--round.left.count > 0) round.timer->after(round.left.interval);
}

void Announcer::send(IfIndex /*team*/, What /*what*/) {}

} // namespace teamo
