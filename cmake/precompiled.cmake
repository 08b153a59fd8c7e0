# SPDX-License-Identifier: LGPL-2.1-or-later
# Parses the headers that nearly every file includes once per kind of target, not once per file: that was a third of
# the build time. Every file must still include what it uses; a build with TEAMO_PRECOMPILE=OFF checks that.
option(TEAMO_PRECOMPILE "parse the standard headers once" ON)
set(TEAMO_COMMON_HEADERS
    <algorithm> <array> <charconv> <chrono> <filesystem> <fstream> <functional> <map> <memory> <optional> <random> <set>
    <span> <sstream> <string> <string_view> <variant> <vector> <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp>)
set(TEAMO_TEST_HEADERS ${TEAMO_COMMON_HEADERS} <gmock/gmock.h>)

# teamo_precompile(TARGET HEADER… | REUSE_FROM TARGET)
function(teamo_precompile target)
    if(NOT TEAMO_PRECOMPILE)
        return()
    endif()
    if(ARGV1 STREQUAL REUSE_FROM)
        target_precompile_headers(${target} REUSE_FROM ${ARGV2})
        return()
    endif()
    target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()
