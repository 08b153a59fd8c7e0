// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/interrupts/udev_policy.h"

#include "base/handle.h"
#include "base/take_until.h"
#include "kernel/files/files.h"

#include <systemd/sd-device.h>

namespace teamo {
namespace {

using UdevDevice = Handle<sd_device, sd_device_unref>;

constexpr std::string_view key = "IRQAffinityPolicy";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The logical lines: a backslash at the end joins two lines with a blank. Comments are left out.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    std::string line;
    while (!text.empty()) {
        auto part = take_until(text, "\n");
        const auto content = trimmed(part);
        if (content.starts_with('#') || content.starts_with(';')) continue;
        const bool goes_on = part.ends_with('\\');
        if (goes_on) part.remove_suffix(1);
        line += part;
        if (goes_on) line += ' ';
        if (!goes_on) lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) lines.push_back(std::move(line));
    return lines;
}

/// Empty: set to an empty value; none: not set.
std::optional<std::string> policy_in(std::string_view text) {
    std::optional<std::string> policy;
    bool in_link = false;
    for (const auto& whole : lines_of(text)) {
        const auto line = trimmed(whole);
        if (line.starts_with('[')) in_link = line == "[Link]";
        const auto equals = line.find('=');
        if (in_link && equals != std::string_view::npos && trimmed(line.substr(0, equals)) == key)
            policy = trimmed(line.substr(equals + 1));
    }
    return policy;
}

std::string_view property(sd_device* device, const char* name) {
    const char* value = nullptr;
    return sd_device_get_property_value(device, name, &value) < 0 ? "" : value;
}

} // namespace

std::optional<UdevIrqPolicy> find_udev_irq_policy(std::span<const ConfigText> files) {
    std::optional<UdevIrqPolicy> found;
    for (const auto& file : files)
        if (const auto policy = policy_in(file.text)) {
            found.reset();
            if (!policy->empty()) found = {file.path, fmt::format("{}={}", key, *policy)};
        }
    return found;
}

std::vector<std::string> parse_udev_paths(std::string_view text) {
    std::vector<std::string> paths;
    std::string path;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && at + 1 < text.size())
            path += text[++at];
        else if (text[at] != ':')
            path += text[at];
        else if (!path.empty())
            paths.push_back(std::exchange(path, {}));
    }
    if (!path.empty()) paths.push_back(std::move(path));
    return paths;
}

Result<std::optional<UdevIrqPolicy>> read_udev_irq_policy(IfIndex device) {
    sd_device* found = nullptr;
    if (const int error = sd_device_new_from_ifindex(&found, static_cast<int>(device.value)); error < 0)
        return fail_errno(-error, fmt::format("device {}", device.value));
    const UdevDevice owned(found);
    const auto file = property(found, "ID_NET_LINK_FILE");
    if (file.empty()) return std::optional<UdevIrqPolicy>();
    auto paths = parse_udev_paths(property(found, "ID_NET_LINK_FILE_DROPINS"));
    paths.insert(paths.begin(), std::string(file));
    std::vector<ConfigText> texts;
    for (auto& path : paths)
        if (auto text = read_file(path)) // a removed file has no effect at the next event
            texts.push_back({std::move(path), std::move(*text)});
    return find_udev_irq_policy(texts);
}

} // namespace teamo
