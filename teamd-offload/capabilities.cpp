// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capabilities.h"

#include "base/handle.h"

#include <sys/capability.h>

#include <string>

namespace teamo {
namespace {

using Capabilities = Handle<std::remove_pointer_t<cap_t>, cap_free>;

bool has(cap_t set, cap_value_t capability) {
    cap_flag_value_t value = CAP_CLEAR;
    return cap_get_flag(set, capability, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

} // namespace

Result<> check_capabilities() {
    const Capabilities set(cap_get_proc());
    if (!set) return fail_errno(errno, "own capabilities");
    std::string missing;
    const auto need = [&missing](bool there, std::string_view name) {
        if (!there) missing.append(missing.empty() ? "" : ", ").append(name);
    };
    need(has(set.get(), CAP_NET_ADMIN), "CAP_NET_ADMIN");
    need(has(set.get(), CAP_NET_RAW), "CAP_NET_RAW");
    need(has(set.get(), CAP_BPF) || has(set.get(), CAP_SYS_ADMIN), "CAP_BPF");
    need(has(set.get(), CAP_PERFMON) || has(set.get(), CAP_SYS_ADMIN), "CAP_PERFMON");
    if (missing.empty()) return {};
    return fail(
        EPERM,
        fmt::format("missing privilege: {}; start it as root or give the unit these capabilities", missing));
}

} // namespace teamo
