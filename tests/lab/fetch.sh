#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Downloads the packages that the lab needs, once, and unpacks them into $cache without installing them. Uses the
# mirror of the machine's apt, which also has the backports suite.
set -euo pipefail
apt_directory=$cache/apt

say() { printf '%s\n' "lab: $*" >&2; }
die() { say "$*"; exit 125; }

# Prints "URI signed-by" of the source that has bookworm.
mirror() {
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -e "$file" ] || continue
        awk 'BEGIN { RS = ""; FS = "\n" } {
            uri = suites = key = ""
            for (i = 1; i <= NF; i++) {
                if ($i ~ /^URIs:/) { split($i, words, " "); uri = words[2] }
                if ($i ~ /^Suites:/) suites = $i " "
                if ($i ~ /^Signed-By: *\//) { split($i, words, " "); key = words[2] }
            }
            if (suites ~ / bookworm /) { print uri, key; exit }
        }' "$file"
    done
    [ ! -e /etc/apt/sources.list ] ||
        awk '$1 == "deb" { i = 2; if ($i ~ /^\[/) { while ($i !~ /\]$/) i++; i++ } if ($(i + 1) == "bookworm") { print $i; exit } }' \
            /etc/apt/sources.list
}

apt() {
    local command=$1
    shift
    "$command" -o Dir::Etc::sourcelist="$apt_directory/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$apt_directory/lists" -o Dir::Cache="$apt_directory/cache" \
        -o APT::Sandbox::User=root "$@"
}

update_lists() {
    [ ! -e "$apt_directory/updated" ] || return 0
    local uri key
    read -r uri key < <(mirror | head -n 1) || true
    [ -n "${uri:-}" ] || die "the machine's apt sources do not contain bookworm"
    mkdir -p "$apt_directory/lists/partial" "$apt_directory/cache/archives/partial"
    local suite
    for suite in bookworm bookworm-backports; do
        printf 'deb [signed-by=%s] %s %s main\n' "${key:-/usr/share/keyrings/debian-archive-keyring.gpg}" "$uri" "$suite"
    done >"$apt_directory/sources.list"
    apt apt-get -qq update || die "cannot read the package lists; check the machine's apt mirror"
    touch "$apt_directory/updated"
}

# fetch SUITE FOLDER PACKAGE…: into $cache/FOLDER
fetch() {
    local suite=$1 folder=$2
    shift 2
    [ ! -e "$cache/$folder.done" ] || return 0
    update_lists
    say "downloading $* ($suite), only once"
    local downloads
    downloads=$(mktemp -d "$cache/download.XXXXXX")
    (cd "$downloads" && apt apt-get -qq -t "$suite" download "$@") || die "apt-get cannot download $*"
    mkdir -p "$cache/$folder"
    local file
    for file in "$downloads"/*.deb; do dpkg-deb -x "$file" "$cache/$folder"; done
    rm -rf "$downloads"
    touch "$cache/$folder.done"
}

# The kernel package that linux-image-amd64 of a suite depends on.
kernel_package() {
    update_lists
    apt apt-cache -t "$1" depends linux-image-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }'
}

case $kernel in
    6.1) suite=bookworm ;;
    6.12) suite=bookworm-backports ;;
esac
if [ ! -e "$cache/linux-$kernel.done" ]; then
    update_lists
    package=$(kernel_package "$suite")
    [[ $package == linux-image-$kernel.* ]] || die "$suite has ${package:-no kernel} and not $kernel"
    fetch "$suite" "linux-$kernel" "$package"
fi
fetch bookworm tools busybox-static
# Never installed: as a service it would move the interrupts of this machine.
fetch bookworm irqbalance irqbalance
# Likewise the network managers and ifupdown; networkd is part of the systemd package.
fetch bookworm network-managers udev network-manager libnm0 libndp0 ifupdown vlan isc-dhcp-client
# QEMU 10 has igb, and an e1000e that reports a lost link (not in 7.2). It uses the libraries of the machine's own
# QEMU package.
fetch bookworm-backports qemu qemu-system-x86 qemu-system-common qemu-system-data seabios
missing=$(LD_LIBRARY_PATH="$cache/qemu/usr/lib/x86_64-linux-gnu" ldd "$cache/qemu/usr/bin/qemu-system-x86_64" |
    awk '/not found/ { print $1 }')
[ -z "$missing" ] || die "QEMU of bookworm-backports lacks libraries here: ${missing//$'\n'/ }"
