// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/iterator.h"

#include <bpf/bpf.h>
#include <unistd.h>

namespace teamo {

Result<UniqueFd> link_iterator(int program, const std::string& over) {
    UniqueFd link(bpf_link_create(program, 0, BPF_TRACE_ITER, nullptr));
    if (!link) return fail_errno(errno, "the kernel has no BPF iterator over " + over);
    return link;
}

Result<std::vector<std::byte>> read_iterator(const UniqueFd& link, const std::string& over) {
    constexpr std::size_t part = 1 << 18;
    const UniqueFd iterator(bpf_iter_create(link.get()));
    if (!iterator) return fail_errno(errno, "cannot create a BPF iterator over " + over);
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    while (true) {
        bytes.resize(size + part);
        const auto got = ::read(iterator.get(), bytes.data() + size, part);
        // EAGAIN: a million objects in a row without a record (kernel/bpf/bpf_iter.c: MAX_ITER_OBJECTS).
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_errno(errno, "cannot read the BPF iterator over " + over);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    bytes.resize(size);
    return bytes;
}

} // namespace teamo
