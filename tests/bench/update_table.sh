#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/bench/update_table.sh: puts the table of tests/bench/results/*.json into docs/performance.md. A unit test
# compares both. New results: build/bin/teamoctl bench --self 8 --json > tests/bench/results/MACHINE.json
set -euo pipefail
export LC_ALL=C # the order of the files is that of the test
cd "$(dirname "$0")/../.."
table=$(mktemp)
trap 'rm -f "$table"' EXIT
build/bin/teamoctl bench table tests/bench/results/*.json >"$table"
# Replaces what is between the two marks.
sed -i -e "/^<!-- table -->\$/,/^<!-- end -->\$/{/^<!-- table -->\$/r $table
/^<!-- /!d}" docs/performance.md
