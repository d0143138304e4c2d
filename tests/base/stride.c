/* Distances between rows (base/stride.h), also of sizes that no memory has. */
#include "suite.h"

#include "base/stride.h"

SMP_TEST(rows_begin_at_cache_lines)
{
    assert_int_equal(smp_stride(2, 2), SMP_ALIGN);
    assert_int_equal(smp_stride(SMP_ALIGN, SMP_ALIGN), SMP_ALIGN);
    assert_int_equal(smp_stride(SMP_ALIGN + 1, SMP_ALIGN + 1), 2 * SMP_ALIGN);
    assert_int_equal(smp_stride(1, 6), 6); /* frames of sound lie side by side */
}

SMP_TEST(huge_rows_do_not_overflow)
{
    const int64_t most = INT64_MAX / SMP_ALIGN * SMP_ALIGN; /* the last stride that there is */
    assert_true(smp_stride(2, most) == most);
    assert_true(smp_stride(2, most + 1) == INT64_MAX);
    assert_true(smp_stride(2, INT64_MAX) == INT64_MAX);
    assert_true(smp_stride(1, INT64_MAX) == INT64_MAX);
}
