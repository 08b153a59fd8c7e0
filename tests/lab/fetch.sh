#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Downloads the packages that the lab needs, once, and unpacks them into $cache without installing them: kernels from the
# releases that have them, programs from the machine's own release, because they use its libraries.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

say() { printf '%s\n' "lab: $*" >&2; }
die() { say "$*"; exit 125; }

# from SUITE COMMAND…: an apt command that knows only this suite of the machine's mirror.
from() {
    local suite=$1 command=$2 lists=$cache/apt/$1
    shift 2
    [ -e "$lists/updated" ] || update_lists "$suite" "$lists"
    APT_CONFIG=$lists/apt.conf "$command" "$@"
}
update_lists() {
    local suite=$1 lists=$2 uri keyring
    read -r uri _ keyring < <("$here/../../packaging/debian-mirror") || die "no Debian mirror"
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$uri" "$suite" >"$lists/sources.list"
    # A mirror that is a copy of one day has lists that are out of date; they are still checked by their signature.
    cat >"$lists/apt.conf" <<END
Dir::Etc::sourcelist "$lists/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$lists/lists";
Dir::State::status "/dev/null";
Dir::Cache "$lists/cache";
APT::Sandbox::User "root";
APT::Default-Release "";
Acquire::Check-Valid-Until "false";
END
    APT_CONFIG=$lists/apt.conf apt-get -qq update || die "cannot read the package lists of $suite; check the machine's apt mirror"
    touch "$lists/updated"
}

# fetch SUITE FOLDER PACKAGE…: into $cache/FOLDER
fetch() {
    local suite=$1 folder=$2
    shift 2
    [ "$(cat "$cache/$folder.done" 2>/dev/null)" != "$*" ] || return 0
    say "downloading $* ($suite), only once"
    local downloads
    downloads=$(mktemp -d "$cache/download.XXXXXX")
    (cd "$downloads" && from "$suite" apt-get -qq download "$@") || die "apt-get cannot download $*"
    mkdir -p "$cache/$folder"
    local file
    for file in "$downloads"/*.deb; do dpkg-deb -x "$file" "$cache/$folder"; done
    rm -rf "$downloads"
    echo "$*" >"$cache/$folder.done"
}

# The packages with the kernel that linux-image-amd64 of a suite depends on: one, or since 7.x its image and its modules.
kernel_packages() {
    local image parts
    image=$(from "$1" apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }')
    parts=$(from "$1" apt-cache depends "${image:-none}" 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^linux-(base|binary|modules)-[0-9]/ { print $2 }')
    echo "${parts:-$image}"
}

case $kernel in
    6.1) suite=bookworm ;;
    6.12) suite=trixie ;;
    newest) suite=trixie-backports ;;
esac
if [ ! -e "$cache/linux-$kernel.done" ]; then
    packages=$(kernel_packages "$suite")
    [ -n "$packages" ] || die "$suite has no kernel"
    [ "$kernel" = newest ] || [[ $packages == linux-image-$kernel.* ]] || die "$suite has $packages and not $kernel"
    # shellcheck disable=SC2086 # one word a package
    fetch "$suite" "linux-$kernel" $packages
    root=$cache/linux-$kernel
    # One layout: lib/modules/VERSION, and the image as vmlinuz.
    [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
    for image in "$root"/boot/vmlinuz-* "$root"/lib/modules/*/vmlinuz; do [ ! -e "$image" ] || ln -sf "${image#"$root/"}" "$root/vmlinuz"; done
fi
read -r _ own _ < <("$here/../../packaging/debian-mirror") || die "no Debian mirror"
fetch "$own" tools busybox-static
# Debian 12 has it in /bin.
ln -sf "$(cd "$cache/tools" && find . -path '*bin/busybox' -type f | head -n 1)" "$cache/tools/busybox"
# Never installed: as a service it would move the interrupts of this machine.
fetch "$own" irqbalance irqbalance
# Likewise the network managers and ifupdown; networkd is part of the systemd package. netplan is a program for Python, and
# its packages have other names since Debian 13.
netplan=(netplan.io netplan-generator libnetplan1 python3-netplan python3-cffi-backend)
[ "$own" != bookworm ] || netplan=(netplan.io libnetplan0 python3-netifaces python3-dbus)
fetch "$own" network-managers udev network-manager libnm0 libndp0 ifupdown ifenslave vlan isc-dhcp-client \
    "${netplan[@]}" python3-yaml python3-rich
# QEMU has igb, and an e1000e that reports a lost link, since 8.0: Debian 12's is older, so that of its backports is used,
# with the libraries of the machine's own QEMU.
[ "$own" = bookworm ] || exit 0
fetch bookworm-backports qemu qemu-system-x86 qemu-system-common qemu-system-data seabios
missing=$(LD_LIBRARY_PATH="$cache/qemu/usr/lib/x86_64-linux-gnu" ldd "$cache/qemu/usr/bin/qemu-system-x86_64" |
    awk '/not found/ { print $1 }')
[ -z "$missing" ] || die "QEMU of bookworm-backports lacks libraries here: ${missing//$'\n'/ }"
