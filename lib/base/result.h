// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Errors are values. A function that can fail returns Result<T>: the value, or an Error with an errno for the
// program and a text for the user. Callers prepend their context to the text (within); only the outermost
// caller logs or prints it.
#pragma once

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace teamo {

struct Error {
    int number = 0;   ///< errno, of the kernel or of this program
    std::string text; ///< for the user: what, where, what to do; one line, no full stop
    bool operator==(const Error&) const = default;
};

/// A value or an Error. tl::expected with [[nodiscard]].
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
    using tl::expected<T, Error>::expected;
    Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
};

inline tl::unexpected<Error> fail(int number, std::string text) {
    return tl::unexpected<Error>(Error{number, std::move(text)});
}

/// Whether the same call may succeed in a moment: the kernel was busy, interrupted, or short of a resource.
/// Other failures stay until the request changes.
inline bool is_passing(const Error& error) {
    constexpr std::array passing{EAGAIN, EBUSY, EINTR, ENOMEM, ENOBUFS, ENOSPC, EMFILE, ENFILE, ETIMEDOUT};
    return std::ranges::find(passing, error.number) != passing.end();
}

/// The text of an errno as strerror(3) gives it, but without its shared buffer.
inline std::string errno_text(int number) {
    std::array<char, 128> buffer{};
    return strerror_r(number, buffer.data(), buffer.size());
}

/// A failed system call: "cannot open /run/x: Permission denied".
inline tl::unexpected<Error> fail_errno(int number, std::string_view what) {
    return fail(number, fmt::format("{}: {}", what, errno_text(number)));
}

/// The same failure one level up: "team0: port eth3: the device is a port of bond0 already".
inline tl::unexpected<Error> within(std::string_view where, Error error) {
    error.text.insert(0, fmt::format("{}: ", where));
    return tl::unexpected<Error>(std::move(error));
}
template <class T>
Result<T> within(std::string_view where, Result<T> result) {
    if (!result) return within(where, std::move(result.error()));
    return result;
}

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

/// What TEAMO_TRY gives: the value, moved out of its Result.
template <class Tried>
auto take(Tried&& result) {
    if constexpr (!std::is_void_v<typename Tried::value_type>) return *std::forward<Tried>(result);
}

} // namespace teamo

/// The value of a Result, or the function returns its Error:
///   const auto links = TEAMO_TRY(list_links(socket));
/// The only macro of this program that hides a return; C++20 has no other short form.
#define TEAMO_TRY(...)                                                                                       \
    __extension__({                                                                                          \
        auto tried_result_ = (__VA_ARGS__);                                                                  \
        if (!tried_result_) return tl::unexpected(std::move(tried_result_.error()));                         \
        ::teamo::take(std::move(tried_result_));                                                             \
    })
