/* The one rounding at the store: to nearest, ties to even, clamped, NaN to 0; by loops and by vectors alike. */
#include <math.h>
#include <string.h>

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

SMP_TEST(stores_round_to_nearest_even_and_clamp)
{
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

SMP_TEST(values_that_are_not_finite_have_a_place)
{
    assert_int_equal(smp_to_u8(NAN), 0);
    assert_int_equal(smp_to_u8(-NAN), 0);
    assert_int_equal(smp_to_u8(INFINITY), 255);
    assert_int_equal(smp_to_u8(-INFINITY), 0);
    assert_int_equal(smp_to_u16(INFINITY), 65535);
    assert_int_equal(smp_to_u8(-0.f), 0);
}
