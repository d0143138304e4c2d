/* The bank model against every measured case (tests/data/h100_bank_patterns.csv), and the older rules on the examples
 * that the CUDA guides give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

#include "bank_patterns.h"
#include "banks/bank.h"

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

/* Asynchronous copies, and what counts as ideal where lanes are missing: as CUPTI's SASS metrics count. */
static void copies_and_missing_lanes_cost_what_sass_metrics_count(void **state)
{
    (void)state;
    FILE *file = fopen(SMP_SOURCE_DIR "/tests/data/h100_async_patterns.csv", "r");
    char line[2048];
    int rows = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char op[4], pattern[32];
        int fills, wavefronts, packed, at = 0;
        unsigned present;
        smp_bank_access access = {.op = SMP_BANK_LOAD};
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%3[^,],%d,%31[^,],%d,%x,%x,%d,%d,%n", op, &access.width, pattern, &fills,
                                &access.active, &present, &wavefronts, &packed, &at),
                         8);
        char *p = line + at;
        for (int lane = 0; lane < SMP_WARP; lane++)
            access.offset[lane] = (uint32_t)strtoul(p, &p, 10);
        assert_int_equal(*p, ',');
        p++;
        if (op[0] == 'c') {
            for (int lane = 0; lane < SMP_WARP; lane++)
                access.source[lane] = (uint32_t)strtoul(p, &p, 10);
            access.op = !fills && op[1] == 'g' ? SMP_BANK_ASYNC_L2 : SMP_BANK_ASYNC;
            access.through_l1 = op[1] == 'a' ? present : 0;
        } else if (op[0] == 's') {
            access.op = SMP_BANK_STORE;
        }
        smp_bank_cost cost = smp_bank_cost_of(&access, SMP_BANKS_CC5);
        if (cost.wavefronts != wavefronts || cost.packed != packed)
            print_error("%s", line);
        assert_int_equal(cost.wavefronts, wavefronts);
        assert_int_equal(cost.packed, packed);
        smp_bank_schedule schedule;
        smp_bank_schedule_of(&access, SMP_BANKS_CC5, &schedule);
        assert_int_equal(schedule.count, wavefronts);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 516);
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

static smp_bank_cost cost_of(smp_bank_access access, smp_bank_rules rules)
{
    return smp_bank_cost_of(&access, rules);
}

/* Wavefronts and the least of them, both. */
static void expect(smp_bank_access access, smp_bank_rules rules, int wavefronts, int ideal)
{
    smp_bank_cost cost = smp_bank_cost_of(&access, rules);
    assert_int_equal(cost.wavefronts, wavefronts);
    assert_int_equal(cost.ideal, ideal);
    assert_int_equal(cost.conflicts, wavefronts - ideal);
}

/* All cases below are worked out by hand from the CUDA C Programming Guide 4.2, appendix F. */
static void strides_of_4_bytes_on_every_device(void **state)
{
    (void)state;
    static const struct {
        int stride, cc1, cc2, cc3, cc3_8, cc5;
    } rows[] = {
        {1, 2, 1, 1, 1, 1}, /* figure F-2 left; two half-warps on 1.x */
        {2, 4, 2, 1, 1, 2}, /* figure F-2 middle: 2-way on 1.x and 2.x, free on 3.0, where words 0 and 32 share a row */
        {3, 2, 1, 1, 2, 1}, /* figure F-2 right; with 8-byte banks words 3 and 66 lie in bank 1, in two rows */
        {4, 8, 4, 2, 2, 4}, /* F.4.3.1: gcd(32, stride) lanes to a bank; half of them in a row of 3.x */
        {6, 4, 2, 2, 1, 2}, /* words 0 and 96 share a bank, not a row; as 8-byte words the stride is 3 */
        {16, 32, 16, 8, 8, 16}, /* a column of a tile 16 wide */
        {17, 2, 1, 1, 2, 1},    /* of a padded one */
        {32, 32, 32, 16, 16, 32}, {33, 2, 1, 1, 1, 1},
        {0, 2, 1, 1, 1, 1}, /* one word for all: a broadcast everywhere */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        smp_bank_access access = strided(SMP_BANK_LOAD, 4, 4 * rows[i].stride);
        assert_int_equal(cost_of(access, SMP_BANKS_CC1).wavefronts, rows[i].cc1);
        assert_int_equal(cost_of(access, SMP_BANKS_CC2).wavefronts, rows[i].cc2);
        assert_int_equal(cost_of(access, SMP_BANKS_CC3).wavefronts, rows[i].cc3);
        assert_int_equal(cost_of(access, SMP_BANKS_CC3_8).wavefronts, rows[i].cc3_8);
        assert_int_equal(cost_of(access, SMP_BANKS_CC5).wavefronts, rows[i].cc5);
    }
}

static smp_bank_access with_words(const int *words, int count)
{
    smp_bank_access access = {.op = SMP_BANK_LOAD, .width = 4};
    for (int lane = 0; lane < count; lane++) {
        access.offset[lane] = 4 * (uint32_t)words[lane];
        access.active |= UINT32_C(1) << lane;
    }
    return access;
}

/* 1.x reads of small types: shared[0] to shared[3] share a bank (F.3.3.3), and one word is broadcast in a step. */
static void bytes_conflict_on_1_x(void **state)
{
    (void)state;
    expect(strided(SMP_BANK_LOAD, 1, 1), SMP_BANKS_CC1, 8, 2); /* char shared[BaseIndex + tid] */
    expect(strided(SMP_BANK_LOAD, 1, 4), SMP_BANKS_CC1, 2, 2); /* char shared[BaseIndex + 4 * tid] */
    expect(strided(SMP_BANK_LOAD, 2, 2), SMP_BANKS_CC1, 4, 2);
    expect(strided(SMP_BANK_STORE, 1, 1), SMP_BANKS_CC1, 8, 2);
    expect(strided(SMP_BANK_LOAD, 1, 1), SMP_BANKS_CC2, 1, 1); /* F.4.3: none on 2.x */
    expect(strided(SMP_BANK_STORE, 1, 1), SMP_BANKS_CC2, 1, 1);
}

/* F.3.3.2: each step broadcasts one word; other banks serve one lane. */
static void a_step_of_1_x_broadcasts_one_word(void **state)
{
    (void)state;
    static const int one_pair[] = {0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    expect(with_words(one_pair, 16), SMP_BANKS_CC1, 1, 1); /* the pair by broadcast */
    static const int two_pairs[] = {0, 0, 1, 1};
    expect(with_words(two_pairs, 4), SMP_BANKS_CC1, 2, 1);
    static const int two_of_a_bank[] = {0, 0, 0, 16, 16, 16}; /* a broadcast each: two steps */
    expect(with_words(two_of_a_bank, 6), SMP_BANKS_CC1, 2, 1);
    static const int three_threes[] = {0, 0, 0, 1, 1, 1, 2, 2, 2}; /* a broadcast a step, or lane by lane: three */
    expect(with_words(three_threes, 9), SMP_BANKS_CC1, 3, 1);
    static const int four_threes[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    expect(with_words(four_threes, 12), SMP_BANKS_CC1, 3, 1);
    expect(with_words(two_pairs, 4), SMP_BANKS_CC2, 1, 1); /* F.4.3: several words at once */
}

/* F.3.3: of lanes that write one place one does; writes to two places of a bank take turns. */
static void stores_on_1_x(void **state)
{
    (void)state;
    expect(strided(SMP_BANK_STORE, 4, 0), SMP_BANKS_CC1, 2, 2);
    expect(strided(SMP_BANK_STORE, 4, 8), SMP_BANKS_CC1, 4, 2);
}

/* Doubles and float4: F.3.3.4, F.4.3.2, F.5.3.1. */
static void wide_accesses_on_older_devices(void **state)
{
    (void)state;
    smp_bank_access doubles = strided(SMP_BANK_LOAD, 8, 8), fours = strided(SMP_BANK_LOAD, 16, 16);
    expect(doubles, SMP_BANKS_CC1, 8, 4); /* two requests with a stride of two words: each 2-way in each half-warp */
    expect(doubles, SMP_BANKS_CC2, 2, 2); /* unlike 1.x, no conflicts */
    expect(doubles, SMP_BANKS_CC3, 1, 1);
    expect(doubles, SMP_BANKS_CC3_8, 1, 1);
    expect(fours, SMP_BANKS_CC1, 32, 8); /* four requests with a stride of four words */
    expect(fours, SMP_BANKS_CC2, 8, 4);  /* one is added for each quarter-warp */
    expect(fours, SMP_BANKS_CC3_8, 2, 2);
    expect(strided(SMP_BANK_LOAD, 8, 256), SMP_BANKS_CC2, 32, 2);
    expect(strided(SMP_BANK_LOAD, 8, 264), SMP_BANKS_CC2, 2, 2); /* double [32][33] by columns */
}

/* Every lane is served exactly once by each bank that it touches, no bank serves two rows at once, and the schedule is
 * as long as the cost says. */
static void check_schedule(const smp_bank_access *access, smp_bank_rules rules)
{
    static smp_bank_schedule schedule;
    smp_bank_cost cost = smp_bank_cost_of(access, rules);
    smp_bank_geometry geometry = smp_bank_geometry_of(rules);
    bool atomic = access->op > SMP_BANK_COUNT;
    smp_bank_schedule_of(access, rules, &schedule);
    assert_int_equal(schedule.count, cost.wavefronts);
    assert_int_equal(schedule.cost.conflicts, cost.conflicts);
    int served[SMP_WARP] = {0}, last_phase = 0, turns = 0;
    for (int i = 0; i < schedule.count; i++) {
        const smp_bank_wavefront *wavefront = &schedule.wavefronts[i];
        assert_true(wavefront->phase == last_phase || wavefront->phase == last_phase + 1);
        turns = wavefront->phase == last_phase ? turns : 0;
        assert_int_equal(wavefront->turn, turns);
        turns++;
        last_phase = wavefront->phase;
        for (uint32_t bank = 0; bank < SMP_BANKS; bank++) {
            const smp_bank_cell *cell = &wavefront->cells[bank];
            assert_int_equal(cell->lanes & ~schedule.phase_lanes[wavefront->phase], 0);
            for (int lane = 0; lane < SMP_WARP; lane++) {
                if (!(cell->lanes >> lane & 1))
                    continue;
                uint32_t low = cell->row * geometry.row_bytes, begin = access->offset[lane];
                assert_true(begin < low + geometry.row_bytes && begin + (uint32_t)access->width > low);
                served[lane]++;
            }
        }
    }
    int wide = access->width > 4 && !atomic ? access->width / (int)geometry.bank_bytes : 1;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        int want = access->active >> lane & 1 ? (wide ? wide : 1) : 0;
        bool merged = rules == SMP_BANKS_CC1 && access->op == SMP_BANK_STORE;
        if (!merged)
            assert_int_equal(served[lane], access->op == SMP_BANK_ATOMIC_FLOAT ? 2 * want : want);
    }
}

static void schedules_serve_every_lane_once(void **state)
{
    (void)state;
    FILE *file = bank_patterns_open();
    bank_pattern row;
    while (bank_patterns_next(file, &row))
        for (int rules = SMP_BANKS_CC1; rules <= SMP_BANKS_CC5; rules++)
            check_schedule(&row.access, (smp_bank_rules)rules);
    fclose(file);
}

static void capabilities_have_their_rules(void **state)
{
    (void)state;
    assert_int_equal(smp_bank_rules_for(1), SMP_BANKS_CC1);
    assert_int_equal(smp_bank_rules_for(2), SMP_BANKS_CC2);
    assert_int_equal(smp_bank_rules_for(3), SMP_BANKS_CC3);
    assert_int_equal(smp_bank_rules_for(12), SMP_BANKS_CC5);
}

SMP_SUITE(bank)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_patterns_cost_what_the_model_says),
        cmocka_unit_test(copies_and_missing_lanes_cost_what_sass_metrics_count),
        cmocka_unit_test(no_lane_costs_nothing),
        cmocka_unit_test(two_byte_accesses_share_words),
        cmocka_unit_test(strides_of_4_bytes_on_every_device),
        cmocka_unit_test(bytes_conflict_on_1_x),
        cmocka_unit_test(a_step_of_1_x_broadcasts_one_word),
        cmocka_unit_test(stores_on_1_x),
        cmocka_unit_test(wide_accesses_on_older_devices),
        cmocka_unit_test(schedules_serve_every_lane_once),
        cmocka_unit_test(capabilities_have_their_rules),
    };
    return cmocka_run_group_tests_name("bank", tests, NULL, NULL);
}
