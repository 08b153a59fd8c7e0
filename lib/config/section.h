// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/keys.h"
#include "json/value.h"

#include <optional>
#include <string>

namespace teamo::config {

/// One object of a document and its place in the table. Every value asked for is there: the one written
/// where it counts, else the table's default. It says nothing about faults; check_document has.
class Section {
public:
    /// `object` may be nullptr, or no object: then all has its default.
    Section(const json::Value* object, std::string_view path) : object_(object), path_(path) {}

    bool boolean(std::string_view name) const;
    std::string string(std::string_view name) const;
    /// An integer within the key's range; `Number` has room for that range.
    template <class Number = std::int64_t>
    Number integer(std::string_view name) const {
        return static_cast<Number>(integer_of(name));
    }
    /// The place of the word among the key's words: the enumerator's value.
    std::size_t word(std::string_view name) const;

    /// The value where one is written that counts, else nullptr: of keys that have no default.
    const json::Value* written(std::string_view name) const;
    Section below(std::string_view name) const;

private:
    const Key& key(std::string_view name) const;
    std::int64_t integer_of(std::string_view name) const;

    const json::Value* object_;
    std::string_view path_;
};

} // namespace teamo::config
