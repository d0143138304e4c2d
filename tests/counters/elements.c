/* Layouts and the advice on them: the pads and swizzles that courses teach are found, checked by the model, and none is
 * claimed where none helps. */
#include <string.h>

#include "suite.h"

#include "lab/counters/elements.h"

static smp_elements walked(smp_walk walk, int64_t rows, int64_t columns)
{
    smp_elements elements;
    smp_elements_walk(walk, rows, columns, 0, &elements);
    return elements;
}

static smp_elements strided(int64_t stride)
{
    smp_elements elements = {.active = 0xffffffffu, .dims = 1};
    for (int lane = 0; lane < SMP_WARP; lane++)
        elements.at[lane][0] = lane * stride;
    return elements;
}

static smp_advice advice_on(smp_elements elements, smp_bank_op op, int width)
{
    smp_advice advice;
    smp_advise(&elements, op, width, &advice);
    return advice;
}

/* Counts the wavefronts when the layout is tried: they are those that were promised. */
static int wavefronts_with(smp_elements elements, smp_layout layout, int width)
{
    smp_bank_access access = {.op = SMP_BANK_LOAD, .width = width, .active = elements.active};
    smp_elements_place(&elements, &layout, width, access.offset);
    return smp_bank_cost_of(&access).wavefronts;
}

SMP_TEST(a_column_is_freed_by_a_pad_of_one)
{
    smp_elements column = walked(SMP_WALK_COLUMN, 32, 32);
    smp_advice advice = advice_on(column, SMP_BANK_LOAD, 4);
    assert_int_equal(advice.cost.wavefronts, 32);
    assert_int_equal(advice.pad.pad, 1);
    assert_int_equal(advice.pad_cost.conflicts, 0);
    assert_int_equal(wavefronts_with(column, advice.pad, 4), 1);
    assert_int_equal(advice.swizzle.mask, 31);
    assert_int_equal(advice.swizzle.shift, 0);
    assert_int_equal(wavefronts_with(column, advice.swizzle, 4), 1);
    assert_int_equal(wavefronts_with(walked(SMP_WALK_ROW, 32, 32), advice.swizzle, 4), 1);
}

SMP_TEST(what_is_free_gets_no_advice)
{
    smp_advice advice = advice_on(walked(SMP_WALK_COLUMN, 32, 33), SMP_BANK_LOAD, 4);
    assert_int_equal(advice.cost.conflicts, 0);
    assert_int_equal(advice.pad.pad, 0);
    assert_int_equal(advice.swizzle.mask, 0);
    assert_int_equal(advice.better_stride, 0);
}

SMP_TEST(strides_become_odd)
{
    smp_advice advice = advice_on(strided(2), SMP_BANK_LOAD, 4);
    assert_int_equal(advice.stride, 2);
    assert_int_equal(advice.better_stride, 3);
    assert_int_equal(advice.stride_cost.wavefronts, 1);
    assert_int_equal(advice.pad.period, 32); /* i + i/32 */
    assert_int_equal(advice.pad.pad, 1);
    advice = advice_on(strided(32), SMP_BANK_LOAD, 4);
    assert_int_equal(advice.better_stride, 33);
}

/* Rows of 64 floats of which a warp reads two half-columns at once: one pad leaves them 2-way. */
SMP_TEST(half_columns_need_more_than_one_pad)
{
    smp_elements elements = {.active = 0xffffffffu, .dims = 2, .dim = {64, 64}};
    for (int lane = 0; lane < SMP_WARP; lane++) {
        elements.at[lane][0] = lane % 16;
        elements.at[lane][1] = lane / 16;
    }
    smp_layout one = {.pad = 1};
    assert_int_equal(wavefronts_with(elements, one, 4), 2);
    smp_advice advice = advice_on(elements, SMP_BANK_LOAD, 4);
    assert_int_equal(advice.pad.pad, 2);
    assert_int_equal(wavefronts_with(elements, advice.pad, 4), 1);
    assert_int_equal(advice.swizzle.shift, -1); /* c ^ r*2 keeps the two half-columns apart */
    assert_int_equal(wavefronts_with(elements, advice.swizzle, 4), 1);
}

SMP_TEST(float4_columns_are_freed_by_a_swizzle)
{
    smp_elements column = walked(SMP_WALK_COLUMN, 32, 8);
    smp_advice advice = advice_on(column, SMP_BANK_LOAD, 16);
    assert_int_equal(advice.cost.wavefronts, 32);
    assert_int_equal(advice.cost.ideal, 4);
    assert_int_equal(advice.swizzle.mask, 7);
    assert_int_equal(wavefronts_with(column, advice.swizzle, 16), 4);
    assert_int_equal(advice.pad.pad, 1);
}

SMP_TEST(atomics_on_one_address_cannot_be_freed)
{
    smp_advice advice = advice_on(strided(0), SMP_BANK_ATOMIC, 4);
    assert_int_equal(advice.cost.wavefronts, 32);
    assert_int_equal(advice.least, 32);
    assert_int_equal(advice.pad.pad, 0);
    advice = advice_on(strided(32), SMP_BANK_ATOMIC, 4); /* different addresses can */
    assert_int_equal(advice.least, 1);
    assert_int_equal(advice.better_stride, 33);
    advice = advice_on(strided(0), SMP_BANK_COUNT, 4);
    assert_int_equal(advice.cost.conflicts, 0);
}

/* Every fourth row of a tile: 4 * (32 + pad) * n leaves three quarters of the banks unused, whatever the pad. */
SMP_TEST(the_best_pad_is_told_where_none_frees)
{
    smp_elements elements = {.active = 0xffffffffu, .dims = 2, .dim = {128, 32}};
    for (int lane = 0; lane < SMP_WARP; lane++)
        elements.at[lane][0] = 4 * lane;
    smp_advice advice = advice_on(elements, SMP_BANK_LOAD, 4);
    assert_int_equal(advice.cost.wavefronts, 32);
    assert_int_equal(advice.pad.pad, 0);
    assert_int_equal(advice.best_pad.pad, 1);
    assert_int_equal(advice.best_pad_cost.wavefronts, 4);
    assert_int_equal(wavefronts_with(elements, advice.best_pad, 4), 4);
    assert_int_equal(advice.swizzle.shift, 2); /* c ^ (r >> 2) */
}

/* Whatever is proposed for any walk, width and operation is what the model says of it. */
SMP_TEST(every_proposal_keeps_its_promise)
{
    for (int walk = SMP_WALK_ROW; walk <= SMP_WALK_ANTIDIAGONAL; walk++)
        for (int64_t rows = 1; rows <= 64; rows *= 2)
            for (int64_t columns = 1; columns <= 80; columns += columns < 8 ? 1 : 8)
                for (int width = 1; width <= 16; width *= 2) {
                    smp_elements elements = walked((smp_walk)walk, rows, columns);
                    smp_advice advice = advice_on(elements, SMP_BANK_LOAD, width);
                    if (advice.pad.pad)
                        assert_int_equal(wavefronts_with(elements, advice.pad, width), advice.cost.ideal);
                    if (advice.swizzle.mask) {
                        assert_int_equal(wavefronts_with(elements, advice.swizzle, width), advice.cost.ideal);
                        assert_true(advice.swizzle.mask < columns);
                    }
                }
}
