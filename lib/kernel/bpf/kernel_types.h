// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The types of the running kernel and of one of its modules (BTF), read from /sys/kernel/btf. libbpf reads
// those of modules too when it relocates a program, but asks the kernel for each module, which takes
// CAP_SYS_ADMIN.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <optional>

struct btf;

namespace teamo {

class KernelTypes {
public:
    /// A driver that is part of the kernel has no types of its own. ENOENT: the kernel has no types.
    static Result<KernelTypes> with_module(const char* module);

    /// Bytes from the beginning of the structure; none: there is no such structure, or no such member.
    std::optional<std::uint32_t> offset(const char* structure, const char* member) const;
    bool has_function(const char* name) const;
    /// In bytes; none: there is no such structure.
    std::optional<std::uint32_t> size(const char* structure) const;

private:
    struct Free {
        void operator()(btf* types) const noexcept;
    };
    using Types = std::unique_ptr<btf, Free>;
    KernelTypes(Types kernel, Types module) : kernel_(std::move(kernel)), module_(std::move(module)) {}
    const btf* all() const { return module_ ? module_.get() : kernel_.get(); }

    Types kernel_, module_; ///< those of the module refer to the kernel's
};

} // namespace teamo
