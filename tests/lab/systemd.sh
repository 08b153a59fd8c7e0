# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Part of guest.sh: systemd as first process, with a target that has the command and nothing of what the host
# has enabled. /etc is the guest's own layer.
cat >/etc/systemd/system/lab.target <<END
[Unit]
Description=The lab
Wants=systemd-journald.service dbus.socket lab-command.service
AllowIsolate=yes
END
cat >/etc/systemd/system/lab-command.service <<END
[Unit]
Description=The command of the lab
DefaultDependencies=no
After=systemd-journald.service

[Service]
ExecStart=/bin/bash ${BASH_SOURCE%/*}/command.sh $run
StandardInput=tty-force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS1
END
