// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/pair_device.h"

#include "kernel/files/files.h"
#include "model/observation.h"

#include <linux/bpf.h>
#include <linux/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace teamo {
namespace {

constexpr std::uint32_t widest_mtu = 65535; // veth and netkit: ETH_MAX_MTU

/// The inner end has no addresses, no neighbours and the largest MTU.
Result<> set_up_inner(LinkControl& links, const Link& inner, const std::string& team) {
    TEAMO_TRY(links.add_altname(inner.index, inner_mark(team)));
    TEAMO_TRY(links.set_alias(inner.index, fmt::format("inner end of {} (teamd-offload)", team)));
    TEAMO_TRY(links.set_flags(inner.index, IFF_NOARP, IFF_NOARP));
    TEAMO_TRY(links.set_mtu(inner.index, widest_mtu));
    // While it is down it has no addresses; when up it would send router solicitations into the team's
    // receive path.
    if (read_disable_ipv6(inner.name)) return write_disable_ipv6(inner.name, true);
    return {};
}

/// netkit if the kernel has it: its program runs inside the transmit function, which saves a softirq.
Result<std::string> create_pair(LinkControl& links, const std::string& name, const MacAddress& address) {
    // Numbered by the kernel, because the team's name may already have 15 letters.
    const auto inner_names = fmt::format("{}%d", inner_name_prefix);
    if (auto made = links.create_pair("netkit", name, inner_names, address); made)
        return std::string("netkit");
    TEAMO_TRY(links.create_pair("veth", name, inner_names, address));
    return std::string("veth");
}

Result<TeamDevice> set_up(LinkControl& links, const Link& team, const std::string& kind) {
    const auto inner = TEAMO_TRY(links.read(team.lower));
    TEAMO_TRY(set_up_inner(links, inner, team.name));
    TEAMO_TRY(links.set_alias(team.index, fmt::format("{} (teamd-offload)", team.name)));
    // The team's mark is set last: a device that has it is complete.
    TEAMO_TRY(links.add_altname(team.index, team_mark(team.name)));
    return TeamDevice{.team = team.index, .inner = inner.index, .kind = kind};
}

/// The device just created: by name, or the newest of its kind if the kernel numbered it.
const Link* newest(const Links& links, const std::string& name, const std::string& kind) {
    if (const auto* exact = find_link(links, name)) return exact;
    const auto stem = name.substr(0, name.find('%'));
    const Link* found = nullptr;
    for (const auto& entry : links)
        if (entry.second.kind == kind && entry.second.name.starts_with(stem)) found = &entry.second;
    return found;
}

// Debian 12's headers do not have netkit (include/uapi/linux/bpf.h of kernel 6.7).
constexpr std::uint32_t netkit_primary = 54; // BPF_NETKIT_PRIMARY
constexpr std::uint32_t before = 1U << 3;    // BPF_F_BEFORE
constexpr std::uint32_t after = 1U << 4;     // BPF_F_AFTER

/// union bpf_attr of BPF_PROG_ATTACH, BPF_PROG_DETACH and BPF_PROG_QUERY as in 6.7.
struct AttachAttributes {
    std::uint32_t target_ifindex = 0, program = 0, type = netkit_primary, flags = 0, replaced = 0,
                  relative = 0;
    std::uint64_t expected_revision = 0;
};
struct QueryAttributes {
    std::uint32_t target_ifindex = 0, type = netkit_primary, query_flags = 0, attach_flags = 0;
    std::uint64_t program_ids = 0;
    std::uint32_t count = 0, padding = 0;
    std::array<std::uint64_t, 4> more{};
};

int bpf(int command, void* attributes, std::size_t size) {
    return static_cast<int>(::syscall(SYS_bpf, command, attributes, size));
}

} // namespace

Result<TeamDevice> create_pair_device(LinkControl& links, const std::string& name,
                                      const MacAddress& address) {
    const auto kind = create_pair(links, name, address);
    if (!kind) return within(fmt::format("cannot create device {}", name), kind.error());
    const auto all = TEAMO_TRY(links.read_all());
    const auto* team = newest(all, name, *kind);
    if (team == nullptr) return fail(ENODEV, fmt::format("device {} disappeared while it was created", name));
    auto device = set_up(links, *team, *kind);
    if (!device) {
        static_cast<void>(links.remove(team->index)); // the first failure is reported
        return within(fmt::format("cannot set up device {}", team->name), std::move(device.error()));
    }
    return device;
}

Result<std::optional<TeamDevice>> find_pair_device(const Links& links, const std::string& name) {
    const auto* team = find_link(links, name);
    if (team == nullptr) return std::optional<TeamDevice>();
    if (team->kind == "team")
        return fail(EEXIST,
                    fmt::format("device {0} exists and is of the kernel's team driver, as NetworkManager "
                                "makes it, which the BPF datapath cannot use; set \"datapath\" to "
                                "\"auto\", or use the unit teamd-offload@{0} without a team connection",
                                name));
    if (find_altname(links, team_mark(name)) != team)
        return fail(EEXIST, fmt::format("device {0} exists and is not a team of teamd-offload; remove it (ip "
                                        "link del {0}), or start with -r to replace it",
                                        name));
    const auto* inner = find_altname(links, inner_mark(name));
    if (inner == nullptr)
        return fail(EEXIST, fmt::format("device {0} has lost its inner end; remove it (ip link del {0}), or "
                                        "start with -r",
                                        name));
    return std::optional(TeamDevice{.team = team->index, .inner = inner->index, .kind = team->kind});
}

Result<> attach_netkit(IfIndex device, int program) {
    QueryAttributes others{.target_ifindex = device.value};
    if (bpf(BPF_PROG_QUERY, &others, sizeof others) < 0)
        return fail_errno(errno, "cannot list the netkit programs");
    AttachAttributes attach{
        .target_ifindex = device.value, .program = static_cast<std::uint32_t>(program), .flags = before};
    if (bpf(BPF_PROG_ATTACH, &attach, sizeof attach) < 0)
        return fail_errno(errno, "cannot attach a netkit program");
    // The new program is first and decides about every packet. Detach those after it, of an earlier daemon.
    for (std::uint32_t left = others.count; left > 0; --left) {
        AttachAttributes detach{.target_ifindex = device.value, .flags = after};
        if (bpf(BPF_PROG_DETACH, &detach, sizeof detach) < 0)
            return fail_errno(errno, "cannot detach an earlier netkit program");
    }
    return {};
}

} // namespace teamo
