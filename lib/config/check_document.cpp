// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/steps.h"
#include "json/fields.h"
#include "json/quote.h"

#include <fmt/ranges.h>

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

/// Optimal string alignment distance (Damerau 1964, restricted): a swap of two neighbours counts as one.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j)
        cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

std::string did_you_mean(std::string_view written, std::span<const std::string_view> known) {
    const auto word = nearest(written, known);
    return word.empty() ? "" : fmt::format("; did you mean \"{}\"?", word);
}

std::string word_fault(const Key& key, const std::string& written) {
    const auto words = key.rules.words;
    if (words.empty() || std::ranges::find(words, written) != words.end()) return {};
    // "runner.name" is reported as "runner"; for an offload the document's key names the feature already.
    const auto what = key.name() == "name" ? key.parent() : key.name() == "FEATURE" ? "value" : key.name();
    return fmt::format("unknown {} {}; valid values: {}{}", what, json::quote(written),
                       fmt::join(words, ", "), did_you_mean(written, words));
}

std::string range_fault(Range range, std::int64_t number) {
    if (number >= range.least && number <= range.most) return {};
    return fmt::format("{} is out of range; valid values: {} to {}", number, range.least, range.most);
}

/// What the daemon does about a value that it cannot use.
std::string consequence(const Key& key, Fault fault) {
    if (fault == Fault::refused) return {};
    const auto fallback = text_of(key.rules.fallback);
    return fallback.empty() ? "; the daemon ignores it"
                            : fmt::format("; the daemon uses the default {}", fallback);
}

/// The objects that have a key of this name.
std::vector<std::string_view> holders_of(std::string_view name) {
    std::vector<std::string_view> holders;
    for (const auto& key : keys())
        if (const auto parent = key.parent();
            find_member(parent, name) != nullptr && std::ranges::find(holders, parent) == holders.end())
            holders.push_back(parent);
    return holders;
}

/// What may have been meant by a key that an object does not have.
std::string advice_on(std::string_view written, std::string_view path) {
    auto holders = holders_of(written);
    if (holders.empty()) return did_you_mean(written, member_names(path));
    std::ranges::replace(holders, "", "the outermost object");
    return fmt::format("; it belongs in {}", fmt::join(holders, " or "));
}

/// The document's runner; the default if it names none.
std::string_view runner_name(const json::Value& document) {
    const auto& key = *find_key("runner.name");
    const auto& name = json::child(json::child(document, "runner"), "name");
    return fault_of(key, name).empty() ? *name.string() : std::get<std::string_view>(key.rules.fallback);
}

class Checker {
public:
    Checker(Diagnostics& diagnostics, std::string_view runner) : diagnostics_(diagnostics), runner_(runner) {}

    /// `user`: the runner or link watch that reads the object.
    void members(const Located& object, std::string_view path, std::string_view user) {
        for (const auto& member : *object.value.object())
            if (const auto* key = find_member(path, member.key))
                value(*key, object.member(member), user);
            else
                unknown(member, path, object.where);
    }

private:
    void unknown(const json::Member& member, std::string_view path, const Where& where) {
        if (diagnostics_.has_warned_enough()) return;
        diagnostics_.warning(
            where.member(member.key, member.key_place),
            fmt::format("unknown key {}{}", json::quote(member.key), advice_on(member.key, path)));
    }

    void value(const Key& key, const Located& found, std::string_view user) {
        const auto shape = key.rules.shape;
        if (const auto text = fault_of(key, found.value); !text.empty()) {
            const auto fault = has_shape(shape, found.value) ? key.value_fault(user) : key.rules.wrong_shape;
            report(key, found.where, {fault, text, consequence(key, fault)}, user);
        } else if (shape == Shape::object) {
            members(found, key.inner(), user);
        } else if (shape == Shape::ports) {
            for (const auto& port : *found.value.object())
                value(*find_key("ports.PORTIFNAME"), found.member(port), runner_);
        } else if (shape == Shape::strings) {
            found.each([&](const Located& element) { word(key, element, user); });
        } else if (shape == Shape::watches) {
            found.each([&](const Located& element) { watch(element); });
        } else if (shape == Shape::objects) {
            found.each([&](const Located& element) {
                if (is_object(element)) members(element, key.inner(), user);
            });
        }
    }

    struct InvalidValue {
        Fault fault;
        std::string why, consequence;
    };
    /// A value that nothing reads is not an error.
    void report(const Key& key, const Where& where, const InvalidValue& value, std::string_view user) {
        if (key.is_used_by(user) || user.empty())
            diagnostics_.error(where, value.why + value.consequence, value.fault);
        else
            diagnostics_.warning(where, fmt::format("{}; this key has no effect, because {} does not use it",
                                                    value.why, user));
    }

    /// Reports an element that is not an object.
    bool is_object(const Located& element) {
        if (element.value.object() != nullptr) return true;
        diagnostics_.error(element.where, fmt::format("must be an object, not {}", type_of(element.value)));
        return false;
    }

    void word(const Key& key, const Located& element, std::string_view user) {
        const auto* written = element.value.string();
        auto text = written == nullptr ? fmt::format("must be a string, not {}", type_of(element.value))
                                       : word_fault(key, *written);
        if (text.empty()) return;
        const auto fault = written == nullptr ? Fault::tolerated : key.value_fault(user);
        report(key, element.where,
               {fault, std::move(text), fault == Fault::tolerated ? "; the daemon ignores it" : ""}, user);
    }

    void watch(const Located& watch) {
        if (!is_object(watch)) return;
        const auto name = json::text(watch.value, "name");
        if (runner_ == "slb" && (name == "arp_ping" || name == "nsna_ping" || name == "tipc"))
            diagnostics_.error(watch.where,
                               fmt::format("{} cannot be used with the runner slb, because by its probes the "
                                           "switches would learn the team's address at every port; use "
                                           "ethtool or loss",
                                           name));
        members(watch, "link_watch", name);
        for (const auto* key : members_of("link_watch"))
            if (key->rules.required && key->is_used_by(name) && watch.value.find(key->name()) == nullptr)
                diagnostics_.error(watch.where, fmt::format("{} is missing: {} needs it", key->name(),
                                                            name.empty() ? "every link watch" : name));
    }

    Diagnostics& diagnostics_;
    std::string_view runner_;
};

} // namespace

std::string_view nearest(std::string_view written, std::span<const std::string_view> known) {
    // No option is that long, and the cost of distance() is quadratic.
    if (written.size() > 64) return {};
    std::string_view best;
    std::size_t least = std::max<std::size_t>(1, written.size() / 3) + 1;
    for (const auto word : known)
        if (const auto here = distance(written, word); here < least) {
            least = here;
            best = word;
        }
    return best;
}

std::string fault_of(const Key& key, const json::Value& value) {
    if (!has_shape(key.rules.shape, value))
        return fmt::format("must be {}, not {}", name_of(key.rules.shape), type_of(value));
    if (const auto* string = value.string()) return word_fault(key, *string);
    if (const auto* integer = value.integer()) return range_fault(key.rules.range, *integer);
    return {};
}

void check_document(const json::Value& document, Diagnostics& diagnostics) {
    const auto runner = runner_name(document);
    Checker(diagnostics, runner).members({document, {"", document.place()}}, "", runner);
}

} // namespace teamo::config
