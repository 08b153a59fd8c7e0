# SPDX-License-Identifier: LGPL-2.1-or-later
cmake_minimum_required(VERSION 3.25)
# Writes the commit that is built into a header: cmake -D SOURCE=… -D HEADER=… -P commit.cmake. Empty in a source
# archive. The header is written only if the commit is another one.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
    set(commit "")
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT
"#pragma once
namespace teamo {
inline constexpr const char* program_commit = \"@commit@\";
}
" @ONLY)
