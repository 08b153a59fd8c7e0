// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Drops frames that nobody here wants, at the ingress of a port, before the datapath's own filter and the
 * kernel's stack spend CPU time on them (docs/adr/0029).
 *
 * Judges ARP, IPv4 and IPv6. Everything else passes, and so does a frame that cannot be read.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "guard_abi.h"
#include "parse.bpf.h"

#define TEAMO_DHCP_SERVER 67
#define TEAMO_DHCP_CLIENT 68
#define TEAMO_DHCPV6_CLIENT 546
#define TEAMO_DHCPV6_SERVER 547
#define TEAMO_IGMP 2
#define TEAMO_VRRP 112
#define TEAMO_ICMPV6 58
#define TEAMO_ARP_REQUEST 1
#define TEAMO_BROADCAST 0xffffffffffffULL
#define TEAMO_FRAGMENT_OFFSET 0x1fff

/* ARP for Ethernet and IPv4: RFC 826. */
struct teamo_arp {
	__be16 hardware, protocol;
	__u8 hardware_size, protocol_size;
	__be16 operation;
	__u8 sender_mac[6], sender_ip[4], target_mac[6], target_ip[4];
} __attribute__((packed));

/* An ICMPv6 header and, in a neighbour solicitation, its target: RFC 4861, 4.3. */
struct teamo_solicitation {
	__u8 type, code;
	__be16 checksum;
	__u32 reserved;
	struct teamo_guard_ipv6 target;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct teamo_guard_settings);
} guard_settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TEAMO_GUARD_ADDRESSES);
	__type(key, __u32); /* network order */
	__type(value, __u8);
} guard_ipv4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TEAMO_GUARD_ADDRESSES);
	__type(key, struct teamo_guard_ipv6);
	__type(value, __u8);
} guard_ipv6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TEAMO_GUARD_ADDRESSES);
	__type(key, __u64); /* a number: 02:00:00:00:00:01 is 0x020000000001 */
	__type(value, __u8);
} guard_macs SEC(".maps"); /* also of the groups that have a listener */

/*
 * Until when the addresses are known to be right (CLOCK_MONOTONIC). The daemon moves it on; when it has died,
 * nobody would add a new address.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} guard_until SEC(".maps");

/* VLANs that have a device in this namespace. Frames of the others pass. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TEAMO_GUARD_ADDRESSES);
	__type(key, __u32);
	__type(value, __u8);
} guard_vlans SEC(".maps");

/* When the next frame of a sender is due. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEAMO_GUARD_SENDERS);
	__type(key, __u64);
	__type(value, __u64);
} guard_senders SEC(".maps");

/* The same for all broadcasts (0) and all multicasts (1). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} guard_due SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TEAMO_GUARD_REASONS);
	__type(key, __u32);
	__type(value, __u64);
} guard_counters SEC(".maps");

struct teamo_frame {
	__u64 to, from;
	__u32 offset;     /* of the header after the EtherType */
	__be16 ethertype; /* after a tag */
};

static __always_inline int teamo_judged(__u32 reason)
{
	__u64 *count, *until;
	__u32 zero = 0;

	if (reason != TEAMO_GUARD_PASSED) {
		until = bpf_map_lookup_elem(&guard_until, &zero);
		if (!until || bpf_ktime_get_coarse_ns() > *until)
			reason = TEAMO_GUARD_PASSED;
	}
	count = bpf_map_lookup_elem(&guard_counters, &reason);
	if (count)
		(*count)++;
	return reason == TEAMO_GUARD_PASSED ? TC_ACT_UNSPEC : TC_ACT_SHOT;
}

static __always_inline bool teamo_is_our_mac(__u64 mac)
{
	return bpf_map_lookup_elem(&guard_macs, &mac);
}

/* False: pass the frame, because it cannot be read or belongs to a VLAN that has no device here. */
static __always_inline bool teamo_read_frame(struct __sk_buff *skb, struct teamo_frame *frame)
{
	void *data = (void *)(long)skb->data;
	void *end = (void *)(long)skb->data_end;
	const struct ethhdr *eth = data;
	const struct teamo_vlan_tag *tag;
	struct teamo_vlan_tag copy;
	__u32 vlan = 0;

	if (data + ETH_HLEN > end)
		return false;
	frame->to = teamo_be64(data) >> 16;
	frame->from = teamo_be64(data + 4) & TEAMO_BROADCAST;
	frame->offset = ETH_HLEN;
	frame->ethertype = eth->h_proto;
	if (skb->vlan_present) {
		if (skb->vlan_proto != bpf_htons(ETH_P_8021Q))
			return false;
		vlan = skb->vlan_tci & TEAMO_VID;
	} else if (frame->ethertype == bpf_htons(ETH_P_8021Q)) {
		tag = teamo_header(skb, ETH_HLEN, &copy, sizeof(copy));
		if (!tag)
			return false;
		vlan = bpf_ntohs(tag->tci) & TEAMO_VID;
		frame->ethertype = tag->ethertype;
		frame->offset += sizeof(*tag);
	}
	/* VLAN 0 is a priority without a VLAN: IEEE 802.1Q, 9.6. */
	return !vlan || bpf_map_lookup_elem(&guard_vlans, &vlan);
}

/* What to do with an ARP frame before the rates: drop, pass whatever the rate, or go on. */
enum teamo_opinion { TEAMO_GO_ON, TEAMO_UNWANTED, TEAMO_ALWAYS };

static __always_inline enum teamo_opinion teamo_judge_arp(struct __sk_buff *skb, const struct teamo_frame *frame)
{
	struct teamo_arp copy;
	const struct teamo_arp *arp = teamo_header(skb, frame->offset, &copy, sizeof(copy));
	__u32 sender, target;

	if (!arp || arp->hardware != bpf_htons(1) || arp->protocol != bpf_htons(ETH_P_IP))
		return TEAMO_ALWAYS;
	__builtin_memcpy(&sender, arp->sender_ip, sizeof(sender));
	__builtin_memcpy(&target, arp->target_ip, sizeof(target));
	/* An answer, or gratuitous: a neighbour may have changed its MAC address. */
	if (arp->operation != bpf_htons(TEAMO_ARP_REQUEST) || sender == target)
		return TEAMO_ALWAYS;
	/*
	 * Without a sender it is a probe (RFC 5227): the address may be one that a program here probes too, and that
	 * no device has yet. From our own MAC address: a probe of a link watch, seen by another port.
	 */
	if (!sender || bpf_map_lookup_elem(&guard_ipv4, &target) || teamo_is_our_mac(frame->from))
		return TEAMO_GO_ON;
	return TEAMO_UNWANTED;
}

static __always_inline bool teamo_is_dhcp(struct __sk_buff *skb, __u32 offset, __u16 one, __u16 other)
{
	struct teamo_ports copy;
	const struct teamo_ports *ports = teamo_header(skb, offset, &copy, sizeof(copy));

	return !ports || ports->dst == bpf_htons(one) || ports->dst == bpf_htons(other);
}

static __always_inline enum teamo_opinion teamo_judge_ipv4(struct __sk_buff *skb, const struct teamo_frame *frame)
{
	struct iphdr copy;
	const struct iphdr *ip = teamo_header(skb, frame->offset, &copy, sizeof(copy));

	if (!ip || ip->protocol == TEAMO_IGMP || ip->protocol == TEAMO_VRRP)
		return TEAMO_ALWAYS;
	if (ip->protocol == IPPROTO_UDP && !(ip->frag_off & bpf_htons(TEAMO_FRAGMENT_OFFSET)) &&
	    teamo_is_dhcp(skb, frame->offset + ip->ihl * 4, TEAMO_DHCP_SERVER, TEAMO_DHCP_CLIENT))
		return TEAMO_ALWAYS;
	return TEAMO_GO_ON;
}

static __always_inline enum teamo_opinion teamo_judge_ipv6(struct __sk_buff *skb, const struct teamo_frame *frame)
{
	struct ipv6hdr copy;
	const struct ipv6hdr *ip = teamo_header(skb, frame->offset, &copy, sizeof(copy));
	__u32 next = frame->offset + sizeof(*ip);
	const struct teamo_solicitation *asked;
	struct teamo_solicitation asked_copy;
	struct teamo_guard_ipv6 target;
	__u8 type[1];

	/* Hop-by-hop options with multicast are MLD's (RFC 3810, 5). */
	if (!ip || ip->nexthdr == IPPROTO_HOPOPTS || ip->nexthdr == TEAMO_VRRP)
		return TEAMO_ALWAYS;
	if (ip->nexthdr == IPPROTO_UDP)
		return teamo_is_dhcp(skb, next, TEAMO_DHCPV6_CLIENT, TEAMO_DHCPV6_SERVER) ? TEAMO_ALWAYS : TEAMO_GO_ON;
	if (ip->nexthdr != TEAMO_ICMPV6)
		return TEAMO_GO_ON;
	if (bpf_skb_load_bytes(skb, next, type, sizeof(type)))
		return TEAMO_ALWAYS;
	/* Router solicitation and advertisement, neighbour advertisement, redirect: RFC 4861. */
	if (type[0] == 133 || type[0] == 134 || type[0] == 136 || type[0] == 137)
		return TEAMO_ALWAYS;
	if (type[0] != 135)
		return TEAMO_GO_ON;
	asked = teamo_header(skb, next, &asked_copy, sizeof(asked_copy));
	if (!asked)
		return TEAMO_ALWAYS;
	target = asked->target;
	if (bpf_map_lookup_elem(&guard_ipv6, &target) || teamo_is_our_mac(frame->from))
		return TEAMO_GO_ON;
	return TEAMO_UNWANTED;
}

/*
 * True if a frame is above the rate (ATM Forum's generic cell rate algorithm: a token bucket in one number). CPUs
 * that write at the same moment lose a frame of the count: the rate is a limit for storms, not for a bill.
 */
static __always_inline bool teamo_exceeds(__u64 *due, const struct teamo_guard_rate *rate, __u64 now)
{
	__u64 at = *due;

	if (at < now)
		at = now;
	if (at > now + rate->tolerance)
		return true;
	*due = at + rate->interval;
	return false;
}

/*
 * 224.0.0.0/24 and ff02::/16: groups of protocols, which need few frames. Other groups with a listener carry what
 * it asked for, at any rate.
 */
static __always_inline bool teamo_is_local_group(__u64 to)
{
	return to >> 8 == 0x01005e0000ULL || to >> 32 == 0x3333;
}

static __always_inline __u32 teamo_judge_rate(const struct teamo_guard_settings *settings,
					      const struct teamo_frame *frame)
{
	__u32 kind = frame->to != TEAMO_BROADCAST;
	__u64 now = bpf_ktime_get_ns(), first = now + settings->sender.interval, from = frame->from;
	__u64 *due;

	/* The sender first: what it sends too much must not use up the rate of all. */
	if (settings->sender.interval) {
		due = bpf_map_lookup_elem(&guard_senders, &from);
		if (!due)
			bpf_map_update_elem(&guard_senders, &from, &first, BPF_ANY);
		else if (teamo_exceeds(due, &settings->sender, now))
			return TEAMO_GUARD_BY_SENDER;
	}
	due = bpf_map_lookup_elem(&guard_due, &kind);
	if (settings->all.interval && due && teamo_exceeds(due, &settings->all, now))
		return kind ? TEAMO_GUARD_BY_MULTICAST : TEAMO_GUARD_BY_BROADCAST;
	return TEAMO_GUARD_PASSED;
}

SEC("tc")
int teamo_guard(struct __sk_buff *skb)
{
	__u32 zero = 0;
	const struct teamo_guard_settings *settings = bpf_map_lookup_elem(&guard_settings, &zero);
	enum teamo_opinion opinion;
	struct teamo_frame frame;
	bool is_group;

	/* What the host sends itself comes here as PACKET_LOOPBACK. */
	if (!settings || settings->mode == TEAMO_GUARD_ASIDE || skb->pkt_type > PACKET_OTHERHOST)
		return TC_ACT_UNSPEC;
	if (!teamo_read_frame(skb, &frame))
		return teamo_judged(TEAMO_GUARD_PASSED);
	/* For bridges and switches: 01:80:c2:00:00:00 to 0f, and Cisco's CDP, VTP and PVST+. */
	if ((frame.to & ~0xfULL) == 0x0180c2000000ULL || (frame.to & ~1ULL) == 0x01000cccccccULL)
		return teamo_judged(TEAMO_GUARD_PASSED);
	if (frame.ethertype != bpf_htons(ETH_P_ARP) && frame.ethertype != bpf_htons(ETH_P_IP) &&
	    frame.ethertype != bpf_htons(ETH_P_IPV6))
		return teamo_judged(TEAMO_GUARD_PASSED);
	is_group = frame.to >> 40 & 1;
	if (!is_group && settings->mode == TEAMO_GUARD_FULL && !teamo_is_our_mac(frame.to))
		return teamo_judged(TEAMO_GUARD_BY_UNICAST);

	if (frame.ethertype == bpf_htons(ETH_P_ARP)) {
		opinion = teamo_judge_arp(skb, &frame);
		if (opinion == TEAMO_UNWANTED)
			return teamo_judged(TEAMO_GUARD_BY_ARP);
	} else if (frame.ethertype == bpf_htons(ETH_P_IPV6)) {
		opinion = teamo_judge_ipv6(skb, &frame);
		if (opinion == TEAMO_UNWANTED)
			return teamo_judged(TEAMO_GUARD_BY_NEIGHBOUR);
	} else {
		/* Unicast IPv4 is the traffic itself: nothing more to read. */
		opinion = is_group ? teamo_judge_ipv4(skb, &frame) : TEAMO_GO_ON;
	}
	if (opinion == TEAMO_ALWAYS || !is_group || settings->mode != TEAMO_GUARD_FULL)
		return teamo_judged(TEAMO_GUARD_PASSED);
	if (frame.to != TEAMO_BROADCAST && !teamo_is_local_group(frame.to) && teamo_is_our_mac(frame.to))
		return teamo_judged(TEAMO_GUARD_PASSED);
	return teamo_judged(teamo_judge_rate(settings, &frame));
}

char teamo_license[] SEC("license") = "GPL";
