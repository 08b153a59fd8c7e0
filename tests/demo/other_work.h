// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "demo/report.h"

namespace teamo::demo {

/// How busy others keep this machine. What they do makes CPU dearer and pulls longer: all that is measured
/// here is measured on the whole machine.
class OtherWork {
public:
    /// Measures for a moment in which the demo does nothing itself, and says it.
    void look(const Report& report);
    /// Why a figure may miss its promise without a defect: how many CPUs others kept busy at most; empty
    /// where that is next to nothing.
    std::string excuse() const;

private:
    double most_ = 0;
};

} // namespace teamo::demo
