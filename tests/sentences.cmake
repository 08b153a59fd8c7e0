# SPDX-License-Identifier: LGPL-2.1-or-later
# cmake -DSOURCE=DIRECTORY -P tests/sentences.cmake: no code decides by a sentence that people read. A literal with a blank, or a
# constant that is one, is not compared. What reads the kernel's own words may: lib/kernel, and two readers of /proc.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE sources RELATIVE ${SOURCE} ${SOURCE}/lib/*.cpp ${SOURCE}/lib/*.h ${SOURCE}/teamd-offload/*.cpp ${SOURCE}/teamd-offload/*.h)
list(FILTER sources EXCLUDE REGEX "^lib/kernel/|^lib/workers/processes\\.cpp|^teamd-offload/bench/run/read_machine\\.cpp")

set(sentence "\"[^\"]*[^ \"] [^\"]*\"|\"[^\"]* [^ \"][^\"]*\"")
set(names)
foreach(source IN LISTS sources)
    file(STRINGS ${SOURCE}/${source} lines REGEX "constexpr (const char\\*|std::string_view) [a-z_]+ ?=? ?{?(${sentence})")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "([a-z_]+) ?=? ?{?\"" ignored "${line}")
        list(APPEND names ${CMAKE_MATCH_1})
    endforeach()
endforeach()
string(REPLACE ";" "|" names "${names}")
set(what "(${sentence}|(${names})[^a-z_])")
foreach(source IN LISTS sources)
    file(STRINGS ${SOURCE}/${source} lines REGEX "([=!]= ?|(starts_with|ends_with|contains|find|rfind|erase|count)\\(([^()\"]*, )?)${what}")
    foreach(line IN LISTS lines)
        message(SEND_ERROR "${source}: decides by a sentence: ${line}")
    endforeach()
endforeach()
