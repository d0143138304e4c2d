/* The functions over whole rows that are compiled once for each instruction set. */
#pragma once

#include "lab/sass/run.h"

#ifndef SMP_ISA
#define SMP_ISA base
#endif
#define SASS_JOIN_(a, b) sass_##a##_##b
#define SASS_JOIN(a, b)  SASS_JOIN_(a, b)
#define SASS_NAME(name)  SASS_JOIN(name, SMP_ISA)

#define SASS_DECLARE(upper, lower) warp_execute SASS_NAME(lower);
SASS_FUNCTION_LIST(SASS_DECLARE)

#define RUN(name) void SASS_NAME(name)(warp_block * block, warp_frame * frame, const warp_inst *inst, uint32_t lanes)
#define BEGIN                                                                                                          \
    const sass_op *op = inst->extra;                                                                                   \
    uint32_t r[WARP_LANES];                                                                                            \
    (void)block;
