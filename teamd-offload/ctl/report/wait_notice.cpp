// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/report/wait_notice.h"

#include <fmt/format.h>

namespace teamo::ctl {

void WaitNotice::begin(WaitReason reason, Clock::time_point now) {
    const auto quiet = line_.is_terminal() ? noticed
                       : reason.is_usual   ? std::chrono::milliseconds(0)
                                           : is_long;
    reason_ = std::move(reason);
    detail_.clear();
    begun_ = now;
    next_ = now + quiet;
}

void WaitNotice::detail(std::string text, Clock::time_point now) {
    if (!line_.is_terminal() || text == detail_) return;
    detail_ = std::move(text);
    if (next_ > begun_ + noticed) next_ = now; // the line is shown already
}

std::string WaitNotice::due(Clock::time_point now) {
    if (!reason_ || !next_ || now < *next_) return {};
    if (!line_.is_terminal()) {
        next_.reset();
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(reason_->at_most).count();
        return line_.draw(fmt::format("{}: {}, at most {} s", title_, reason_->what, seconds));
    }
    next_ = now + std::chrono::seconds(1);
    const auto& what = detail_.empty() ? reason_->what : detail_;
    return line_.draw(fmt::format("{}: {}, {}", title_, what, time_left(begun_ + reason_->at_most - now)));
}

std::string WaitNotice::end() {
    reason_.reset();
    next_.reset();
    return line_.erase();
}

} // namespace teamo::ctl
