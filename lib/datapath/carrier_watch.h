// SPDX-License-Identifier: LGPL-2.1-or-later
//
// BPF programs on the kernel's netif_carrier_off() and netif_carrier_on(), which report at once what netlink
// may report a second late (bpf/carrier.bpf.c). Not every kernel allows this tracing: callers need a
// fallback.
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <memory>
#include <set>

namespace teamo {

class CarrierWatch {
public:
    /// Loads and attaches the programs. EPERM, ENOTSUPP, ENOENT and others: this kernel or its settings do
    /// not allow it.
    static Result<CarrierWatch> open();

    CarrierWatch(CarrierWatch&&) noexcept;
    CarrierWatch& operator=(CarrierWatch&&) noexcept;
    ~CarrierWatch();

    /// Reports from now on only these devices of this process's network namespace. At most nine.
    Result<> watch(const std::set<IfIndex>& ports);

    /// Readable when there is something to receive().
    int fd() const;

    struct Changes {
        std::set<IfIndex> lost; ///< lost the carrier; it may have come back since
        std::set<IfIndex> back; ///< got the carrier, without a loss meanwhile
    };
    Changes receive();

private:
    struct Programs;
    explicit CarrierWatch(std::unique_ptr<Programs> programs);

    std::unique_ptr<Programs> programs_;
};

} // namespace teamo
