# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Part of guest.sh: systemd as PID 1, with a target for the command and without the units that the host has enabled.
mount -t tmpfs tmpfs /etc/systemd/system
cat >/etc/systemd/system/lab.target <<END
[Unit]
Description=The lab
Requires=basic.target dbus.socket
Wants=lab-command.service
After=basic.target dbus.socket
AllowIsolate=yes
END
# Type=idle: starts when systemd has no other jobs.
cat >/etc/systemd/system/lab-command.service <<END
[Unit]
Description=The command of the lab
After=basic.target dbus.socket

[Service]
Type=idle
Delegate=yes
ExecStart=/bin/bash ${BASH_SOURCE%/*}/command.sh $run "$interactive"
END
# Units before basic.target in Debian that a guest does not need.
for unit in systemd-binfmt.service proc-sys-fs-binfmt_misc.automount systemd-update-utmp.service \
    systemd-random-seed.service systemd-pcrphase-sysinit.service systemd-pcrphase.service systemd-journal-flush.service \
    systemd-ask-password-console.path systemd-ask-password-wall.path systemd-machine-id-commit.service \
    systemd-tmpfiles-clean.timer; do
    ln -s /dev/null "/etc/systemd/system/$unit"
done
# A host with udevd must not give the ports other names; start_udevd (unit.sh) starts it.
for unit in systemd-udevd.service systemd-udevd-kernel.socket systemd-udevd-control.socket systemd-udev-trigger.service; do
    ln -s /dev/null "/etc/systemd/system/$unit"
done
# /tmp is not cleaned: the checkout may be there.
mkdir -p /etc/tmpfiles.d
for file in tmp x11; do ln -sf /dev/null "/etc/tmpfiles.d/$file.conf"; done
