#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The lab boots and is what it says: boots_test.sh KERNEL NIC
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
status=0
said=$("$here/lab" -k "$1" -n "$2" -p 2 -- sh "$here/boots_test_guest.sh" "$1" "$2" 2>"$errors" </dev/null) || status=$?
cat "$errors" >&2
# Last what it says at its very end: nothing is lost when the guest is switched off.
[ $status -eq 42 ] || { echo "exit status $status, not the command's 42" >&2; exit 1; }
[ "$said" = "all is well" ] || { echo "standard output is not what the command wrote: $said" >&2; exit 1; }
[ "$(tail -n 1 "$errors")" = "to standard error" ] || { echo "standard error is not what the command wrote" >&2; exit 1; }
