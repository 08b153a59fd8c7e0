// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/handle.h"
#include "kernel/bpf/device_hooks.h"

#include <map>
#include <optional>
#include <string>

namespace teamo {

/// The names of the kernel's BPF programs, of all processes. The kernel does not use an id again soon.
class ProgramNames {
public:
    /// False if the kernel does not tell names: it has no iterator over programs (bpf/names.bpf.c). The first
    /// call loads it, which takes some 35 ms.
    bool are_known();
    /// Empty: the program has no name, or is gone.
    std::string of(ProgramId id);

private:
    std::optional<UniqueFd> link_; ///< of the iterator; -1: the kernel refuses it
    std::map<ProgramId, std::string> names_;
};

} // namespace teamo
