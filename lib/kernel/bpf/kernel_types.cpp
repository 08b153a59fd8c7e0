// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/kernel_types.h"

#include <bpf/btf.h>

#include <string_view>

namespace teamo {
namespace {

const btf_type* find_structure(const btf* types, const char* name) {
    const auto id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);
    return id < 0 ? nullptr : btf__type_by_id(types, static_cast<std::uint32_t>(id));
}

} // namespace

void KernelTypes::Free::operator()(btf* types) const noexcept { btf__free(types); }

Result<KernelTypes> KernelTypes::with_module(const char* module) {
    Types kernel(btf__load_vmlinux_btf());
    if (!kernel) return fail_errno(errno, "the kernel has no BTF (/sys/kernel/btf/vmlinux)");
    Types types(btf__load_module_btf(module, kernel.get()));
    return KernelTypes(std::move(kernel), std::move(types));
}

std::optional<std::uint32_t> KernelTypes::offset(const char* structure, const char* member) const {
    const auto* type = find_structure(all(), structure);
    if (type == nullptr) return std::nullopt;
    for (unsigned number = 0; number < btf_vlen(type); ++number)
        if (const char* name = btf__name_by_offset(all(), btf_members(type)[number].name_off);
            name != nullptr && std::string_view(name) == member)
            return btf_member_bit_offset(type, number) / 8;
    return std::nullopt;
}

bool KernelTypes::has_function(const char* name) const {
    return btf__find_by_name_kind(all(), name, BTF_KIND_FUNC) >= 0;
}

std::optional<std::uint32_t> KernelTypes::size(const char* structure) const {
    const auto* type = find_structure(all(), structure);
    return type == nullptr ? std::nullopt : std::optional(type->size);
}

} // namespace teamo
