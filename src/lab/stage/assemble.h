/* Makes SASS of PTX, and text of SASS, once each: ptxas and nvdisasm. What they made is kept by the file's bytes and
 * the architecture, beside what compile.h keeps. */
#pragma once

#include "base/error.h"
#include "lab/stage/nvcc_flags.h"
#include "stages/foreign.h"

/* Chooses the code that is counted: *sass is the path of nvdisasm's text of a PTX file, or of a cubin, beside which
 * lies code.cubin; from smp_alloc. Null: PTX is counted, and why says the reason. wanted: "sass", an error where that
 * cannot be; "ptx"; null: the best that is there. arch: "sm_90". flags: of ptxas, may be null. reach: null: the file is
 * the user's own. */
enum { SMP_ASSEMBLE_WHY = 200 };
smp_code smp_assemble(const char *file, const char *arch, const char *wanted, const smp_flag_list *flags,
                      const smp_kernel_reach *reach, char **sass, char why[SMP_ASSEMBLE_WHY], smp_error *err);

/* The cubin of the user's PTX file, or a cubin itself: a path, from smp_alloc. Null: there is no ptxas, or it refuses.
 */
char *smp_assemble_cubin(const char *file, const char *arch, const smp_flag_list *flags);

const char *smp_compile_arch(const char *arch); /* "90" of "sm_90" */
