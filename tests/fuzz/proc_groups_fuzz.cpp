// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's lists of multicast groups and the reports that we send for them: every frame fits.
// fuzz: -max_len=4096
#include "announce/announcement_frames.h"
#include "announce/proc_groups.h"
#include "require.h"

using namespace teamo::announce;

namespace {

void all_fit(const Speaker& speaker) {
    for (const auto& frame : membership_reports(speaker))
        require(frame.size() >= 14 && frame.size() <= 1514);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);

    if (const auto devices = parse_proc_igmp(text))
        for (const auto& [index, device] : *devices) {
            require(static_cast<bool>(index));
            Speaker speaker;
            speaker.igmp = device.version;
            speaker.ipv4_groups = device.groups;
            all_fit(speaker);
        }
    return 0;
}
