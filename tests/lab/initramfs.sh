#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Packs the initramfs: busybox, the modules for mounting the host's file system, and init.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
root=$cache/linux-$kernel
version=$(basename "$root"/lib/modules/*)
image=$cache/initramfs-$kernel
[ "$root/lib/modules/$version/modules.dep.bin" -nt "$cache/linux-$kernel.done" ] || depmod -b "$root" "$version"
[ ! "$image" -nt "$here/init" ] || [ ! "$image" -nt "$here/initramfs.sh" ] || [ ! "$image" -nt "$cache/linux-$kernel.done" ] || exit 0

work=$(mktemp -d "$cache/initramfs.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,proc,sys,dev,modules,lower,upper,new}
cp "$cache"/tools/busybox "$work/bin/busybox"
cp "$here/init" "$work/init"
chmod +x "$work/init"
for module in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
    modprobe -d "$root" -S "$version" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
    name=$(basename "${file%.xz}")
    # busybox's insmod does not support compressed modules
    case $file in
        *.xz) xz -dc "$file" >"$work/modules/$name" ;;
        *) cp "$file" "$work/modules/$name" ;;
    esac
    echo "$name"
done >"$work/modules/order"
(cd "$work" && find . | cpio -o -H newc --quiet | gzip -1) >"$image.new"
mv "$image.new" "$image"
