/* libFuzzer entry: SASS as nvdisasm writes it, and the cubin that it is of. Two bytes say how long the text is; what
 * follows it is the cubin. The PTX beside them is always the same. The kernels run. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char twin[] = ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 v[64];\n"
                           ".const .align 4 .b8 k[64];\n.visible .entry op(.param .u64 p0)\n{\n"
                           ".shared .align 16 .b8 s[4096];\nret;\n}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 2 };
    if (size < HEAD)
        return 0;
    const size_t said = (size_t)(data[0] | data[1] << 8), length = said < size - HEAD ? said : size - HEAD;
    const size_t cubin_size = size - HEAD - length;
    void *cubin = cubin_size ? malloc(cubin_size) : NULL; /* of its own: a look past its end is an error */
    smp_warp_memory *memory = NULL;
    smp_warp_module *ptx = NULL, *sass = NULL;
    smp_error err = {0};
    smp_alloc_limit(UINT64_C(1) << 28);
    const uint64_t live = smp_alloc_live();
    if (cubin)
        memcpy(cubin, data + HEAD + length, cubin_size);
    if (!smp_warp_memory_open(&memory, &err) &&
        !smp_warp_load_ptx("twin.ptx", twin, sizeof twin - 1, memory, &ptx, &err) &&
        smp_warp_load_sass("fuzz.sass", (const char *)data + HEAD, length, cubin, cubin_size, data[0] & 1 ? ptx : NULL,
                           memory, &sass, &err) &&
        !err.message[0])
        abort();
    for (size_t i = 0; sass && i < smp_warp_kernel_count(sass); i++)
        fuzz_kernel_run(smp_warp_kernel_at(sass, i), memory);
    smp_warp_module_free(sass);
    smp_warp_module_free(ptx);
    smp_warp_memory_close(memory);
    free(cubin);
    if (smp_alloc_live() != live)
        abort();
    return 0;
}
