// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The kernel's reply with the features of a device gives valid names or an error text; that to a request,
// only what was asked for.
// fuzz: -max_len=4096
#include "kernel/ethtool/ethtool.h"

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    // Netlink attributes are aligned; libFuzzer's buffer need not be.
    const auto* first = reinterpret_cast<const std::byte*>(bytes);
    const std::vector<std::byte> attributes(first, first + size);
    const teamo::FeatureSettings asked{{"rx-lro", true}, {"rx-gro", false}};
    const auto refused = teamo::parse_refused(attributes, asked);
    for (const auto& entry : refused.value_or(teamo::FeatureSettings{}))
        if (!asked.contains(entry.first)) std::abort();
    const auto features = teamo::parse_features(attributes);
    if (!features) return features.error().text.empty() ? std::abort(), 0 : 0;
    for (const auto* names : {&features->active, &features->wanted, &features->changeable})
        for (const auto& name : *names)
            if (name.empty() || name.size() > 32) std::abort();
    return 0;
}
