#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Shows that the tests find defects: breaks the program in one place at a time, in a work tree of its own under build/,
# and runs the test that must go red. breaks/run.sh [NAME…]; without names all of them. A patch begins with what it
# breaks and a line "red: COMMAND".
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
checkout=$(readlink -f "$here/../..")
tree=$checkout/build/breaks
export TEAMO_LAB_CACHE=${TEAMO_LAB_CACHE:-$checkout/build/lab}

[ -e "$tree" ] || git -C "$checkout" worktree add --quiet --detach "$tree" HEAD
git -C "$tree" checkout --quiet --force --detach "$(git -C "$checkout" rev-parse HEAD)"
cd "$tree"
cmake --preset release >/dev/null
if [ $# -gt 0 ]; then names=("$@"); else mapfile -t names < <(basename -s .patch "$here"/*.patch); fi
missed=0
for name in "${names[@]}"; do
    patch=$here/$name.patch
    command=$(sed -n 's/^red: //p' "$patch")
    if ! git apply "$patch"; then
        missed=$((missed + 1))
        echo "$name: does not apply to this tree"
        continue
    fi
    cmake --build --preset release --target tests_of_what_is_shipped >build/broken.log || { tail -n 30 build/broken.log; exit 1; }
    bash -c "$command" >build/broken.log 2>&1 && status=0 || status=$?
    red=$(grep -aoE '^\[  FAILED  \] [A-Za-z0-9_]+[./][^ ,]+|ERROR: LeakSanitizer' build/broken.log | sed 's/\[  FAILED  \] //' | sort -u | head -n 5 | paste -sd ' ') || true
    if [ $status -ne 0 ] && [ -n "$red" ]; then
        echo "$name: found by $red"
    else
        missed=$((missed + 1))
        echo "$name: NOT FOUND by $command (exit status $status)"
    fi
    git checkout --quiet --force
done
[ $missed -eq 0 ]
