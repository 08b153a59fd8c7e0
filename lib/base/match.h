// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace teamo {

/// The cases of a std::visit, one lambda each; the compiler reports a missing alternative.
template <class... Cases>
struct Match : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

} // namespace teamo
