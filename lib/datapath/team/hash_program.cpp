// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team/hash_program.h"

#include "datapath/bpf/flow_hash.h"
#include "kernel/packets/classic_bpf.h"

#include <linux/if_ether.h>
#include <netinet/in.h>

#include <array>

namespace teamo {
namespace {

// The program's memory: M[].
constexpr std::uint32_t hash = 0, vlan = 1, offset = 2, next = 3, ethertype = 4;

constexpr std::uint32_t eth_header = 14, ipv4_header = 20, ipv6_header = 40, ports_size = 4, tag_size = 4;
constexpr std::uint32_t vid_mask = 0xfff, fragment_mask = 0x3fff;
constexpr unsigned vlan_tags = 2, ipv6_extensions = 6; // as in parse.bpf.h
constexpr std::uint32_t l4 = TEAMO_HASH_TCP | TEAMO_HASH_UDP | TEAMO_HASH_SCTP;
constexpr std::array ip_dst{TEAMO_K_DST_IP0, TEAMO_K_DST_IP1, TEAMO_K_DST_IP2, TEAMO_K_DST_IP3};
constexpr std::array ip_src{TEAMO_K_SRC_IP0, TEAMO_K_SRC_IP1, TEAMO_K_SRC_IP2, TEAMO_K_SRC_IP3};

class HashProgram {
public:
    explicit HashProgram(HashFields fields) : fields_(fields) {}
    std::vector<sock_filter> make();

private:
    void put(std::uint32_t memory) { code_.emit(BPF_ST, memory); }
    void get(std::uint32_t memory) { code_.emit(BPF_LD | BPF_MEM, memory); }
    void get_x(std::uint32_t memory) { code_.emit(BPF_LDX | BPF_MEM, memory); }
    void load(unsigned size, std::uint32_t at) { code_.emit(BPF_LD | size | BPF_ABS, at); }
    /// Relative to M[offset].
    void load_at(unsigned size, std::uint32_t at) {
        get_x(offset);
        code_.emit(BPF_LD | size | BPF_IND, at);
    }
    void set(std::uint32_t memory, std::uint32_t to) {
        code_.emit(BPF_LD | BPF_IMM, to);
        put(memory);
    }
    /// M[hash] += A * factor
    void add(std::uint32_t factor) {
        code_.emit(BPF_ALU | BPF_MUL | BPF_K, factor);
        get_x(hash);
        code_.emit(BPF_ALU | BPF_ADD | BPF_X);
        put(hash);
    }
    /// M[offset] += A
    void advance() {
        get_x(offset);
        code_.emit(BPF_ALU | BPF_ADD | BPF_X);
        put(offset);
    }
    /// Jumps to `if_shorter` if the packet is shorter: a load beyond the end would end the program with 0,
    /// but truncated headers must only add nothing.
    void need(std::uint32_t bytes, ClassicBpf::Label if_shorter) {
        code_.emit(BPF_LD | BPF_W | BPF_LEN);
        code_.emit(BPF_MISC | BPF_TAX);
        get(offset);
        code_.emit(BPF_ALU | BPF_ADD | BPF_K, bytes);
        code_.jump_if_x(BPF_JGT, if_shorter);
    }

    void add_macs();
    void walk_tags();
    void add_ports(ClassicBpf::Label done);
    /// Jumps to `ports` if the ports of the protocol in A are hashed.
    void on_ports_protocol(ClassicBpf::Label ports);
    void add_ipv4(ClassicBpf::Label done);
    void add_ipv6(ClassicBpf::Label done);
    void add_ipv6_ports(ClassicBpf::Label done);

    HashFields fields_;
    ClassicBpf code_;
};

void HashProgram::add_macs() {
    load(BPF_H, 0);
    add(TEAMO_K_DST_MAC_HIGH);
    load(BPF_W, 2);
    add(TEAMO_K_DST_MAC);
    load(BPF_H, 6);
    add(TEAMO_K_SRC_MAC_HIGH);
    load(BPF_W, 8);
    add(TEAMO_K_SRC_MAC);
}

/// Puts the EtherType after all tags into M[ethertype], and the VIDs into M[vlan].
void HashProgram::walk_tags() {
    const auto done = code_.label(), no_tag = code_.label();
    set(vlan, 0);
    // A tag in the skb's metadata.
    load(BPF_B, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT));
    code_.jump_if(BPF_JEQ, 0, no_tag);
    load(BPF_H, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_VLAN_TAG));
    code_.emit(BPF_ALU | BPF_AND | BPF_K, vid_mask);
    put(vlan);
    code_.place(no_tag);
    load(BPF_H, 12);
    put(ethertype);
    for (unsigned tag = 0; tag < vlan_tags; ++tag) {
        const auto tagged = code_.label();
        get(ethertype);
        code_.jump_if(BPF_JEQ, ETH_P_8021Q, tagged);
        code_.jump_unless(BPF_JEQ, ETH_P_8021AD, done);
        code_.place(tagged);
        need(tag_size, done);
        get(vlan);
        code_.emit(BPF_ALU | BPF_LSH | BPF_K, 12);
        put(vlan);
        load_at(BPF_H, 0);
        code_.emit(BPF_ALU | BPF_AND | BPF_K, vid_mask);
        get_x(vlan);
        code_.emit(BPF_ALU | BPF_OR | BPF_X);
        put(vlan);
        load_at(BPF_H, 2);
        put(ethertype);
        code_.emit(BPF_LD | BPF_IMM, tag_size);
        advance();
    }
    code_.place(done);
}

void HashProgram::add_ports(ClassicBpf::Label done) {
    need(ports_size, done);
    load_at(BPF_H, 0);
    add(TEAMO_K_SRC_PORT);
    load_at(BPF_H, 2);
    add(TEAMO_K_DST_PORT);
    code_.jump(done);
}

void HashProgram::on_ports_protocol(ClassicBpf::Label ports) {
    for (const std::uint32_t protocol : {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP})
        if ((fields_ & teamo_hash_field_of(protocol)) != 0) code_.jump_if(BPF_JEQ, protocol, ports);
}

void HashProgram::add_ipv4(ClassicBpf::Label done) {
    need(ipv4_header, done);
    if ((fields_ & TEAMO_HASH_IPV4) != 0) {
        load_at(BPF_W, 16);
        add(ip_dst[3]);
        load_at(BPF_W, 12);
        add(ip_src[3]);
    }
    if ((fields_ & l4) == 0) return code_.jump(done);
    const auto ports = code_.label();
    // Later fragments have no ports, so those of the first are not hashed either.
    load_at(BPF_H, 6);
    code_.jump_if(BPF_JSET, fragment_mask, done);
    load_at(BPF_B, 9);
    on_ports_protocol(ports);
    code_.jump(done);
    code_.place(ports);
    load_at(BPF_B, 0);
    code_.emit(BPF_ALU | BPF_AND | BPF_K, 0xf);
    code_.jump_unless(BPF_JGE, 5, done);
    code_.emit(BPF_ALU | BPF_LSH | BPF_K, 2);
    advance();
    add_ports(done);
}

void HashProgram::add_ipv6_ports(ClassicBpf::Label done) {
    const auto ports = code_.label();
    load_at(BPF_B, 6);
    put(next);
    code_.emit(BPF_LD | BPF_IMM, ipv6_header);
    advance();
    for (unsigned walked = 0;; ++walked) {
        get(next);
        on_ports_protocol(ports);
        if (walked == ipv6_extensions) break;
        const auto extension = code_.label();
        code_.jump_if(BPF_JEQ, IPPROTO_HOPOPTS, extension);
        code_.jump_if(BPF_JEQ, IPPROTO_ROUTING, extension);
        code_.jump_unless(BPF_JEQ, IPPROTO_DSTOPTS, done);
        code_.place(extension);
        need(2, done);
        load_at(BPF_B, 0);
        put(next);
        load_at(BPF_B, 1);
        code_.emit(BPF_ALU | BPF_ADD | BPF_K, 1);
        code_.emit(BPF_ALU | BPF_LSH | BPF_K, 3);
        advance();
    }
    code_.jump(done);
    code_.place(ports);
    add_ports(done);
}

void HashProgram::add_ipv6(ClassicBpf::Label done) {
    need(ipv6_header, done);
    if ((fields_ & TEAMO_HASH_IPV6) != 0)
        for (std::uint32_t word = 0; word < ip_dst.size(); ++word) {
            load_at(BPF_W, 24 + 4 * word);
            add(ip_dst[word]);
            load_at(BPF_W, 8 + 4 * word);
            add(ip_src[word]);
        }
    if ((fields_ & l4) != 0)
        add_ipv6_ports(done);
    else
        code_.jump(done);
}

std::vector<sock_filter> HashProgram::make() {
    if (has(fields_, HashField::cpu)) {
        load(BPF_W, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_CPU));
        code_.emit(BPF_ALU | BPF_AND | BPF_K, TEAMO_BUCKETS - 1);
        code_.emit(BPF_RET | BPF_A);
        return code_.finish();
    }
    if (fields_ == 0) {
        code_.emit(BPF_RET | BPF_K, 0);
        return code_.finish();
    }
    const auto done = code_.label(), ipv4 = code_.label(), ipv6 = code_.label();
    set(hash, 0);
    set(offset, 0);
    need(eth_header, done);
    set(offset, eth_header);
    if ((fields_ & TEAMO_HASH_ETH) != 0) add_macs();
    if ((fields_ & ~TEAMO_HASH_ETH) != 0) {
        walk_tags();
        if ((fields_ & TEAMO_HASH_VLAN) != 0) {
            get(vlan);
            add(TEAMO_K_VLAN);
        }
        get(ethertype);
        if ((fields_ & (TEAMO_HASH_IPV4 | l4)) != 0) code_.jump_if(BPF_JEQ, ETH_P_IP, ipv4);
        if ((fields_ & (TEAMO_HASH_IPV6 | l4)) != 0) code_.jump_if(BPF_JEQ, ETH_P_IPV6, ipv6);
        code_.jump(done);
        code_.place(ipv4);
        if ((fields_ & (TEAMO_HASH_IPV4 | l4)) != 0) add_ipv4(done);
        code_.place(ipv6);
        if ((fields_ & (TEAMO_HASH_IPV6 | l4)) != 0) add_ipv6(done);
    }
    code_.place(done);
    get(hash);
    code_.emit(BPF_ALU | BPF_RSH | BPF_K, 24);
    code_.emit(BPF_RET | BPF_A);
    return code_.finish();
}

} // namespace

std::vector<sock_filter> hash_program(HashFields fields) { return HashProgram(fields).make(); }

} // namespace teamo
