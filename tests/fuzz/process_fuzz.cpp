// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What /proc says of a process, which chooses parts of it itself.
// fuzz: -max_len=4096
#include "kernel/files/process_files.h"
#include "require.h"
#include "workers/processes.h"

using namespace teamo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (const auto stat = parse_process_stat(text))
        require(stat->command.size() < size && stat->threads <= 1U << 22);
    static_cast<void>(parse_user(text));
    const auto cgroup = parse_cgroup(text);
    require(cgroup.empty() || cgroup.front() == '/');
    for (const auto& path : {std::string_view(cgroup), text}) {
        const auto unit = unit_of(path);
        require(unit.size() <= 255 && unit.find('/') == std::string::npos);
    }
    for (const auto& mount : parse_cgroup_mounts(text))
        require(!mount.empty());
    return 0;
}
