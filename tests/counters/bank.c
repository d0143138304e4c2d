/* The bank model against every measured case (tests/data/h100_bank_patterns.csv). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "bank_patterns.h"
#include "banks/bank.h"

SMP_TEST(measured_patterns_cost_what_the_model_says)
{
    FILE *file = bank_patterns_open();
    bank_pattern row;
    int rows = 0;
    while (bank_patterns_next(file, &row)) {
        smp_bank_cost cost = smp_bank_cost_of(&row.access);
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
SMP_TEST(copies_and_missing_lanes_cost_what_sass_metrics_count)
{
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
        smp_bank_cost cost = smp_bank_cost_of(&access);
        if (cost.wavefronts != wavefronts || cost.packed != packed)
            print_error("%s", line);
        assert_int_equal(cost.wavefronts, wavefronts);
        assert_int_equal(cost.packed, packed);
        smp_bank_schedule schedule;
        smp_bank_schedule_of(&access, &schedule);
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

SMP_TEST(no_lane_costs_nothing)
{
    smp_bank_access access = strided(SMP_BANK_LOAD, 4, 4);
    access.active = 0;
    smp_bank_cost cost = smp_bank_cost_of(&access);
    assert_int_equal(cost.wavefronts, 0);
    assert_int_equal(cost.ideal, 0);
    assert_int_equal(cost.conflicts, 0);
}

SMP_TEST(two_byte_accesses_share_words)
{
    smp_bank_access access = strided(SMP_BANK_LOAD, 2, 2);
    assert_int_equal(smp_bank_cost_of(&access).wavefronts, 1);
    access = strided(SMP_BANK_STORE, 2, 128);
    assert_int_equal(smp_bank_cost_of(&access).conflicts, 31);
}

/* Every lane is served exactly once by each bank that it touches, no bank serves two rows at once, and the schedule is
 * as long as the cost says. */
static void check_schedule(const smp_bank_access *access)
{
    static smp_bank_schedule schedule;
    smp_bank_cost cost = smp_bank_cost_of(access);
    bool atomic = access->op > SMP_BANK_COUNT;
    smp_bank_schedule_of(access, &schedule);
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
                uint32_t low = cell->row * SMP_BANK_ROW, begin = access->offset[lane];
                assert_true(begin < low + SMP_BANK_ROW && begin + (uint32_t)access->width > low);
                served[lane]++;
            }
        }
    }
    int wide = access->width > 4 && !atomic ? access->width / SMP_BANK_BYTES : 1;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        int want = access->active >> lane & 1 ? (wide ? wide : 1) : 0;
        assert_int_equal(served[lane], access->op == SMP_BANK_ATOMIC_FLOAT ? 2 * want : want);
    }
}

SMP_TEST(schedules_serve_every_lane_once)
{
    FILE *file = bank_patterns_open();
    bank_pattern row;
    while (bank_patterns_next(file, &row))
        check_schedule(&row.access);
    fclose(file);
}
