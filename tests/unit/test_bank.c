/* The bank model against every measured case (tests/data/h100_bank_patterns.csv), and the older rules on the examples
 * that the CUDA guides give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bank_patterns.h"
#include "counters/bank.h"

static void measured_patterns_cost_what_the_model_says(void **state)
{
    (void)state;
    FILE *file = bank_patterns_open();
    bank_pattern row;
    int rows = 0;
    while (bank_patterns_next(file, &row)) {
        smp_bank_cost cost = smp_bank_cost_of(&row.access, SMP_BANKS_CC5);
        if (cost.wavefronts != row.wavefronts)
            print_error("%s %d %s: %d wavefronts, measured %d\n", row.op, row.access.width, row.pattern,
                        cost.wavefronts, row.wavefronts);
        assert_int_equal(cost.wavefronts, row.wavefronts);
        if (row.access.op == SMP_BANK_ATOMIC_FLOAT) /* the hardware's conflict counter stays at 0 for these */
            assert_int_equal(row.conflicts, 0);
        else
            assert_int_equal(cost.conflicts, row.conflicts);
        assert_int_equal(cost.wavefronts - cost.conflicts, cost.ideal);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 576);
}

static smp_bank_access strided(smp_bank_op op, int width, int stride)
{
    smp_bank_access access = {.op = op, .width = width, .active = 0xffffffffu};
    for (uint32_t lane = 0; lane < SMP_WARP; lane++)
        access.offset[lane] = lane * (uint32_t)stride;
    return access;
}

static void no_lane_costs_nothing(void **state)
{
    (void)state;
    smp_bank_access access = strided(SMP_BANK_LOAD, 4, 4);
    access.active = 0;
    smp_bank_cost cost = smp_bank_cost_of(&access, SMP_BANKS_CC5);
    assert_int_equal(cost.wavefronts, 0);
    assert_int_equal(cost.ideal, 0);
    assert_int_equal(cost.conflicts, 0);
}

static void two_byte_accesses_share_words(void **state)
{
    (void)state;
    smp_bank_access access = strided(SMP_BANK_LOAD, 2, 2);
    assert_int_equal(smp_bank_cost_of(&access, SMP_BANKS_CC5).wavefronts, 1);
    access = strided(SMP_BANK_STORE, 2, 128);
    assert_int_equal(smp_bank_cost_of(&access, SMP_BANKS_CC5).conflicts, 31);
}

/* CUDA C Programming Guide 4.2, F.3.3 (1.x), F.4.3 (2.x), F.5.3 (3.x). */
static void older_devices_follow_their_guides(void **state)
{
    (void)state;
    smp_bank_access sequence = strided(SMP_BANK_LOAD, 4, 4);
    assert_int_equal(smp_bank_cost_of(&sequence, SMP_BANKS_CC1).wavefronts, 2);
    assert_int_equal(smp_bank_cost_of(&sequence, SMP_BANKS_CC1).conflicts, 0);
    assert_int_equal(smp_bank_cost_of(&sequence, SMP_BANKS_CC2).wavefronts, 1);

    smp_bank_access two = strided(SMP_BANK_LOAD, 4, 8); /* stride of two words: 2-way, except with 8-byte banks */
    assert_int_equal(smp_bank_cost_of(&two, SMP_BANKS_CC1).wavefronts, 4);
    assert_int_equal(smp_bank_cost_of(&two, SMP_BANKS_CC2).wavefronts, 2);
    assert_int_equal(smp_bank_cost_of(&two, SMP_BANKS_CC3).wavefronts, 2);
    assert_int_equal(smp_bank_cost_of(&two, SMP_BANKS_CC3_8).wavefronts, 1);

    smp_bank_access column = strided(SMP_BANK_LOAD, 4, 64); /* one column of a 16-wide tile */
    assert_int_equal(smp_bank_cost_of(&column, SMP_BANKS_CC1).wavefronts, 32);
    smp_bank_access padded = strided(SMP_BANK_LOAD, 4, 68); /* of a 17-wide one */
    assert_int_equal(smp_bank_cost_of(&padded, SMP_BANKS_CC1).conflicts, 0);
    smp_bank_access one_word = strided(SMP_BANK_LOAD, 4, 0);
    assert_int_equal(smp_bank_cost_of(&one_word, SMP_BANKS_CC1).conflicts, 0);

    assert_int_equal(smp_bank_rules_for(1), SMP_BANKS_CC1);
    assert_int_equal(smp_bank_rules_for(2), SMP_BANKS_CC2);
    assert_int_equal(smp_bank_rules_for(3), SMP_BANKS_CC3);
    assert_int_equal(smp_bank_rules_for(12), SMP_BANKS_CC5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_patterns_cost_what_the_model_says),
        cmocka_unit_test(no_lane_costs_nothing),
        cmocka_unit_test(two_byte_accesses_share_words),
        cmocka_unit_test(older_devices_follow_their_guides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
