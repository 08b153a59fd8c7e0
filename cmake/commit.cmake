# SPDX-License-Identifier: LGPL-2.1-or-later
cmake_minimum_required(VERSION 3.25)
# Writes the commit that is built into a header: cmake -D SOURCE=… -D HEADER=… -P commit.cmake. Empty in a source
# archive. The header is written only if the commit is another one.
set(commit "")
if(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT
"#pragma once
namespace teamo {
inline constexpr const char* program_commit = \"@commit@\";
}
" @ONLY)
