/* The compiler's reports about GPU kernels, found by name and architecture. */

#include "suite.h"

#include "device/kernel_table.h"

static const char text[] = "blur_u8_u8 75 40 4224 0\n"
                           "blur_u8_u8 90 38 4224 16\n"
                           "blur_u8_u8x 90 99 0 0\n"
                           "copy 86 12 0 0\n";

SMP_TEST(the_asked_architecture_is_taken)
{
    smp_kernel_usage usage;
    assert_true(smp_kernel_usage_find(text, "blur_u8_u8", 90, &usage));
    assert_int_equal(usage.arch, 90);
    assert_int_equal(usage.registers, 38);
    assert_int_equal(usage.static_shared, 4224);
    assert_int_equal(usage.stack, 16);
}

SMP_TEST(else_the_nearest)
{
    smp_kernel_usage usage;
    assert_true(smp_kernel_usage_find(text, "blur_u8_u8", 80, &usage));
    assert_int_equal(usage.arch, 75);
    assert_true(smp_kernel_usage_find(text, "copy", 120, &usage));
    assert_int_equal(usage.arch, 86);
    assert_int_equal(usage.registers, 12);
}

SMP_TEST(what_is_not_there_is_not_found)
{
    smp_kernel_usage usage;
    assert_false(smp_kernel_usage_find(text, "blur", 90, &usage));
    assert_false(smp_kernel_usage_find(text, "copy_u8", 90, &usage));
    assert_false(smp_kernel_usage_find("", "copy", 90, &usage));
    assert_false(smp_kernel_usage_find(NULL, "copy", 90, &usage));
    assert_false(smp_kernel_usage_find("copy 90 nonsense\n", "copy", 90, &usage));
}
