// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generator/generate.h"

#include "config/config_file.h"
#include "generator/unit_rights.h"
#include "kernel/files/files.h"

#include <system_error>

namespace teamo {
namespace {

std::string drop_in_of(const std::filesystem::path& file) {
    const auto text = read_file(file);
    if (!text) return {};
    const auto read = read_configuration(*text, file.stem().native());
    return read.configuration ? drop_in(rights_of(read.configuration->team)) : std::string();
}

} // namespace

std::vector<Error> generate_drop_ins(const std::filesystem::path& configurations,
                                     const std::filesystem::path& units) {
    std::vector<Error> errors;
    std::error_code none; // no folder: no team
    for (const auto& entry : std::filesystem::directory_iterator(configurations, none)) {
        if (entry.path().extension() != ".conf") continue;
        const auto text = drop_in_of(entry.path());
        if (text.empty()) continue;
        const auto folder = units / ("teamd-offload@" + entry.path().stem().native() + ".service.d");
        std::error_code failed;
        std::filesystem::create_directories(folder, failed);
        auto written = failed ? Result<>(fail_errno(failed.value(), folder.native()))
                              : replace_file(folder / "rights.conf", text, 0644);
        if (!written) errors.push_back(std::move(written.error()));
    }
    return errors;
}

} // namespace teamo
