#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# in_shards.sh NUMBER PROGRAM…: a GoogleTest program as so many processes side by side, each with its share of the
# tests; shows each one's output when it has ended, and fails if one did.
set -euo pipefail
number=$1
shift
folder=$(mktemp -d)
processes=()
for ((shard = 0; shard < number; shard++)); do
    GTEST_TOTAL_SHARDS=$number GTEST_SHARD_INDEX=$shard "$@" >"$folder/$shard" 2>&1 &
    processes+=($!)
done
status=0
for ((shard = 0; shard < number; shard++)); do
    wait "${processes[shard]}" || status=$?
    cat "$folder/$shard"
done
exit $status
