/* Runs a kernel of a fuzz target, whatever it is: small, for a short time, on one buffer to which each parameter of 64
 * bits points. What it computes is nobody's; it touches nothing but its own memory, and ends. */
#ifndef SMP_FUZZ_KERNEL_H
#define SMP_FUZZ_KERNEL_H

#include <stdlib.h>
#include <string.h>

#include "lab/machine/warp.h"

static inline void fuzz_kernel_run(const smp_warp_kernel *kernel, smp_warp_memory *memory)
{
    enum { BUFFER = 4096, PARAMS = 1 << 16, DYNAMIC = 1024 };
    static const uint32_t blocks[] = {64, 33, 1};
    const size_t size = smp_warp_kernel_param_bytes(kernel);
    void *buffer = smp_warp_buffer(memory, BUFFER, "x");
    unsigned char *params = size && size <= PARAMS ? malloc(size) : NULL; /* a look past its end is an error */
    const uint64_t address = (uint64_t)(uintptr_t)buffer;
    for (size_t at = 0; params && at < size; at++)
        params[at] = (unsigned char)(address >> 8 * (at % sizeof address));
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0] && buffer && (params || !size); i++) {
        smp_warp_result result;
        smp_error err = {0};
        const smp_warp_launch launch = {.kernel = kernel,
                                        .grid = {2, 1, 1},
                                        .block = {blocks[i], 1, 1},
                                        .dynamic_shared = i ? 0 : DYNAMIC,
                                        .params = params,
                                        .memory = memory,
                                        .each_instruction = true,
                                        .seconds = 0.02};
        if (smp_warp_run(&launch, &result, &err) && !err.message[0])
            abort();
        smp_warp_result_free(&result);
    }
    free(params);
}

#endif
