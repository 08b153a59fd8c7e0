// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Programs that are attached to a device itself, in an order: tcx (kernel 6.6) and netkit (6.7). They stay
// when the process ends that attached them, since no BPF link is used. libbpf 1.1 lacks the calls.
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace teamo {

using ProgramId = Named<struct ProgramIdTag, std::uint32_t>; ///< 0: none

/// The values of the kernel's enum bpf_attach_type.
enum class DeviceHook : std::uint8_t { tcx_ingress = 46, tcx_egress = 47, netkit_primary = 54 };

struct AttachedPrograms {
    std::vector<ProgramId> ids{};
    std::uint64_t revision = 0;
};

/// In the order in which they run. EINVAL: the kernel has no such hook, or the device is none of that kind.
/// ENODEV: no such device.
Result<AttachedPrograms> read_device_programs(IfIndex device, DeviceHook hook);

/// Attaches the program before `next`, or after all if that is 0. EEXIST: it is attached already.
Result<> attach_device_program(IfIndex device, DeviceHook hook, int program, ProgramId next);

/// Detaches the program at this place of the list. ESTALE: the list has changed since it was read. EBUSY: a
/// BPF link holds it.
Result<> detach_device_program(IfIndex device, DeviceHook hook, const AttachedPrograms& list,
                               std::size_t place);

/// The id by which the kernel knows a program that this process has loaded.
Result<ProgramId> id_of_program(int program);

} // namespace teamo
