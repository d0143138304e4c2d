/* The functions over whole rows that are compiled once for each instruction set. */
#ifndef SMP_LAB_SASS_LANES_H
#define SMP_LAB_SASS_LANES_H

#include "lab/sass/run.h"

#ifndef SMP_ISA
#define SMP_ISA base
#endif
#define SASS_JOIN_(a, b) sass_##a##_##b
#define SASS_JOIN(a, b)  SASS_JOIN_(a, b)
#define SASS_NAME(name)  SASS_JOIN(name, SMP_ISA)

warp_execute SASS_NAME(copy), SASS_NAME(add3), SASS_NAME(add3_carry), SASS_NAME(multiply), SASS_NAME(multiply_wide),
    SASS_NAME(lea), SASS_NAME(logic), SASS_NAME(shift), SASS_NAME(compare), SASS_NAME(select), SASS_NAME(permute),
    SASS_NAME(minmax), SASS_NAME(add_minmax), SASS_NAME(unary), SASS_NAME(fadd), SASS_NAME(fmul), SASS_NAME(ffma),
    SASS_NAME(fminmax), SASS_NAME(fcompare), SASS_NAME(halves), SASS_NAME(doubles), SASS_NAME(dcompare);

#endif
