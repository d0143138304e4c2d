/* Block sizes of a matrix product on the CPU: for kernel files (matmul_cpu.h) and the stage, which asks for the memory.
 */
#pragma once

/* In samples, and the bytes of scratch memory for all of them. */
enum {
    SMP_MATMUL_CPU_ROWS = 192,    /* of the output */
    SMP_MATMUL_CPU_COLUMNS = 512, /* of the output */
    SMP_MATMUL_CPU_DEPTH = 192,   /* of k */
    SMP_MATMUL_CPU_PITCH =
        SMP_MATMUL_CPU_DEPTH + 16, /* from a row of L to the next: rows on different sets of a cache */
    SMP_MATMUL_CPU_SCRATCH = 4 * (SMP_MATMUL_CPU_ROWS * (SMP_MATMUL_CPU_COLUMNS + SMP_MATMUL_CPU_PITCH) +
                                  SMP_MATMUL_CPU_COLUMNS * SMP_MATMUL_CPU_DEPTH)
};
