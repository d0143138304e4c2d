/* arithmetic: add, subtract, multiply, divide and blend, of a picture with a second one or with a number. Parameters
 * and the operations on one sample; a number acts as a picture of that fraction of full scale, so that multiplying
 * by 1.5 and by a picture of 150 % are one thing.
 *
 * The second picture (io->second) has the size of the first. Its samples are scaled to the first's full scale. With one
 * colour channel it serves every channel of the first. Its alpha weights a blend and does not matter otherwise; the
 * first's alpha stays. NaN in either picture gives NaN. */
#pragma once

#include "lib/exact_math.h"

/* From BLEND_NORMAL on: blend modes, in the order of the stage's choices. */
#define SMP_OPERATION_LIST(O)                                                                                          \
    O(ADD)                                                                                                             \
    O(SUBTRACT)                                                                                                        \
    O(MULTIPLY)                                                                                                        \
    O(DIVIDE)                                                                                                          \
    O(BLEND_NORMAL)                                                                                                    \
    O(BLEND_MULTIPLY)                                                                                                  \
    O(BLEND_SCREEN)                                                                                                    \
    O(BLEND_OVERLAY)                                                                                                   \
    O(BLEND_HARDLIGHT)                                                                                                 \
    O(BLEND_SOFTLIGHT)                                                                                                 \
    O(BLEND_DARKEN)                                                                                                    \
    O(BLEND_LIGHTEN)                                                                                                   \
    O(BLEND_DODGE)                                                                                                     \
    O(BLEND_BURN)                                                                                                      \
    O(BLEND_DIFFERENCE)                                                                                                \
    O(BLEND_EXCLUSION)                                                                                                 \
    O(BLEND_AVERAGE)                                                                                                   \
    O(BLEND_ADD)

typedef enum smp_operation {
#define O(name) SMP_##name,
    SMP_OPERATION_LIST(O)
#undef O
        SMP_OPERATIONS
} smp_operation;

typedef struct smp_arithmetic_params {
    int32_t operation; /* an smp_operation */
    float number;      /* the operand where there is no second picture: code value */
    float scale;       /* the first picture's full scale / the second's */
    float opacity;     /* of a blend: 1 takes its result, 0 the first picture */
} smp_arithmetic_params;

/* a multiplied with b, or its negative where b is bright (W3C Compositing and Blending, hard-light). */
SMP_FORMULA float smp_hard_light(float a, float b, float white)
{
    float dark = 2.f * (a * b) / white, bright = white - 2.f * ((white - a) * (white - b)) / white;
    return b <= 0.5f * white ? dark : bright;
}

/* W3C Compositing and Blending, soft-light. */
SMP_FORMULA float smp_soft_light(float a, float b, float white)
{
    float x = a / white, y = b / white;
    float low = ((16.f * x - 12.f) * x + 4.f) * x, root = sqrtf(x > 0.f ? x : 0.f);
    float lift = (x <= 0.25f ? low : root) - x;
    float dark = x - (1.f - 2.f * y) * x * (1.f - x), bright = x + (2.f * y - 1.f) * lift;
    return (y <= 0.5f ? dark : bright) * white;
}

/* The operation on code values a (first picture) and b (second, or the number), both of the full scale `white`. Every
 * operation of it rounds to f32; results may lie outside 0..white. */
SMP_FORMULA float smp_arithmetic(int operation, float a, float b, float white)
{
    float r;
    switch (operation) {
    case SMP_ADD:
    case SMP_BLEND_ADD:
        r = a + b;
        break;
    case SMP_SUBTRACT:
        r = a - b;
        break;
    case SMP_MULTIPLY:
    case SMP_BLEND_MULTIPLY:
        r = a * b / white;
        break;
    case SMP_DIVIDE: /* by 0: full scale with the sign of a; 0 / 0 is 0 */
        r = b == 0.f ? (a > 0.f ? white : a < 0.f ? -white : 0.f) : a * white / b;
        break;
    case SMP_BLEND_SCREEN:
        r = a + b - a * b / white;
        break;
    case SMP_BLEND_OVERLAY:
        r = smp_hard_light(b, a, white);
        break;
    case SMP_BLEND_HARDLIGHT:
        r = smp_hard_light(a, b, white);
        break;
    case SMP_BLEND_SOFTLIGHT:
        r = smp_soft_light(a, b, white);
        break;
    case SMP_BLEND_DARKEN:
        r = b < a ? b : a;
        break;
    case SMP_BLEND_LIGHTEN:
        r = b > a ? b : a;
        break;
    case SMP_BLEND_DODGE:
        r = a * white / (white - b);
        r = b >= white || r > white ? white : r;
        r = a <= 0.f ? 0.f : r;
        break;
    case SMP_BLEND_BURN:
        r = (white - a) * white / b;
        r = b <= 0.f || r > white ? white : r;
        r = a >= white ? white : white - r;
        break;
    case SMP_BLEND_DIFFERENCE:
        r = smp_abs(a - b);
        break;
    case SMP_BLEND_EXCLUSION:
        r = a + b - 2.f * (a * b) / white;
        break;
    case SMP_BLEND_AVERAGE:
        r = 0.5f * (a + b);
        break;
    default: /* SMP_BLEND_NORMAL */
        r = b;
        break;
    }
    return smp_one_nan(a == a && b == b ? r : smp_from_bits(0x7fc00000u));
}

/* The blended value with its weight (opacity times the second picture's alpha). */
SMP_FORMULA float smp_arithmetic_mix(float a, float blended, float weight)
{
    return weight == 1.f ? blended : smp_one_nan(a + (blended - a) * weight);
}

/* The operation with a number in place of the second picture, as an operation of op_chain. */
typedef struct smp_arithmetic_number {
    int32_t kind;        /* SMP_ADD to SMP_DIVIDE */
    float number, white; /* code value; full scale */
} smp_arithmetic_number;

SMP_HOST_DEVICE float smp_arithmetic_number_sample(float v, int channel, const smp_arithmetic_number *p)
{
    (void)channel;
    return smp_arithmetic(p->kind, v, p->number, p->white);
}
