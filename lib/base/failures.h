// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.h"

namespace teamo {

/// For what goes on after a failure: all that failed, as one.
class Failures {
public:
    /// A device that is gone needs nothing done (ENODEV).
    void add(const Result<>& done) {
        if (done || done.error().number == ENODEV) return;
        // One that may pass counts before all others: it is worth another try.
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
