# SPDX-License-Identifier: LGPL-2.1-or-later
# Files of a folder are compiled in batches: what their headers instantiate is compiled once a batch, and a build takes
# half of the time. So names in unnamed namespaces are unique in a folder. TEAMO_UNITY=OFF compiles each file by itself,
# which is quicker for those who change one.
option(TEAMO_UNITY "compile files in batches" ON)

# teamo_unity(TARGET [FILES…]): all files of the target, or but for FILES, which are compiled by themselves.
function(teamo_unity target)
    if(NOT TEAMO_UNITY)
        return()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
    if(ARGN)
        set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
endfunction()
