// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Programs on the kernel's netif_carrier_off() and netif_carrier_on(), which say at once what netlink may say
// a second late (bpf/carrier.bpf.c). Not every kernel lets itself be traced: whoever asks needs another way.
#pragma once

#include "base/named.h"
#include "base/result.h"

#include <memory>
#include <set>

namespace teamo {

class CarrierWatch {
public:
    /// Loads the programs and hangs them on. EPERM, ENOTSUPP, ENOENT and others: this kernel, or its
    /// administrator, does not have it.
    static Result<CarrierWatch> open();

    CarrierWatch(CarrierWatch&&) noexcept;
    CarrierWatch& operator=(CarrierWatch&&) noexcept;
    ~CarrierWatch();

    /// Of these devices of this process's network namespace it tells from now on, of no others. Nine at most.
    Result<> watch(const std::set<IfIndex>& ports);

    /// Readable when there is something to receive().
    int fd() const;

    struct Changes {
        std::set<IfIndex> lost; ///< the carrier went; it may have come back since
        std::set<IfIndex> back; ///< it came, and had not gone meanwhile
    };
    Changes receive();

private:
    struct Programs;
    explicit CarrierWatch(std::unique_ptr<Programs> programs);

    std::unique_ptr<Programs> programs_;
};

} // namespace teamo
