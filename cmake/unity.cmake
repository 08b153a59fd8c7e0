# SPDX-License-Identifier: LGPL-2.1-or-later
# Compiles the files of a folder in batches: templates of shared headers are instantiated once per batch, which halves
# the build time. So names in unnamed namespaces must be unique in a folder. TEAMO_UNITY=OFF compiles each file by
# itself, which is faster after a change of one file.
option(TEAMO_UNITY "compile files in batches" ON)

# teamo_unity(TARGET): all files of the target except those with SKIP_UNITY_BUILD_INCLUSION.
function(teamo_unity target)
    if(TEAMO_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 28)
    endif()
endfunction()
