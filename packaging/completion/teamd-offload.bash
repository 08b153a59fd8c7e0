# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for teamd-offload(8)

# Running teams, and teams with a configuration.
_teamd_offload_teams() {
    local file
    for file in /run/teamd/*.pid /etc/teamd-offload/*.conf; do
        [[ -e $file ]] || continue
        file=${file##*/}
        printf '%s\n' "${file%.*}"
    done | sort -u | grep -x '[A-Za-z0-9_.@:-]*' # compgen expands its words
}

_teamd_offload() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    case $before in
        -f|--config-file|-p|--pid-file|--metrics-file) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        -l|--log-output) mapfile -t COMPREPLY < <(compgen -W "stdout stderr syslog" -- "$current"); return ;;
        --datapath) mapfile -t COMPREPLY < <(compgen -W "auto team bond bpf" -- "$current"); return ;;
        -t|--team-dev) mapfile -t COMPREPLY < <(compgen -W "$(_teamd_offload_teams)" -- "$current"); return ;;
        -L|--lacp-directory|--config-directory) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        -c|--config|-Z|--zmq-enable) COMPREPLY=(); return ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "--help --daemonize --kill --check --config-file --config --pid-file --debug
        --log-output --force-recreate --take-over --no-quit-destroy --team-dev --no-ports --dbus-enable --zmq-enable
        --usock-enable --usock-disable --all --config-directory --attach --or-attach --dry-run --metrics-file --datapath --lacp-directory --version" -- "$current")
}
complete -F _teamd_offload teamd-offload
