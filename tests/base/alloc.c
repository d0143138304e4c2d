/* Memory that waits for the next ask, and the limit. */
#include <string.h>

#include "suite.h"

#include "base/alloc.h"

enum { MB = 1 << 20 };

/* False: this build keeps nothing (AddressSanitizer). */
static bool keeps(uint64_t most)
{
    smp_alloc_keep(0);
    smp_alloc_keep(most);
    smp_free(smp_alloc_raw(MB));
    const bool some = smp_alloc_kept() != 0;
    smp_alloc_keep(0);
    smp_alloc_keep(most);
    return some;
}

static void keep_nothing(void)
{
    smp_alloc_keep(0);
    assert_int_equal(smp_alloc_kept(), 0);
}

SMP_TEST(a_freed_block_serves_the_next_ask_of_nearly_its_size)
{
    if (!keeps(64 * MB))
        skip();
    char *first = smp_alloc_raw(8 * MB);
    memset(first, 1, 8 * MB);
    smp_free(first);
    char *much_less = smp_alloc_raw(4 * MB), *again = smp_alloc(8 * MB - 100000);
    assert_ptr_not_equal(much_less, first);
    assert_ptr_equal(again, first);
    for (size_t i = 0; i < 8 * MB - 100000; i++)
        if (again[i])
            fail_msg("byte %zu is not zero", i);
    smp_free(much_less);
    smp_free(again);
    keep_nothing();
}

SMP_TEST(what_waits_is_not_live_and_counts_as_asked_when_it_is_used)
{
    if (!keeps(64 * MB))
        skip();
    const uint64_t before = smp_alloc_live();
    smp_free(smp_alloc_raw(8 * MB));
    assert_int_equal(smp_alloc_live(), before);
    assert_in_range(smp_alloc_kept(), 8 * MB, 8 * MB + 256);
    char *less = smp_alloc_raw(8 * MB - 200000);
    assert_in_range(smp_alloc_live() - before, 8 * MB - 200000, 8 * MB - 200000 + 256);
    smp_free(less);
    assert_int_equal(smp_alloc_live(), before);
    keep_nothing();
}

SMP_TEST(what_waits_longest_goes_first)
{
    if (!keeps(8 * MB))
        skip();
    char *a = smp_alloc_raw(3 * MB), *b = smp_alloc_raw(3 * MB + MB / 2), *c = smp_alloc_raw(4 * MB - 1000);
    smp_free(a);
    smp_free(b);
    smp_free(c);
    assert_in_range(smp_alloc_kept(), 7 * MB, 8 * MB);
    char *second = smp_alloc_raw(3 * MB + MB / 2);
    assert_ptr_equal(second, b);
    smp_free(second);
    keep_nothing();
}

SMP_TEST(the_limit_is_not_passed_by_what_waits)
{
    if (!keeps(64 * MB))
        skip();
    smp_free(smp_alloc_raw(16 * MB));
    smp_alloc_limit(smp_alloc_live() + 24 * MB);
    char *other = smp_alloc_raw(12 * MB);
    assert_non_null(other);
    assert_int_equal(smp_alloc_kept(), 0);
    assert_null(smp_alloc_raw(13 * MB));
    smp_alloc_limit(0);
    smp_free(other);
    keep_nothing();
}
