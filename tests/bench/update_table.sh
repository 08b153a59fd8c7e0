#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/bench/update_table.sh: puts the table of tests/bench/results/*.json into docs/performance.md, and that of the
# host into README.md. A unit test compares them. New results:
# build/bin/teamo-bench --self=8 --json --oneline > tests/bench/results/MACHINE.json
set -euo pipefail
export LC_ALL=C # the order of the files is that of the test
cd "$(dirname "$0")/../.."
table=$(mktemp)
trap 'rm -f "$table"' EXIT

# put DOCUMENT RESULTS…: replaces what is between the two marks.
put() {
    local document=$1
    shift
    build/bin/teamo-bench table "$@" >"$table"
    sed -i -e "/^<!-- table -->\$/,/^<!-- end -->\$/{/^<!-- table -->\$/r $table
/^<!-- /!d}" "$document"
}
put docs/performance.md tests/bench/results/*.json
put README.md tests/bench/results/host.json
