# SPDX-License-Identifier: LGPL-2.1-or-later
# Files of a folder are compiled in batches: what their headers instantiate is compiled once a batch, and a build takes
# half of the time. So names in unnamed namespaces are unique in a folder. TEAMO_UNITY=OFF compiles each file by itself,
# which is quicker for those who change one.
option(TEAMO_UNITY "compile files in batches" ON)

# teamo_unity(TARGET): all files of the target, but for those with SKIP_UNITY_BUILD_INCLUSION.
function(teamo_unity target)
    if(TEAMO_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
    endif()
endfunction()
