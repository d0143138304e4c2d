/* The arithmetic of kernels/lib/exact_math.h: its stated errors against the C library's double functions. */

#include "suite.h"

#include "lib/exact_math.h"

enum { STEP = 4099 }; /* a prime: every STEPth positive float, about half a million */

SMP_TEST(logarithm_is_within_its_stated_error)
{
    for (uint32_t bits = 1; bits < 0x7f800000u; bits += STEP) {
        float x = smp_from_bits(bits);
        double want = log2((double)x), error = fabs((double)smp_log2f_(x) - want);
        if (!(error <= 6e-8 + 6e-8 * fabs(want)))
            fail_msg("log2(%a) = %a, not %a", (double)x, (double)smp_log2f_(x), want);
    }
    for (int e = -149; e < 128; e++)
        assert_true(smp_log2f_(ldexpf(1.f, e)) == (float)e);
}

SMP_TEST(exponential_is_within_its_stated_error)
{
    for (int i = -126 * 4096; i < 128 * 4096; i++) {
        float x = (float)i / 4096.f + 1e-5f;
        if (x >= 128.f)
            break;
        double want = exp2((double)x), error = fabs((double)smp_exp2f_(x) / want - 1);
        if (!(error <= 1.5e-7))
            fail_msg("exp2(%a) = %a, not %a", (double)x, (double)smp_exp2f_(x), want);
    }
    for (int e = -149; e < 128; e++)
        assert_true(smp_exp2f_((float)e) == ldexpf(1.f, e));
    assert_true(smp_exp2f_(-151.f) == 0.f);
    assert_true(smp_exp2f_(128.f) == INFINITY);
    assert_true(smp_exp2f_(-1e30f) == 0.f);
    assert_true(smp_exp2f_(1e30f) == INFINITY);
}

SMP_TEST(power_is_within_its_stated_error)
{
    static const float exponents[] = {0.1f, 1.f / 2.4f, 1.f / 2.2f, 0.5f, 0.999f, 1.f, 1.8f, 2.2f, 2.4f, 4.f, 10.f};
    double worst = 0;
    for (int k = 0; k < (int)(sizeof exponents / sizeof exponents[0]); k++) {
        float y = exponents[k];
        for (uint32_t bits = 1; bits < 0x7f800000u; bits += STEP * 7) {
            float x = smp_from_bits(bits);
            double want = pow((double)x, (double)y), got = (double)smp_powf_(x, y);
            if (want > 3.4e38 || want < 1.2e-38)
                continue;
            double error = fabs(got / want - 1) / (1 + (double)y / 4);
            worst = error > worst ? error : worst;
            if (!(error <= 2e-7))
                fail_msg("pow(%a, %g) = %a, not %a", (double)x, (double)y, got, want);
        }
        for (int i = 0; i <= 65535; i++) { /* what pictures hold */
            float x = (float)i / 65535.f;
            double want = pow((double)x, (double)y), got = (double)smp_powf_(x, y);
            if (!(fabs(got - want) <= 2e-7 * (1 + (double)y / 4) * want + 1.5e-45))
                fail_msg("pow(%d/65535, %g) = %a, not %a", i, (double)y, got, want);
        }
        assert_true(smp_powf_(0.f, y) == 0.f);
        assert_true(smp_powf_(1.f, y) == 1.f);
        assert_true(smp_powf_(INFINITY, y) == INFINITY);
    }
    print_message("worst relative error of a power: %.2e * (1 + y/4)\n", worst);
}

SMP_TEST(what_has_no_value_is_the_one_nan)
{
    const float nothing[] = {smp_log2f_(-1.f),      smp_log2f_(NAN),      smp_log2f_(-INFINITY), smp_exp2f_(-NAN),
                             smp_powf_(-2.f, 0.5f), smp_powf_(NAN, 0.5f), smp_one_nan(-NAN),     smp_one_nan(NAN)};
    for (int i = 0; i < (int)(sizeof nothing / sizeof nothing[0]); i++)
        assert_int_equal(smp_bits(nothing[i]), 0x7fc00000u);
    assert_true(smp_log2f_(0.f) == -INFINITY);
    assert_true(smp_log2f_(INFINITY) == INFINITY);
    assert_true(smp_exp2f_(-INFINITY) == 0.f);
    assert_true(smp_exp2f_(INFINITY) == INFINITY);
}
