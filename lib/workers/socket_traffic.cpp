// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/socket_traffic.h"

#include "kernel/bpf/load_program.h"
#include "kernel/files/files.h"
#include "kernel/files/process_files.h"
#include "sample.skel.h"
#include "sockets.skel.h"
#include "workers/bpf/sockets_abi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace teamo {
namespace {

// ---- TCP and UDP by BPF --------------------------------------------------------------------------

constexpr std::uint16_t no_queue = 0xffff; // net/sock.h: NO_QUEUE_MAPPING

SocketTraffic traffic_of(const teamo_socket_record& record) {
    SocketTraffic socket{.process = static_cast<pid_t>(record.process),
                         .cookie = record.cookie,
                         .transport = record.protocol == IPPROTO_UDP ? Transport::udp : Transport::tcp,
                         .napi = record.napi,
                         .device = IfIndex{record.ifindex},
                         .foreign = record.foreign != 0,
                         .bytes = record.bytes,
                         .packets = record.packets};
    if (record.cpu >= 0) socket.cpu = static_cast<unsigned>(record.cpu);
    if (record.queue != no_queue) socket.queue = record.queue;
    return socket;
}

/// A user may open a socket a million times, and this is read each second.
constexpr std::size_t most_sockets = 200'000;

/// The iterator's link.
Result<UniqueFd> open_link() {
    const Handle<teamo_sockets_bpf, teamo_sockets_bpf__destroy> skeleton(teamo_sockets_bpf__open());
    if (!skeleton) return fail_errno(errno, "cannot open the BPF program that reads sockets");
    TEAMO_TRY(load_programs("the BPF program that reads sockets",
                            [&] { return teamo_sockets_bpf__load(skeleton.get()); }));
    return link_iterator(bpf_program__fd(skeleton->progs.teamo_sockets), "open files");
}

// ---- TCP by descriptors --------------------------------------------------------------------------

constexpr std::uint8_t listening = 10; // net/tcp_states.h: TCP_LISTEN

template <class Value>
bool ask(int socket, int level, int option, Value& value) {
    socklen_t size = sizeof value;
    return ::getsockopt(socket, level, option, &value, &size) == 0;
}

/// None for a socket that is not TCP, and for one that listens.
std::optional<SocketTraffic> tcp_traffic(int socket) {
    int protocol = 0, family = 0, cpu = -1;
    unsigned napi = 0;
    std::uint64_t cookie = 0;
    tcp_info info{};
    if (!ask(socket, SOL_SOCKET, SO_PROTOCOL, protocol) || protocol != IPPROTO_TCP ||
        !ask(socket, SOL_SOCKET, SO_DOMAIN, family) || (family != AF_INET && family != AF_INET6) ||
        !ask(socket, IPPROTO_TCP, TCP_INFO, info) || info.tcpi_state == listening ||
        !ask(socket, SOL_SOCKET, SO_COOKIE, cookie))
        return std::nullopt;
    SocketTraffic traffic{
        .cookie = cookie, .bytes = info.tcpi_bytes_received, .packets = info.tcpi_data_segs_in};
    if (ask(socket, SOL_SOCKET, SO_INCOMING_CPU, cpu) && cpu >= 0) traffic.cpu = static_cast<unsigned>(cpu);
    if (ask(socket, SOL_SOCKET, SO_INCOMING_NAPI_ID, napi)) traffic.napi = napi;
    return traffic;
}

/// Returns the number of descriptors of the process. Sets `refused` to the errno if they may not be
/// duplicated.
std::size_t add_sockets(pid_t pid, std::vector<SocketTraffic>& sockets, int& refused) {
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process && errno != ESRCH) refused = errno;
    if (!process) return 0;
    std::set<std::uint64_t> known; // a process may have several descriptors of one socket
    return each_socket(pid, [&](int number, std::uint64_t inode) {
        if (!known.insert(inode).second) return true;
        const UniqueFd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
        if (!socket && (errno == EPERM || errno == ENOSYS)) {
            refused = errno;
            return false;
        }
        auto traffic = socket ? tcp_traffic(socket.get()) : std::nullopt;
        if (!traffic) return true;
        traffic->process = pid;
        sockets.push_back(*traffic);
        return true;
    });
}

// ---- samples of UDP ------------------------------------------------------------------------------

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

UniqueFd duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

} // namespace

SocketSource SocketSource::open() {
    SocketSource source;
    if (auto link = open_link())
        source.link_ = std::move(*link);
    else
        source.limitations_ = fmt::format("BPF is not available, so these are not measured: UDP, the device "
                                          "of a socket, and processes that the daemon may not trace ({})",
                                          link.error().text);
    return source;
}

const std::string& SocketSource::limitations() const {
    static const std::string too_many =
        fmt::format("more than {} descriptors of sockets are open: the processes "
                    "of the rest are not seen",
                    most_sockets);
    return ended_early_ ? too_many : limitations_;
}

Result<std::vector<SocketTraffic>> SocketSource::read() {
    if (!link_) return read_descriptors();
    auto records = TEAMO_TRY(read_records<teamo_socket_record>(link_, "open files", most_sockets));
    ended_early_ = records.size() == most_sockets;

    // A process may have several descriptors of one socket.
    const auto key = [](const teamo_socket_record& record) {
        return std::tuple(record.process, record.cookie);
    };
    std::ranges::sort(records, {}, key);
    // Not std::ranges::unique: clang 14 cannot compile g++ 12's subrange.
    const auto same = [&key](const auto& one, const auto& other) { return key(one) == key(other); };
    records.erase(std::unique(records.begin(), records.end(), same), records.end());

    std::vector<SocketTraffic> sockets;
    sockets.reserve(records.size());
    std::ranges::transform(records, std::back_inserter(sockets), traffic_of);
    return sockets;
}

Result<std::vector<SocketTraffic>> read_descriptors() {
    std::vector<SocketTraffic> sockets;
    std::size_t seen = 0;
    int refused = 0;
    for (const auto pid : sysfs::numbers_in("/proc")) {
        if (seen >= most_descriptors) break;
        seen += add_sockets(static_cast<pid_t>(pid), sockets, refused);
        if (refused == ENOSYS) break;
    }
    // Some processes can never be traced. Report an error only if no socket was found and a process refused.
    if (sockets.empty() && refused != 0) return fail_errno(refused, "cannot read the sockets of processes");
    return sockets;
}

Result<UdpSampler> UdpSampler::open() {
    UdpSampler sampler;
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 0) return fail_errno(-cpus, "cannot read the number of CPUs");
    sampler.cpus_ = static_cast<std::size_t>(cpus);
    const Handle<teamo_sample_bpf, teamo_sample_bpf__destroy> skeleton(teamo_sample_bpf__open());
    if (!skeleton) return fail_errno(errno, "cannot open the BPF program that counts UDP packets");
    TEAMO_TRY(load_programs("the BPF program that counts UDP packets",
                            [&] { return teamo_sample_bpf__load(skeleton.get()); }));
    sampler.program_ = duplicate(bpf_program__fd(skeleton->progs.teamo_count));
    sampler.map_ = duplicate(bpf_map__fd(skeleton->maps.teamo_sample));
    if (!sampler.program_ || !sampler.map_)
        return fail_errno(errno, "cannot keep the BPF program that counts UDP packets");
    return sampler;
}

Result<> UdpSampler::start(const std::string& cgroup) {
    const UniqueFd folder(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return fail_errno(errno, cgroup);
    // Not after the sample: what could not be removed there would be counted again here.
    for (const auto cookie : keys_of(map_.get()))
        if (bpf_map_delete_elem(map_.get(), &cookie) < 0 && errno != ENOENT)
            return fail_errno(errno, "cannot write a BPF map");
    // A BPF link allows other programs beside it, and is detached when its descriptor is closed.
    link_.reset(bpf_link_create(program_.get(), folder.get(), BPF_CGROUP_INET_INGRESS, nullptr));
    if (!link_) return fail_errno(errno, fmt::format("{}: cannot count packets there", cgroup));
    return {};
}

std::vector<SocketTraffic> UdpSampler::stop() {
    link_.reset();
    std::vector<SocketTraffic> sample;
    std::vector<teamo_sampled> by_cpu(cpus_);
    for (const auto cookie : keys_of(map_.get()))
        if (bpf_map_lookup_elem(map_.get(), &cookie, by_cpu.data()) == 0) add_rows(cookie, by_cpu, sample);
    std::ranges::sort(sample, {}, [](const auto& row) { return std::pair(row.cookie, row.cpu); });
    return sample;
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
