// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/udp_sampler.h"

#include "base/handle.h"
#include "kernel/files/files.h"
#include "sample.skel.h"
#include "workers/bpf/abi.h"
#include "workers/process_text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <map>
#include <span>

namespace teamo {
namespace {

using Skeleton = Handle<teamo_sample_bpf, teamo_sample_bpf__destroy>;
using Link = Handle<bpf_link, bpf_link__destroy>;

/// `napi` is not a NAPI ID up to NR_CPUS (include/net/busy_poll.h: MIN_NAPI_ID): a redirected packet has the
/// sender's CPU in that field.
void add_rows(std::uint64_t cookie, std::span<const teamo_sampled> by_cpu,
              std::vector<SocketTraffic>& sample) {
    for (unsigned cpu = 0; cpu < by_cpu.size(); ++cpu)
        if (const auto& counted = by_cpu[cpu]; counted.packets != 0)
            sample.push_back({.process = 0,
                              .cookie = cookie,
                              .transport = Transport::udp,
                              .cpu = cpu,
                              .napi = counted.napi,
                              .device = IfIndex{counted.ifindex},
                              .bytes = counted.bytes,
                              .packets = counted.packets});
}

std::vector<std::uint64_t> keys_of(int map) {
    std::vector<std::uint64_t> keys;
    std::uint64_t key = 0;
    for (const std::uint64_t* last = nullptr;
         keys.size() < TEAMO_SAMPLED_SOCKETS && bpf_map_get_next_key(map, last, &key) == 0;
         last = &keys.back())
        keys.push_back(key);
    return keys;
}

} // namespace

struct UdpSampler::Program {
    Skeleton skeleton;
    Link link;
    std::size_t cpus = 0;
    int map() const { return bpf_map__fd(skeleton->maps.teamo_sample); }
};

UdpSampler::UdpSampler(std::unique_ptr<Program> program) : program_(std::move(program)) {}
UdpSampler::UdpSampler(UdpSampler&&) noexcept = default;
UdpSampler& UdpSampler::operator=(UdpSampler&&) noexcept = default;
UdpSampler::~UdpSampler() = default;

Result<UdpSampler> UdpSampler::open() {
    libbpf_set_print(nullptr); // failure is normal here
    auto program = std::make_unique<Program>();
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "cannot read the number of CPUs");
    program->cpus = static_cast<std::size_t>(cpus);
    program->skeleton.reset(teamo_sample_bpf__open());
    if (!program->skeleton) return fail_errno(errno, "cannot open the BPF program that counts UDP packets");
    if (const int error = teamo_sample_bpf__load(program->skeleton.get()); error < 0)
        return fail_errno(-error, "the kernel refuses to load the BPF program that counts UDP packets");
    return UdpSampler(std::move(program));
}

Result<> UdpSampler::start(const std::string& cgroup) {
    const UniqueFd folder(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return fail_errno(errno, cgroup);
    // A BPF link allows other programs beside it, and is detached when its descriptor is closed.
    program_->link.reset(bpf_program__attach_cgroup(program_->skeleton->progs.teamo_count, folder.get()));
    if (!program_->link) return fail_errno(errno, fmt::format("{}: cannot count packets there", cgroup));
    return {};
}

Result<std::vector<SocketTraffic>> UdpSampler::stop() {
    program_->link.reset();
    const int map = program_->map();
    std::vector<SocketTraffic> sample;
    std::vector<teamo_sampled> by_cpu(program_->cpus);
    for (const auto cookie : keys_of(map)) {
        if (bpf_map_lookup_elem(map, &cookie, by_cpu.data()) == 0) add_rows(cookie, by_cpu, sample);
        if (bpf_map_delete_elem(map, &cookie) < 0 && errno != ENOENT)
            return fail_errno(errno, "cannot write a BPF map");
    }
    std::ranges::sort(sample, {}, [](const auto& row) { return std::pair(row.cookie, row.cpu); });
    return sample;
}

Result<std::string> find_unified_cgroup() {
    const auto mounts = TEAMO_TRY(read_file("/proc/self/mountinfo", std::size_t{16} << 20));
    // A later mount may hide an earlier one.
    for (const auto& where : parse_cgroup_mounts(mounts)) {
        struct statfs found {};
        if (::statfs(where.c_str(), &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC) return where;
    }
    return fail(ENOENT, "the unified control group hierarchy (cgroup2) is not mounted");
}

std::vector<SocketTraffic> with_processes(const std::vector<SocketTraffic>& sample,
                                          const std::vector<SocketTraffic>& sockets) {
    std::multimap<std::uint64_t, const SocketTraffic*> holders;
    for (const auto& socket : sockets)
        if (socket.transport == Transport::udp) holders.emplace(socket.cookie, &socket);
    std::vector<SocketTraffic> rows;
    for (auto row : sample) {
        const auto [begin, end] = holders.equal_range(row.cookie);
        for (auto holder = begin; holder != end; ++holder) {
            row.process = holder->second->process;
            row.foreign = holder->second->foreign;
            rows.push_back(row);
        }
    }
    return rows;
}

} // namespace teamo
