// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

namespace teamo {

/// Collects the failures of steps that all run, also after one has failed.
class Failures {
public:
    /// Ignores ENODEV: a device that is gone needs no change.
    void add(const Result<>& done) {
        if (done || done.error().number == ENODEV) return;
        // The errno of a passing failure is kept: it is worth another attempt.
        if (error_.text.empty() || (is_passing(done.error()) && !is_passing(error_)))
            error_.number = done.error().number;
        error_.text.append(error_.text.empty() ? "" : "; ").append(done.error().text);
    }
    bool may_pass() const { return is_passing(error_); }
    Result<> result() const {
        if (error_.text.empty()) return {};
        return tl::unexpected<Error>(error_);
    }

private:
    Error error_;
};

} // namespace teamo
