// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/keys.h"
#include "json/value.h"

#include <optional>
#include <string>

namespace teamo::config {

/// One object of a document, with its path in the table. Returns valid values as written, and the table's
/// default for all others. Does not report errors: check_document() has done so.
class Section {
public:
    /// `object` may be nullptr or not an object: then every value is the default.
    Section(const json::Value* object, std::string_view path) : object_(object), path_(path) {}

    bool boolean(std::string_view name) const;
    std::string string(std::string_view name) const;
    /// An integer within the key's range; `Number` must hold that range.
    template <class Number = std::int64_t>
    Number integer(std::string_view name) const {
        return static_cast<Number>(integer_of(name));
    }
    /// The index of the word in the key's words, which is the enumerator's value.
    std::size_t word(std::string_view name) const;

    /// The written value if it is valid, else nullptr. For keys without a default.
    const json::Value* written(std::string_view name) const;
    Section below(std::string_view name) const;

private:
    const Key& key(std::string_view name) const;
    std::int64_t integer_of(std::string_view name) const;

    const json::Value* object_;
    std::string_view path_;
};

} // namespace teamo::config
