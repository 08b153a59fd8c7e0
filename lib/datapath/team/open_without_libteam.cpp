// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/team/team_datapath.h"

namespace teamo {

bool knows_team_driver() { return false; }

Result<std::unique_ptr<Datapath>> TeamDatapath::open(TransmitMode /*mode*/, DevicePrograms& /*hooks*/) {
    return fail(ENOTSUP, "/datapath: this program was built without libteam and cannot use the team driver; "
                         "use the datapath \"bond\" or \"bpf\"");
}

} // namespace teamo
