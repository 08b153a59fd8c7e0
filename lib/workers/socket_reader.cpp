// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/socket_reader.h"

#include "base/handle.h"
#include "sockets.skel.h"
#include "workers/bpf/abi.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <netinet/in.h>

#include <algorithm>
#include <tuple>

namespace teamo {
namespace {

using Skeleton = Handle<teamo_sockets_bpf, teamo_sockets_bpf__destroy>;
using Link = Handle<bpf_link, bpf_link__destroy>;

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

/// Reads all records of the iterator.
Result<std::vector<teamo_socket_record>> drain(int iterator) {
    constexpr std::size_t part = 4096; // records
    std::vector<teamo_socket_record> records;
    std::size_t bytes = 0;
    while (true) {
        records.resize(bytes / sizeof(teamo_socket_record) + part);
        const auto got = ::read(iterator, reinterpret_cast<char*>(records.data()) + bytes,
                                records.size() * sizeof(teamo_socket_record) - bytes);
        // EAGAIN: a million files in a row without a socket (kernel/bpf/bpf_iter.c: MAX_ITER_OBJECTS).
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_errno(errno, "cannot read the BPF iterator over open files");
        if (got == 0) break;
        bytes += static_cast<std::size_t>(got);
    }
    records.resize(bytes / sizeof(teamo_socket_record));
    return records;
}

} // namespace

struct SocketReader::Program {
    Skeleton skeleton;
    Link link;
};

SocketReader::SocketReader(std::unique_ptr<Program> program) : program_(std::move(program)) {}
SocketReader::SocketReader(SocketReader&&) noexcept = default;
SocketReader& SocketReader::operator=(SocketReader&&) noexcept = default;
SocketReader::~SocketReader() = default;

Result<SocketReader> SocketReader::open() {
    libbpf_set_print(nullptr); // failure is normal here
    auto program = std::make_unique<Program>();
    program->skeleton.reset(teamo_sockets_bpf__open());
    if (!program->skeleton) return fail_errno(errno, "cannot open the BPF program that reads sockets");
    if (const int error = teamo_sockets_bpf__load(program->skeleton.get()); error < 0)
        return fail_errno(-error, "the kernel refuses to load the BPF program that reads sockets");
    program->link.reset(bpf_program__attach_iter(program->skeleton->progs.teamo_sockets, nullptr));
    if (!program->link) return fail_errno(errno, "the kernel has no BPF iterator over open files");
    return SocketReader(std::move(program));
}

Result<std::vector<SocketTraffic>> SocketReader::read() const {
    const UniqueFd iterator(bpf_iter_create(bpf_link__fd(program_->link.get())));
    if (!iterator) return fail_errno(errno, "cannot create a BPF iterator over open files");
    auto records = TEAMO_TRY(drain(iterator.get()));

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

} // namespace teamo
