# SPDX-License-Identifier: LGPL-2.1-or-later
# One interface target has the flags, so that all our targets use the same.
add_library(teamo_flags INTERFACE)
target_compile_options(teamo_flags INTERFACE
    -Wall -Wextra -Wconversion -Wold-style-cast -Wnon-virtual-dtor -Wswitch
    -fstack-protector-strong
    # By itself g++ collects garbage from a few MiB on, which takes a twelfth of the time of a batch. So a batch takes 0.1
    # to 0.3 GiB more.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${TEAMO_UNITY}>>:SHELL:--param ggc-min-heapsize=1048576>"
    # Names of one file must not cause warnings in the next of its batch (cmake/unity.cmake): g++ checks locals only,
    # and clang++, which cannot, nothing.
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    # clang++'s -Wconversion has more than that of g++.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>
    # g++ 12 warns falsely about inactive alternatives of a std::variant (GCC PR 105562 and similar).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<BOOL:${TEAMO_WERROR}>:-Werror>)
target_compile_definitions(teamo_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_link_options(teamo_flags INTERFACE -Wl,-z,relro,-z,now)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_definitions(teamo_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(not_sanitized -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize.ignore)
endif()
if(TEAMO_SANITIZE)
    # -O1 for lib/: no longer to compile, half the run time. tests/ and teamd-offload/ set other options. What the fuzzers
    # (tests/fuzz) watch costs little, so that one build serves both. object-size sees less than the address sanitizer, and
    # costs a sixth of the compilation.
    add_compile_options(-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=object-size -fno-sanitize-recover=all ${not_sanitized} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
if(TEAMO_COVERAGE)
    add_compile_options(--coverage)
    add_link_options(--coverage)
endif()

# teamo_layer(NAME LINKS...): makes a folder of lib/ a target. Each header must compile alone, and
# tests/layers.cmake rejects an include of a folder that it may not use.
function(teamo_layer name)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
    list(FILTER headers EXCLUDE REGEX "\\.bpf\\.h$")
    if(sources)
        add_library(teamo_${name} STATIC ${sources})
        set(scope PUBLIC)
        target_link_libraries(teamo_${name} PRIVATE teamo_flags)
        if(name STREQUAL base)
            teamo_precompile(teamo_base ${TEAMO_COMMON_HEADERS})
        else()
            teamo_precompile(teamo_${name} REUSE_FROM teamo_base)
        endif()
        teamo_unity(teamo_${name})
        set_target_properties(teamo_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
        target_sources(teamo_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/lib FILES ${headers})
    else()
        add_library(teamo_${name} INTERFACE)
        set(scope INTERFACE)
        target_sources(teamo_${name} INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/lib FILES ${headers})
        set_target_properties(teamo_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    endif()
    target_include_directories(teamo_${name} ${scope} ${PROJECT_SOURCE_DIR}/lib)
    target_link_libraries(teamo_${name} ${scope} ${ARGN})
endfunction()
