# SPDX-License-Identifier: LGPL-2.1-or-later
#
# ctest reads this whenever it runs: one case for each boot that the tests declare (declarations.cmake). Labels: `lab`
# for tests, also `long` for those that only `./quickstart test --all` runs, `compare` for measurements.
include(${CMAKE_CURRENT_LIST_DIR}/declarations.cmake)
get_filename_component(tests "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
get_filename_component(checkout "${tests}" DIRECTORY)
lab_read(${tests})
foreach(name IN LISTS lab_cases)
    string(REPLACE " " ";" guest "${lab_guest_${name}}")
    add_test(lab.${name} ${tests}/lab/lab ${guest} -- tests/lab/steps.sh ${lab_steps_${name}})
    # Longest first: two guests side by side are done at about the same time.
    math(EXPR cost "${lab_seconds_${name}} + 8")
    math(EXPR timeout "600 + 5 * ${cost}")
    set(labels lab)
    set(alone OFF)
    if(lab_set_${name} STREQUAL long)
        list(APPEND labels long)
    elseif(lab_set_${name} STREQUAL compare)
        set(labels compare)
        set(alone ON) # measurements need the machine without other load
        set(timeout 2400)
    endif()
    # Fails if the filter selects nothing, or only skipped tests.
    set_tests_properties(lab.${name} PROPERTIES WORKING_DIRECTORY ${checkout} LABELS "${labels}" COST ${cost}
        TIMEOUT ${timeout} RUN_SERIAL ${alone} FAIL_REGULAR_EXPRESSION "PASSED  \\] 0 tests"
        ENVIRONMENT TEAMO_LAB_CASE=lab.${name})
endforeach()
