/* libFuzzer entry: PTX, as `smempipe kernel` reads it: any text gives a module or an error, and its kernels run. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    smp_warp_memory *memory;
    smp_warp_module *module = NULL;
    smp_error err = {0};
    const smp_warp_param *params;
    smp_alloc_limit(UINT64_C(1) << 28);
    const uint64_t live = smp_alloc_live();
    if (smp_warp_memory_open(&memory, &err))
        return 0;
    if (!smp_warp_load_ptx("fuzz.ptx", (const char *)data, size, memory, &module, &err))
        for (size_t i = 0; i < smp_warp_kernel_count(module); i++) {
            const smp_warp_kernel *kernel = smp_warp_kernel_at(module, i);
            smp_warp_kernel_params(kernel, &params);
            if (strlen(smp_warp_kernel_name(kernel)) > strlen(smp_warp_kernel_symbol(kernel)))
                abort();
            fuzz_kernel_run(kernel, memory);
        }
    else if (!err.code || !err.message[0])
        abort();
    smp_warp_module_free(module);
    smp_warp_memory_close(memory);
    if (smp_alloc_live() != live)
        abort();
    return 0;
}
