/* What a compiler said, and in which of the program's files. */
#pragma once

#include "base/error.h"
#include "base/os/tool.h"
#include "lab/stage/nvcc_flags.h"
#include "stages/foreign.h"

/* Shows the compiler's messages on standard error. Its failure is an error at one of the files: at `file`, unless the
 * messages begin with another of `sources` (may be null); a name that the linker misses is told itself. */
smp_code smp_compile_tell(const smp_tool *tool, const smp_tool_end *end, const char *file, const smp_flag_list *sources,
                          const smp_kernel_reach *reach, smp_error *err);
