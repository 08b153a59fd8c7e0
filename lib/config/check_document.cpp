// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/check_document.h"

#include "base/nearest.h"
#include "json/quote.h"

#include <algorithm>

namespace teamo::config {
namespace {

bool has_shape(Shape shape, const json::Value& value) {
    switch (shape) {
    case Shape::string: return value.string() != nullptr;
    case Shape::integer: return value.integer() != nullptr;
    case Shape::boolean: return value.boolean() != nullptr;
    case Shape::object:
    case Shape::ports: return value.object() != nullptr;
    case Shape::objects:
    case Shape::strings: return value.array() != nullptr;
    case Shape::watches: return value.object() != nullptr || value.array() != nullptr;
    }
    return false;
}

std::string did_you_mean(std::string_view written, std::span<const std::string_view> known) {
    const auto word = nearest(written, known);
    return word.empty() ? "" : fmt::format("; did you mean \"{}\"?", word);
}

std::string word_fault(const Key& key, const std::string& written) {
    if (key.words.empty() || std::ranges::find(key.words, written) != key.words.end()) return {};
    // "runner.name" is reported as "runner"; for an offload the document's key names the feature already.
    const auto what = key.name() == "name" ? key.parent() : key.name() == "FEATURE" ? "value" : key.name();
    return fmt::format("unknown {} {}; valid values: {}{}", what, json::quote(written),
                       fmt::join(key.words, ", "), did_you_mean(written, key.words));
}

std::string range_fault(const Key& key, std::int64_t number) {
    if (number >= key.range.least && number <= key.range.most) return {};
    return fmt::format("{} is out of range; valid values: {} to {}", number, key.range.least, key.range.most);
}

/// What the daemon does about a value that it cannot use.
std::string consequence(const Key& key, Fault fault) {
    if (fault == Fault::refused) return {};
    const auto fallback = text_of(key.fallback);
    return fallback.empty() ? "; the daemon ignores it"
                            : fmt::format("; the daemon uses the default {}", fallback);
}

class Checker {
public:
    Checker(Diagnostics& diagnostics, std::string_view runner) : diagnostics_(diagnostics), runner_(runner) {}

    void members(const json::Object& object, std::string_view path, const Where& where,
                 std::string_view user) {
        for (const auto& member : object) {
            const auto* key = find_member(path, member.key);
            if (key != nullptr)
                value(*key, member.value, where.member(member), user);
            else
                unknown(member, path, where);
        }
    }

private:
    void unknown(const json::Member& member, std::string_view path, const Where& where) {
        if (diagnostics_.has_warned_enough()) return;
        diagnostics_.warning(where.member(member.key, member.key_place),
                             fmt::format("unknown key {}{}", json::quote(member.key),
                                         did_you_mean(member.key, member_names(path))));
    }

    void value(const Key& key, const json::Value& value, const Where& where, std::string_view user) {
        if (auto text = fault_of(key, value); !text.empty()) {
            const auto fault = has_shape(key.shape, value) ? key.value_fault(user) : key.wrong_shape;
            diagnostics_.error(where, text + consequence(key, fault), fault);
        } else if (key.shape == Shape::object && !members_of(key.inner()).empty()) {
            members(*value.object(), key.inner(), where, user);
        } else if (key.shape == Shape::ports) {
            for (const auto& port : *value.object())
                this->value(*find_key("ports.PORTIFNAME"), port.value, where.member(port), runner_);
        } else if (key.shape == Shape::strings) {
            words(key, *value.array(), where, user);
        } else if (key.shape == Shape::watches) {
            watches(value, where);
        } else if (key.shape == Shape::objects) {
            objects(key, *value.array(), where, user);
        }
    }

    void objects(const Key& key, const json::Array& array, const Where& where, std::string_view user) {
        for (std::size_t index = 0; index < array.size(); ++index) {
            const auto element = where.element(index, array[index].place());
            if (const auto* object = array[index].object())
                members(*object, key.inner(), element, user);
            else
                diagnostics_.error(element, fmt::format("must be an object, not {}", type_of(array[index])));
        }
    }

    void words(const Key& key, const json::Array& array, const Where& where, std::string_view user) {
        for (std::size_t index = 0; index < array.size(); ++index) {
            const auto* word = array[index].string();
            auto text = word == nullptr ? fmt::format("must be a string, not {}", type_of(array[index]))
                                        : word_fault(key, *word);
            if (text.empty()) continue;
            const auto fault = word == nullptr ? Fault::tolerated : key.value_fault(user);
            if (fault == Fault::tolerated) text += "; the daemon ignores it";
            diagnostics_.error(where.element(index, array[index].place()), std::move(text), fault);
        }
    }

    void watches(const json::Value& value, const Where& where) {
        const auto* array = value.array();
        if (array == nullptr) return watch(value, where);
        for (std::size_t index = 0; index < array->size(); ++index)
            watch((*array)[index], where.element(index, (*array)[index].place()));
    }

    void watch(const json::Value& value, const Where& where) {
        if (value.object() == nullptr)
            return diagnostics_.error(where, fmt::format("must be an object, not {}", type_of(value)));
        const auto* name = value.find("name");
        const std::string user = name != nullptr && name->string() != nullptr ? *name->string() : "";
        members(*value.object(), "link_watch", where, user);
        for (const auto* key : members_of("link_watch"))
            if (key->required && key->is_used_by(user) && value.find(key->name()) == nullptr)
                diagnostics_.error(where, fmt::format("{} is missing: {} needs it", key->name(),
                                                      user.empty() ? "every link watch" : user));
    }

    Diagnostics& diagnostics_;
    std::string_view runner_;
};

} // namespace

std::string fault_of(const Key& key, const json::Value& value) {
    if (!has_shape(key.shape, value))
        return fmt::format("must be {}, not {}", name_of(key.shape), type_of(value));
    if (const auto* string = value.string()) return word_fault(key, *string);
    if (const auto* integer = value.integer()) return range_fault(key, *integer);
    return {};
}

std::string_view runner_name(const json::Value& document) {
    const auto& key = *find_key("runner.name");
    const auto* runner = document.find("runner");
    const auto* name = runner == nullptr ? nullptr : runner->find("name");
    if (name != nullptr && fault_of(key, *name).empty()) return *name->string();
    return std::get<std::string_view>(key.fallback);
}

void check_document(const json::Value& document, Diagnostics& diagnostics) {
    const auto runner = runner_name(document);
    Checker(diagnostics, runner).members(*document.object(), "", {"", document.place()}, runner);
}

} // namespace teamo::config
