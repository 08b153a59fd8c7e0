// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/section.h"

#include "config/check_document.h"

#include <algorithm>
#include <cassert>

namespace teamo::config {

const Key& Section::key(std::string_view name) const {
    const auto* found = find_member(path_, name);
    assert(found != nullptr);
    return *found;
}

const json::Value* Section::written(std::string_view name) const {
    const auto* value = object_ == nullptr ? nullptr : object_->find(name);
    return value != nullptr && fault_of(key(name), *value).empty() ? value : nullptr;
}

Section Section::below(std::string_view name) const { return {written(name), key(name).inner()}; }

// A valid value has the type of its key; the second check is for static analysis.
bool Section::boolean(std::string_view name) const {
    const auto* value = written(name);
    const auto* flag = value == nullptr ? nullptr : value->boolean();
    return flag != nullptr ? *flag : std::get<bool>(key(name).fallback);
}

std::int64_t Section::integer_of(std::string_view name) const {
    const auto* value = written(name);
    const auto* number = value == nullptr ? nullptr : value->integer();
    return number != nullptr ? *number : std::get<std::int64_t>(key(name).fallback);
}

std::string Section::string(std::string_view name) const {
    const auto* value = written(name);
    const auto* text = value == nullptr ? nullptr : value->string();
    return text != nullptr ? *text : std::string(std::get<std::string_view>(key(name).fallback));
}

std::size_t Section::word(std::string_view name) const {
    const auto words = key(name).words;
    const auto found = std::ranges::find(words, string(name));
    assert(found != words.end());
    return static_cast<std::size_t>(found - words.begin());
}

} // namespace teamo::config
