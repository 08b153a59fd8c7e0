# SPDX-License-Identifier: LGPL-2.1-or-later
# cmake -DSOURCE=DIRECTORY -P tests/version.cmake: the version stands in CMakeLists.txt; what cannot be made from it has the same.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE}/CMakeLists.txt line REGEX "^project\\(teamd-offload VERSION ")
string(REGEX REPLACE "^project\\(teamd-offload VERSION ([0-9.]+).*" "\\1" version "${line}")

# has(FILE PATTERN WHAT): the first line that matches PATTERN has the version in its parentheses.
function(has file pattern what)
    file(STRINGS ${SOURCE}/${file} lines REGEX "${pattern}")
    list(POP_FRONT lines first)
    string(REGEX MATCH "${pattern}" ignored "${first}")
    if(NOT CMAKE_MATCH_1 STREQUAL version)
        message(SEND_ERROR "${file}: ${what} is \"${CMAKE_MATCH_1}\", but the version in CMakeLists.txt is ${version}")
    endif()
endfunction()
has(packaging/debian/changelog "^teamd-offload \\(([^)]+)\\)" "the version of the first entry")
has(packaging/rpm/teamd-offload.spec "^Version: +(.+)$" "Version")
has(packaging/rpm/teamd-offload.spec "^\\* .* - ([^ ]+)-[0-9]+$" "the version of the first entry of %changelog")
has(CHANGELOG.md "^## .([0-9.]+)" "the first heading")
