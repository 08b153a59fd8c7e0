// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The programs of forward.bpf.c for kernels without bpf_rdonly_cast(): a name that the kernel does not know
 * is looked for in all modules, and libbpf 1.1 fails if it may not read their types (CAP_SYS_ADMIN).
 */
#define TEAMO_WITHOUT_CAST
#include "forward.bpf.c"
