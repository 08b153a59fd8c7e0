// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "ctl/session.h"

namespace teamo::ctl {

/// What our daemon's state says of one port beyond teamd's.
struct DatapathPort {
    std::string name;
    bool link_up = false, transmits = false, receives = false;
    std::int64_t speed = -1; ///< Mbit/s; -1 is unknown
    std::int64_t buckets = 0;
    std::int64_t tx_packets = 0, tx_bytes = 0, rx_packets = 0, rx_bytes = 0, rx_dropped = 0;
};

/// An error where the daemon is a teamd, which does not know.
Result<std::vector<DatapathPort>> read_datapath_ports(Session& session);

} // namespace teamo::ctl
