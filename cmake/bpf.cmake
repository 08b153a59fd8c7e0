# SPDX-License-Identifier: LGPL-2.1-or-later
# teamo_bpf(NAME SKELETON HEADERS...): compiles NAME.bpf.c of this folder into the skeleton header NAME.skel.h in
# the build folder; its functions begin with SKELETON. The target is teamo_bpf_NAME.
# -mcpu=v3 (32-bit arithmetic and jumps) needs kernel 5.1; without it clang 14 emits v1.
# <linux/types.h> includes asm/types.h, which Debian has in the folder of its architecture.
function(teamo_bpf name skeleton_name)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
    set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h)
    set(multiarch)
    if(CMAKE_LIBRARY_ARCHITECTURE)
        set(multiarch -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
    endif()
    add_custom_command(OUTPUT ${object} ${skeleton}
        COMMAND ${CLANG} -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror ${multiarch}
                -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                -c ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c -o ${object}.debug
        # Linking the single object drops DWARF and keeps BTF.
        COMMAND ${BPFTOOL} gen object ${object} ${object}.debug
        COMMAND ${BPFTOOL} gen skeleton ${object} name ${skeleton_name} > ${skeleton}.new
        COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
        DEPENDS ${name}.bpf.c ${ARGN}
        COMMENT "BPF programs ${name}.bpf.c"
        VERBATIM)
    add_custom_target(teamo_bpf_${name} DEPENDS ${skeleton})
endfunction()
