// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/options.h"

#include <getopt.h>

#include <array>

namespace teamo::ctl {
namespace {

// Above all character codes: these options have no letter.
constexpr int json_option = 256, measure_option = 257;

constexpr std::array long_options{
    option{"help", no_argument, nullptr, 'h'},
    option{"verbose", no_argument, nullptr, 'v'},
    option{"oneline", no_argument, nullptr, 'o'},
    option{"force-dbus", no_argument, nullptr, 'D'},
    option{"force-zmq", required_argument, nullptr, 'Z'},
    option{"force-usock", no_argument, nullptr, 'U'},
    option{"json", no_argument, nullptr, json_option},
    option{"dry-run", no_argument, nullptr, 'n'},
    option{"measure", required_argument, nullptr, measure_option},
    option{nullptr, 0, nullptr, 0},
};

/// getopt_long() reports a refused letter in optopt, but not a refused long option.
std::string refused_option(char** argv) {
    const bool is_letter = optopt > 0 && optopt < json_option;
    return is_letter ? fmt::format("-{}", static_cast<char>(optopt)) : std::string(argv[optind - 1]);
}

} // namespace

Result<Options> read_options(int argc, char** argv) {
    Options options;
    opterr = 0; // our caller prints the error, in one line
    for (int letter = 0; (letter = getopt_long(argc, argv, "hvoDZ:Un", long_options.data(), nullptr)) >= 0;) {
        switch (letter) {
        case 'h': options.help = true; return options; // as teamdctl: the rest is ignored
        case 'v': ++options.verbosity; break;
        case 'o': options.oneline = true; break;
        case 'D': options.dbus = true; break;
        case 'Z': options.zmq = true; break;
        case 'U': options.usock = true; break;
        case json_option: options.json = true; break;
        case 'n': options.dry_run = true; break;
        case measure_option: options.measure = optarg; break;
        default:
            return fail(EINVAL, fmt::format("unknown or incomplete option \"{}\".", refused_option(argv)));
        }
    }
    if (options.usock + options.dbus + options.zmq > 1)
        return fail(EINVAL, "Only one interface could be forced at a time (UNIX domain socket, D-Bus, ZMQ).");
    options.words.assign(argv + optind, argv + argc);
    return options;
}

std::string help_on_options(std::string_view program) {
    return fmt::format("{} [options] teamdevname command [command args]\n"
                       "    -h --help                Show this help\n"
                       "    -v --verbose             Increase output verbosity\n"
                       "    -o --oneline             Force output to one line if possible\n"
                       "    -D --force-dbus          Force to use D-Bus interface\n"
                       "    -Z --force-zmq=ADDRESS   Force to use ZeroMQ interface [-Z[Address]]\n"
                       "    -U --force-usock         Force to use UNIX domain socket interface\n"
                       "       --json                Print JSON (commands that teamdctl has not, and -n)\n"
                       "    -n --dry-run             Show the effect, change nothing (port remove)\n"
                       "       --measure=PORTDEV     Measure this port with and without TSO (doctor)\n",
                       program);
}

} // namespace teamo::ctl
