/* Stages that work sample by sample, on the GPU through the emulator: the CPU's bytes for every variant, format, size,
 * stride and thread order. */
#include "gpu_case.h"

extern const smp_stage smp_stage_invert;

static void invert_(void **state)
{
    (void)state;
    gpu_matrix("invert");
    gpu_trace_all("invert");
    kernel_case c = {.stage = &smp_stage_invert, .in = case_shape(61, 45, 3, SMP_U8), .in_storage=SMP_F32, .values=CASE_REALS};
    gpu_views_check(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invert_),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
