// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/main_loop.h"

#include "daemon/team_run.h"

#include <systemd/sd-daemon.h>

#include <csignal>

namespace teamo {

Result<MainLoop> MainLoop::make(const Log& log, std::function<void()> reload) {
    constexpr std::array ending{SIGTERM, SIGINT, SIGQUIT};
    sigset_t mask;
    sigemptyset(&mask);
    for (const int number : ending)
        sigaddset(&mask, number);
    sigaddset(&mask, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    ::signal(SIGPIPE, SIG_IGN);

    MainLoop main(TEAMO_TRY(make_loop()));
    for (const int number : ending)
        main.signals_.push_back(TEAMO_TRY(Signal::make(main.get(), number, [&log, number, loop = main.get()] {
            log(Level::info, fmt::format("signal {}, stopping", number));
            sd_event_exit(loop, ended_well);
        })));
    main.signals_.push_back(TEAMO_TRY(Signal::make(main.get(), SIGHUP, [reload = std::move(reload)] {
        sd_notify(0, "RELOADING=1");
        reload();
    })));
    return main;
}

void MainLoop::report_ready() { sd_notify(0, "READY=1"); }

int MainLoop::run() {
    sd_event_set_watchdog(loop_.get(), 1);
    const int status = sd_event_loop(loop_.get());
    sd_notify(0, "STOPPING=1");
    return status < 0 ? lost_team : status;
}

} // namespace teamo
