/* Texts of kernels that no compiler writes are refused, or run, without a look beyond them: found by tests/fuzz. */
#include <string.h>

#include "suite.h"

#include "lab/machine/warp.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Loads a module and runs its first kernel, if there is one. */
static void load(const char *text, size_t size)
{
    enum { WORDS = 128 };
    smp_error err = {0};
    smp_warp_memory *memory = NULL;
    smp_warp_module *module = NULL;
    smp_warp_result result = {0};
    assert_int_equal(smp_warp_memory_open(&memory, &err), SMP_OK);
    const uint64_t words = (uint64_t)(uintptr_t)smp_warp_buffer(memory, WORDS * sizeof(uint32_t), "words");
    if (smp_warp_load_ptx("a.ptx", text, size, memory, &module, &err) == SMP_OK && smp_warp_kernel_at(module, 0)) {
        const smp_warp_launch launch = {.kernel = smp_warp_kernel_at(module, 0),
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .params = &words,
                                        .memory = memory};
        (void)smp_warp_run(&launch, &result, &err);
    }
    smp_warp_result_free(&result);
    smp_warp_module_free(module);
    smp_warp_memory_close(memory);
}

SMP_TEST(a_text_that_ends_within_quotes_is_not_read_beyond)
{
    static const char text[] = HEAD ".func  (.param .b3\" func_retval0) f(\n\t.param .b32 p\n)\n{\nret;\n}";
    char *exact = test_malloc(sizeof text - 1); /* a sanitizer sees the first byte behind it */
    memcpy(exact, text, sizeof text - 1);
    load(exact, sizeof text - 1);
    test_free(exact);
}

SMP_TEST(an_operand_that_is_not_there_is_no_name)
{
    static const char text[] =
        HEAD ".visible .entry op(.param .u64 p0)\n{\n.reg .b32 %r<12>; .reg .b64 <12>; .reg .b64 "
             "%d<8>;\nld.param.u64 %d0, [p0];\ncvt.rzi.s32.f32 \0r4, %r1;\nst.global.u32 [%d0], "
             "%r4;\nret;\n}\n";
    load(text, sizeof text - 1);
}
