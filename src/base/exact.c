/* Exact sums of doubles: see exact.h. */
#include "base/exact.h"

#include <math.h>

enum { DIGIT = 32 /* bits */, MANTISSA = 53 };
static const int64_t base = INT64_C(1) << DIGIT;

/* Carries from digit `at` upwards, at least up to digit `to`. */
static void settle(smp_exact *sum, int at, int to)
{
    int64_t carry = 0;
    for (int i = at; i < SMP_EXACT_DIGITS - 1 && (i <= to || carry); i++) {
        const int64_t v = sum->digit[i] + carry;
        carry = v >> DIGIT; /* floor */
        sum->digit[i] = v - carry * base;
    }
    sum->digit[SMP_EXACT_DIGITS - 1] += carry;
}

void smp_exact_add(smp_exact *sum, double v)
{
    int power;
    if (v == 0 || !isfinite(v))
        return;
    const int64_t whole = (int64_t)ldexp(frexp(v, &power), MANTISSA); /* v = whole * 2^(power - MANTISSA) */
    const int at = power - MANTISSA - SMP_EXACT_LOW, sign = whole < 0 ? -1 : 1;
    const unsigned shift = (unsigned)at % DIGIT;
    const uint64_t size = (uint64_t)(sign * whole), low = size << shift, high = shift ? size >> (64 - shift) : 0;
    int64_t *digit = sum->digit + at / DIGIT;
    digit[0] += sign * (int64_t)(uint32_t)low;
    digit[1] += sign * (int64_t)(low >> DIGIT);
    digit[2] += sign * (int64_t)high;
    settle(sum, at / DIGIT, at / DIGIT + 2);
}

void smp_exact_join(smp_exact *sum, const smp_exact *more)
{
    for (int i = 0; i < SMP_EXACT_DIGITS; i++)
        sum->digit[i] += more->digit[i];
    settle(sum, 0, SMP_EXACT_DIGITS);
}

static void negate(smp_exact *sum)
{
    for (int i = 0; i < SMP_EXACT_DIGITS; i++)
        sum->digit[i] = -sum->digit[i];
    settle(sum, 0, SMP_EXACT_DIGITS);
}

/* The nearest double of a sum that is not negative. */
static double rounded(const smp_exact *sum)
{
    enum { USED = 3 }; /* digits: 65 bits or more, of which the mantissa and the bit below it are needed */
    int top = SMP_EXACT_DIGITS - 1;
    while (top > 0 && !sum->digit[top])
        top--;
    const int last = top >= USED - 1 ? top - USED + 1 : 0;
    uint64_t kept = 0, gone = 0; /* bits of the mantissa; those below, highest first, from bit 63 on */
    int bits = 0, power = SMP_EXACT_LOW + DIGIT * last;
    bool more = false;
    for (int i = top; i >= last; i--)
        for (int k = DIGIT - 1; k >= 0; k--) {
            const uint64_t bit = (uint64_t)sum->digit[i] >> k & 1;
            if (bits < MANTISSA) {
                kept = kept << 1 | bit;
                bits += kept != 0;
            } else {
                gone |= bit << (63 - (bits - MANTISSA));
                bits++;
            }
        }
    for (int i = last - 1; i >= 0; i--)
        more |= sum->digit[i] != 0;
    const uint64_t half = UINT64_C(1) << 63;
    if (bits > MANTISSA) {
        power += bits - MANTISSA;
        if (gone > half || (gone == half && (more || (kept & 1))))
            kept++;
    }
    return ldexp((double)kept, power);
}

void smp_exact_read(const smp_exact *sum, double *high, double *low)
{
    double parts[2] = {0, 0};
    smp_exact rest = *sum;
    for (int i = 0; i < 2; i++) {
        const bool below = rest.digit[SMP_EXACT_DIGITS - 1] < 0;
        smp_exact size = rest;
        if (below)
            negate(&size);
        parts[i] = below ? -rounded(&size) : rounded(&size);
        if (isinf(parts[i]))
            break;
        smp_exact_add(&rest, -parts[i]);
    }
    *high = parts[0];
    *low = parts[1];
}

void smp_exact_pack(const smp_exact *sum, smp_packer *to)
{
    int first = 0, end = SMP_EXACT_DIGITS;
    while (end > 0 && !sum->digit[end - 1])
        end--;
    while (first < end && !sum->digit[first])
        first++;
    smp_pack_uint(to, (uint64_t)first);
    smp_pack_uint(to, (uint64_t)(end - first));
    for (int i = first; i < end; i++)
        smp_pack_int(to, sum->digit[i]);
}

bool smp_exact_unpack(smp_unpacker *from, smp_exact *sum)
{
    const uint64_t first = smp_unpack_uint(from), count = smp_unpack_uint(from);
    bool good = first <= SMP_EXACT_DIGITS && count <= SMP_EXACT_DIGITS - first && (first == 0 || count > 0);
    *sum = (smp_exact){{0}};
    for (uint64_t i = first; good && i < first + count; i++) {
        const int64_t v = smp_unpack_int(from);
        const bool top = i == SMP_EXACT_DIGITS - 1;
        good = !from->failed && (top ? v >= INT32_MIN && v <= INT32_MAX : v >= 0 && v < base);
        sum->digit[i] = v;
    }
    if (good && count > 0)
        good = sum->digit[first] != 0 && sum->digit[first + count - 1] != 0;
    if (!good || from->failed) {
        from->failed = true;
        *sum = (smp_exact){{0}};
    }
    return !from->failed;
}
