# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for teamoctl(8); installed as completions/teamoctl.

# Teams with a running daemon: those with a control socket.
_teamoctl_teams() {
    local socket
    for socket in /run/teamd/*.sock; do
        [[ -S $socket ]] && basename "$socket" .sock
    done
}

_teamoctl_devices() {
    local device
    [[ $1 == help ]] && return
    for device in /sys/class/net/*; do
        device=${device##*/}
        [[ $device == lo || $device == "$1" ]] || printf '%s\n' "$device"
    done
}

_teamoctl_bonds() {
    local bond
    for bond in /sys/class/net/*/bonding; do
        [[ -d $bond ]] && basename "${bond%/bonding}"
    done
}

_teamoctl_ports() {
    [[ $1 == help ]] && return
    # By indent, not by JSON: a port's name is what stands on the level below "ports".
    teamoctl "$1" state dump 2>/dev/null |
        sed -n '/^    "ports": {$/,/^    }/s/^        "\(.*\)": {$/\1/p'
}

_teamoctl() {
    local current=${COMP_WORDS[COMP_CWORD]} word index
    local -a words=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $word in
        =) ((index++)) ;; # readline splits at "=": --measure = eth1
        -Z | --force-zmq | --measure | -t | --timeout)
            [[ ${COMP_WORDS[index + 1]} == = ]] || ((index++))
            ;;
        -*) ;;
        *) words+=("$word") ;;
        esac
    done

    if [[ ${words[0]} == bench || ${words[1]} == bench ]]; then
        # The options of the other program, which it shows.
        mapfile -t COMPREPLY < <(compgen -W "$(teamoctl bench --help 2>/dev/null | grep -o -e '--[a-z]*')" -- "$current")
        return
    fi
    local choices= before=${COMP_WORDS[COMP_CWORD - 1]}
    # readline splits at "=": --measure = eth1.
    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    if [[ $current == = && $before == --measure ]]; then
        current=
        choices=$(_teamoctl_ports "${words[0]}")
    elif [[ $before == --measure ]]; then
        choices=$(_teamoctl_ports "${words[0]}")
    elif [[ $current == -* ]]; then
        choices='-h --help --version -v --verbose -o --oneline -D --force-dbus -Z --force-zmq= -U --force-usock --json'
        case "${words[*]:1}" in
        doctor) choices+=' --measure=' ;;
        top) choices+=' --once' ;;
        '') [[ ${words[0]} == top ]] && choices+=' --once' ;;
        'port drain'*) choices+=' -n --dry-run --force --timeout=' ;;
        'port remove'* | 'config reload'*) choices+=' -n --dry-run' ;;
        esac
    elif ((${#words[@]} == 0)); then
        choices="$(_teamoctl_teams) help bench doctor import metrics top"
    elif [[ ${words[0]} =~ ^(doctor|metrics|top)$ && ! -S /run/teamd/${words[0]}.sock ]]; then
        choices= # without a team they take no word; a team may have such a name
    elif [[ ${words[*]} == import ]]; then
        choices='bond teamd'
    elif [[ ${words[*]} == 'import bond' ]]; then
        choices=$(_teamoctl_bonds)
    elif [[ ${words[*]} == 'import teamd'* ]]; then
        compopt -o default
    else
        case "${words[*]:1}" in
        '') choices='config state port clear balance offload interrupts guard workers stats top metrics doctor bench' ;;
        config) choices='dump diff reload' ;;
        'config diff' | 'config reload') compopt -o default; COMPREPLY=(); return ;;
        'config dump') choices='noports actual' ;;
        state) choices='dump view item' ;;
        'state item') choices='get set' ;;
        'state item get') choices='setup.runner_name setup.debug_level setup.pid runner.active_port' ;;
        'state item set') choices='setup.debug_level runner.active_port ports.' ;;
        'state item set runner.active_port') choices=$(_teamoctl_ports "${words[0]}") ;;
        port) choices='add remove present config drain undrain' ;;
        'port add') choices=$(_teamoctl_devices "${words[0]}") ;;
        'port remove' | 'port present' | 'port drain' | 'port undrain') choices=$(_teamoctl_ports "${words[0]}") ;;
        'port config') choices='update dump' ;;
        'port config update') choices=$(_teamoctl_devices "${words[0]}") ;;
        'port config dump') choices=$(_teamoctl_ports "${words[0]}") ;;
        clear) choices='statistics' ;;
        'clear statistics') choices='port' ;;
        'clear statistics port') choices=$(_teamoctl_ports "${words[0]}") ;;
        balance) choices='show hash move freeze thaw' ;;
        interrupts) choices='show plan apply restore' ;;
        workers) choices='show bind release run apply restore' ;;
        'workers bind '*) choices='follow spread' ;;
        offload) choices='show' ;;
        stats) choices='live' ;;
        'balance hash'*) choices='src dst tcp udp sctp icmp icmp6 gre esp proto sport dport smac dmac vlan' ;;
        'balance move') ;;
        'balance move '*)
            case $((${#words[@]} - 3)) in
            1) choices=$(_teamoctl_ports "${words[0]}") ;;
            2) choices='now' ;;
            esac
            ;;
        esac
    fi
    # compgen expands its words, and the kernel lets a device have the name "$(command)".
    choices=$(tr ' ' '\n' <<<"$choices" | grep -x '[A-Za-z0-9_.@:=-]*')
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}

complete -F _teamoctl teamoctl
