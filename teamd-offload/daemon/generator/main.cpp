// SPDX-License-Identifier: LGPL-2.1-or-later
//
// teamd-offload-generator NORMAL EARLY LATE: run by systemd at boot and by `systemctl daemon-reload`
// (systemd.generator(7)). What goes to stderr is in the kernel's log.
#include "daemon/generator/unit_rights.h"

#include "runtime/journal.h"

#include <sys/stat.h>

#include <cstdio>

int main(int argc, char** argv) {
    constexpr int folders = 3;
    if (argc != folders + 1) {
        std::fputs("teamd-offload-generator is run by systemd (systemd.generator(7))\n", stderr);
        return EXIT_FAILURE;
    }
    ::umask(022);
    const auto errors = teamo::generate_drop_ins("/etc/teamd-offload", teamo::journal_directory, argv[1]);
    for (const auto& error : errors)
        std::fputs(fmt::format("teamd-offload-generator: {}\n", error.text).c_str(), stderr);
    return errors.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
