#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# outside.sh [--renew] BUILD PART…: what users and programs rely on is what the files beside this script say: PART is
# commands, statuses, metrics, messages, keys, packages or dbus. BUILD is a build folder; packages looks into BUILD/packages,
# keys and dbus are tests that compare themselves. --renew writes the files; without PART all of them.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
source=$here/../..
renew=
if [ "${1:-}" = --renew ]; then renew=1 && shift; fi
build=$(readlink -f "$1")
bin=$build/bin
shift

# The options in a help text with their values, but without types, ranges and descriptions, which begin after two blanks.
options() {
    awk '/^ +-/ {
        sub(/^ +/, "")
        sub(/ (Excludes|Needs):.*|  .*/, "")
        sub(/:(INT|UINT|FLOAT|TEXT)( in \[.*\])?/, "")
        print "    " $0 }'
}
commands() {
    local command
    echo teamd-offload
    "$bin/teamd-offload" --help | options
    echo teamoctl
    "$bin/teamoctl" --help | sed '/^Commands/q' | options
    "$bin/teamoctl" --help | sed '1,/^Commands/d; /^    [a-z]/!d; s/^ *//; s/  .*//; s/ [^a-z].*//' | sort -u | while read -r command; do
        # shellcheck disable=SC2086 # words
        "$bin/teamoctl" help $command | sed -n "s|^usage: $bin/|    |p"
    done | sort -u
    for command in '' serve report table compare; do
        echo "teamo-bench${command:+ $command}"
        # shellcheck disable=SC2086 # no word is none
        "$bin/teamo-bench" $command --help | options
    done
}

# status WORDS…: runs the program and prints the words and how it ended.
status() {
    local program=$1 code=0
    shift
    "$bin/$program" "$@" >/dev/null 2>&1 </dev/null || code=$?
    echo "$code  $program $*"
}
statuses() {
    cd /
    status teamd-offload --version
    status teamd-offload --check -c '{"device": "none0"}'
    status teamd-offload --check -c '{"device": 1}'
    status teamd-offload --check -c '{'
    status teamd-offload --check -f /nonexistent
    status teamd-offload -e -t none0
    status teamd-offload -k -t none0
    status teamd-offload --nonsense
    status teamoctl --version
    status teamoctl help state
    status teamoctl none0 state
    status teamoctl none0 nonsense
    status teamoctl none0 port add
    status teamoctl --nonsense
    status teamoctl
    status teamo-bench --version
    status teamo-bench report /nonexistent
    status teamo-bench --nonsense
}

metrics() { sed -nE 's/.*\{"([a-z_]+)", "(gauge|counter)".*/teamd_offload_\1 \2/p' "$source/lib/control/metrics_text.cpp" | sort; }

messages() {
    local name id
    sed -nE 's/^inline constexpr std::string_view ([a-z_]+) = "([0-9a-f]{32})";/\1 \2/p' "$source/teamd-offload/daemon/context/log.h" |
        while read -r name id; do
            grep -q "^-- $id$" "$source/packaging/catalog/teamd-offload.catalog" || echo "not in the catalog:"
            echo "$id $name"
        done
}

packages() {
    local package
    for package in teamd-offload teamd-offload-bench teamd-offload-compat; do
        echo "$package"
        dpkg-deb -c "$build/packages/${package}"_*.deb | awk '$1 !~ /^d/ && !/\/usr\/share\/(doc|lintian)\// { sub(/^.*[0-9] \.\//, "/"); print "    " $0 }' | sort
    done
}

test_of() { TEAMO_RENEW=$renew "$bin/$1" --gtest_brief=1 --gtest_filter="$2"; }
wrong=0
for part in ${*:-keys commands statuses metrics messages packages dbus}; do
    case $part in
        keys) test_of config_test ConfigKeys.are_those_of_the_snapshot || wrong=1 ;;
        dbus) test_of netns_test Dbus.has_the_interfaces_of_the_snapshot || wrong=1 ;;
        *)
            if [ -n "$renew" ]; then
                "$part" >"$build/outside.$part"
                mv "$build/outside.$part" "$here/$part"
            elif ! diff -u --label "tests/outside/$part" --label "this tree" "$here/$part" <("$part"); then
                wrong=1
            fi
            ;;
    esac
done
[ $wrong -eq 0 ] || echo "outside.sh: users rely on these. If it must change: tests/outside/outside.sh --renew BUILD" >&2
exit $wrong
