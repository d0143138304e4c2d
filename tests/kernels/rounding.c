/* The one rounding at the store: to nearest, ties to even, clamped, NaN to 0; by loops and by vectors alike. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

#include "lib/view.h"

static float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static long expected(float v, long white)
{
    if (isnan(v) || v <= 0)
        return 0;
    return v >= (float)white ? white : lrint(v);
}

static void stores_round_to_nearest_even_and_clamp(void **state)
{
    (void)state;
    for (uint32_t step = 0; step < 4400000; step++) { /* a prime stride meets every exponent with many fractions */
        float v = from_bits(step * 977u);
        assert_int_equal(smp_to_u8(v), expected(v, 255));
        assert_int_equal(smp_to_u16(v), expected(v, 65535));
    }
    for (int i = -3; i < 2 * 65540; i++) { /* integers and ties */
        float v = (float)i / 2;
        assert_int_equal(smp_to_u8(v), expected(v, 255));
        assert_int_equal(smp_to_u16(v), expected(v, 65535));
    }
}

static void values_that_are_not_finite_have_a_place(void **state)
{
    (void)state;
    assert_int_equal(smp_to_u8(NAN), 0);
    assert_int_equal(smp_to_u8(-NAN), 0);
    assert_int_equal(smp_to_u8(INFINITY), 255);
    assert_int_equal(smp_to_u8(-INFINITY), 0);
    assert_int_equal(smp_to_u16(INFINITY), 65535);
    assert_int_equal(smp_to_u8(-0.f), 0);
}

SMP_SUITE(rounding)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_round_to_nearest_even_and_clamp),
        cmocka_unit_test(values_that_are_not_finite_have_a_place),
    };
    return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
