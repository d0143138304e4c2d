/* The schedule of strips on random plans: every row is computed once and in order, everything a strip reads is still
 * there, and the windows hold it. */
#include <stdlib.h>

#include "suite.h"

#include "base/checked.h"
#include "run/strips/schedule.h"

enum { STEPS = 9 };

static uint32_t state = 12345;
static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* Ratios of input rows to output rows, as stages have them: a picture to 1/8, or to 7/3; 44100 Hz to 16000; twice. */
static const smp_row_map ratios[] = {{.num = 1, .den = 1},     {.num = 8, .den = 1}, {.num = 3, .den = 7},
                                     {.num = 441, .den = 160}, {.num = 1, .den = 8}, {.num = 1, .den = 2}};
enum { RATIOS = sizeof ratios / sizeof ratios[0] };

/* Gives a step another height than its input, by a ratio, or by rows before and after it. */
static void other_height(smp_step *s, int64_t height)
{
    const int64_t up = s->reads.up, down = s->reads.down;
    s->reads = ratios[random_below(RATIOS)];
    s->out.height = smp_max_i64(1, height * s->reads.den / s->reads.num);
    s->reads.up = up;
    s->reads.down = down;
    if (random_below(3) == 0) {
        s->reads.add = -(int64_t)random_below(20);
        s->out.height += random_below(40);
    }
}

/* A chain with branches: step i reads an earlier one, sometimes two, with some reach, sometimes whole. */
static void random_plan(smp_plan *plan, smp_step *steps, smp_sink *sinks)
{
    *plan = (smp_plan){
        .steps = steps, .step_count = STEPS, .sinks = sinks, .sink_count = 1, .row_multiple = 1u << random_below(3)};
    int64_t height = 1 + random_below(60);
    for (int i = 0; i < STEPS; i++) {
        smp_step *s = &steps[i];
        *s = (smp_step){.job = i ? SMP_JOB_STAGE : SMP_JOB_SOURCE, .input = -1, .second = -1, .reduced_by = -1};
        s->out.height = height;
        s->out.width = 5;
        if (i == 0)
            continue;
        s->input = random_below(3) ? i - 1 : (int)random_below((uint32_t)i);
        if (steps[s->input].job == SMP_JOB_REDUCE)
            s->input = 0;
        if (random_below(4) == 0) {
            int second = (int)random_below((uint32_t)i);
            s->second = steps[second].job == SMP_JOB_REDUCE ? -1 : second;
        }
        if (random_below(2))
            s->reads.up = random_below(9), s->reads.down = random_below(9);
        s->whole_input = random_below(6) == 0;
        if (!s->whole_input && s->second < 0 && i < STEPS - 1 && random_below(6) == 0) {
            s->job = SMP_JOB_REDUCE;
            s->reads = (smp_row_map){0};
        }
        s->out.height = steps[s->input].out.height;
        const bool own = s->second >= 0 && !s->whole_input && random_below(2);
        if (s->second >= 0 && steps[s->second].out.height != s->out.height && !own)
            s->second = -1;
        if (s->job == SMP_JOB_STAGE && s->second < 0 && !s->whole_input && s->out.height > 1 && random_below(6) == 0) {
            int64_t start = random_below((uint32_t)s->out.height); /* some of its input's rows */
            s->out.height = 1 + random_below((uint32_t)(s->out.height - start));
            s->reads = (smp_row_map){.add = start};
        } else if (s->job == SMP_JOB_STAGE && s->second < 0 && !s->whole_input && random_below(3) == 0) {
            other_height(s, s->out.height);
        }
        s->phase = steps[s->input].phase + s->whole_input;
        s->reads_second = s->reads;
        if (own) /* rows of its own, as where one sound follows another */
            s->reads_second = (smp_row_map){.add = (int64_t)random_below(200) - 100};
        if (s->second >= 0)
            s->phase = (int)smp_max_i64(s->phase, steps[s->second].phase + s->whole_input);
        if (random_below(3) == 0)
            s->work.rows.unit = plan->row_multiple;
        plan->phases = (int)smp_max_i64(plan->phases, s->phase + 1);
    }
    for (int i = 1; i < STEPS; i++) {
        steps[steps[i].input].frame |= steps[steps[i].input].phase < steps[i].phase;
        if (steps[i].second >= 0)
            steps[steps[i].second].frame |= steps[steps[i].second].phase < steps[i].phase;
    }
    sinks[0] = (smp_sink){.step = STEPS - 1};
}

static void check_reads(const smp_plan *plan, int index, int input, const smp_row_map *reads, const smp_rows *rows,
                        const int64_t *base, const smp_window *windows)
{
    const smp_step *step = &plan->steps[index], *source = &plan->steps[input];
    if (source->phase < step->phase) {
        assert_true(source->frame);
        return;
    }
    int64_t low, high, height = source->out.height;
    smp_row_map_reads(reads, height, rows[index].from, rows[index].to, &low, &high);
    assert_true(high - low <= smp_row_map_most(reads, height, rows[index].to - rows[index].from));
    assert_true(low >= base[input]);
    assert_true(high <= rows[input].to);
    assert_true(rows[input].to - base[input] <= windows[input].rows);
}

SMP_TEST(every_row_is_computed_once_and_what_is_read_is_there)
{
    for (int round = 0; round < 400; round++) {
        smp_plan plan;
        smp_step steps[STEPS];
        smp_sink sinks[1];
        random_plan(&plan, steps, sinks);
        int64_t strip = (1 + random_below(20)) * plan.row_multiple;
        smp_window windows[STEPS];
        smp_rows rows[STEPS];
        assert_int_equal(smp_plan_windows(&plan, strip, windows, NULL), SMP_OK);
        int64_t done[STEPS] = {0}, base[STEPS] = {0};
        for (int phase = 0; phase < plan.phases; phase++)
            for (int64_t k = 0; k < smp_strip_count(&plan, phase, strip); k++) {
                smp_strip_needs(&plan, phase, strip, k, rows);
                for (int i = 0; i < STEPS; i++) {
                    if (steps[i].phase != phase || rows[i].from == rows[i].to)
                        continue;
                    assert_int_equal(rows[i].from, done[i] ? done[i] : rows[i].first);
                    assert_true(rows[i].to > rows[i].from && rows[i].to <= steps[i].out.height);
                    done[i] = rows[i].to;
                    /* as the runner does: the window moves only when it must, and then without overlap */
                    if (steps[i].job != SMP_JOB_REDUCE && rows[i].to - base[i] > windows[i].rows) {
                        assert_true(rows[i].from - rows[i].keep <= rows[i].keep - base[i]);
                        base[i] = rows[i].keep;
                    }
                    const bool units = steps[i].work.rows.unit || steps[i].job == SMP_JOB_REDUCE;
                    if (units && rows[i].to < steps[i].out.height)
                        assert_int_equal(rows[i].to % plan.row_multiple, 0);
                    if (units)
                        assert_int_equal(rows[i].from % plan.row_multiple, 0);
                    if (i > 0)
                        check_reads(&plan, i, steps[i].input, &steps[i].reads, rows, base, windows);
                    if (steps[i].second >= 0)
                        check_reads(&plan, i, steps[i].second, &steps[i].reads_second, rows, base, windows);
                }
            }
        assert_int_equal(done[STEPS - 1], steps[STEPS - 1].out.height);
        for (int i = 0; i < STEPS; i++)
            if (steps[i].frame || steps[i].job == SMP_JOB_REDUCE)
                assert_int_equal(done[i], steps[i].out.height);
    }
}

/* Slots of outputs are as high as a strip. */
SMP_TEST(no_driver_advances_by_more_than_a_strip)
{
    enum { MULTIPLE = 64, DRIVERS = 2 };
    for (int64_t low = 1; low < 400; low += 3)
        for (int64_t high = low; high < 400; high += 7)
            for (int64_t strip_rows = MULTIPLE; strip_rows <= 3 * MULTIPLE; strip_rows += MULTIPLE) {
                smp_step steps[1 + DRIVERS] = {{.job = SMP_JOB_SOURCE, .input = -1, .second = -1}};
                smp_sink sinks[DRIVERS] = {{.step = 1}, {.step = 2}};
                smp_plan plan = {.steps = steps,
                                 .step_count = 1 + DRIVERS,
                                 .sinks = sinks,
                                 .sink_count = DRIVERS,
                                 .phases = 1,
                                 .row_multiple = MULTIPLE};
                steps[0].out.height = high;
                for (int i = 1; i <= DRIVERS; i++) {
                    steps[i] =
                        (smp_step){.job = SMP_JOB_STAGE, .input = 0, .second = -1, .reads = {1, 1, 0, 0, 0, NULL, 0}};
                    steps[i].out.height = i == 1 ? low : high;
                }
                int64_t done = 0;
                for (int64_t k = 0; k < smp_strip_count(&plan, 0, strip_rows); k++) {
                    smp_rows rows[1 + DRIVERS];
                    smp_strip_needs(&plan, 0, strip_rows, k, rows);
                    assert_int_equal(rows[1].from, done);
                    assert_true(rows[1].to - rows[1].from <= strip_rows);
                    done = rows[1].to;
                }
                assert_int_equal(done, low);
            }
}

SMP_TEST(windows_do_not_grow_with_the_height)
{
    smp_step steps[3] = {
        {.job = SMP_JOB_SOURCE, .input = -1, .second = -1, .reduced_by = -1},
        {.job = SMP_JOB_STAGE, .input = 0, .second = -1, .reduced_by = -1, .reads = {.up = 8, .down = 8}},
        {.job = SMP_JOB_STAGE, .input = 1, .second = -1, .reduced_by = -1, .reads = {.up = 3, .down = 3}}};
    smp_sink sink = {.step = 2};
    smp_plan plan = {.steps = steps, .step_count = 3, .sinks = &sink, .sink_count = 1, .row_multiple = 1, .phases = 1};
    smp_window low[3], high[3];
    for (int i = 0; i < 3; i++)
        steps[i].out.height = 1000;
    assert_int_equal(smp_plan_windows(&plan, 64, low, NULL), SMP_OK);
    for (int i = 0; i < 3; i++)
        steps[i].out.height = 100000;
    assert_int_equal(smp_plan_windows(&plan, 64, high, NULL), SMP_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(low[i].rows, high[i].rows);
    assert_true(high[0].rows < 64 + 4 * 22);
}

/* A chain of whole pictures: two are there at a time, so the third takes the first one's memory, and so on. */
SMP_TEST(frames_that_no_later_phase_reads_lend_their_memory)
{
    enum { CHAIN = 6 };
    static const int owners[CHAIN] = {0, 1, 2, 1, 2, -1};
    smp_step steps[CHAIN];
    smp_sink sink = {.step = CHAIN - 1};
    smp_plan plan = {.steps = steps, .step_count = CHAIN, .sinks = &sink, .sink_count = 1, .row_multiple = 1};
    smp_window windows[CHAIN];
    for (int i = 0; i < CHAIN; i++) {
        steps[i] =
            (smp_step){.job = i ? SMP_JOB_STAGE : SMP_JOB_SOURCE, .input = i - 1, .second = -1, .reduced_by = -1};
        steps[i].whole_input = i > 0;
        steps[i].frame = i < CHAIN - 1;
        steps[i].phase = i;
        steps[i].out = (smp_shape){.width = 10, .height = 100, .channels = 1};
    }
    plan.phases = CHAIN;
    assert_int_equal(smp_plan_windows(&plan, 64, windows, NULL), SMP_OK);
    for (int i = 0; i < CHAIN; i++)
        assert_int_equal(windows[i].frame_of, owners[i]);
    steps[CHAIN - 1].second = 1; /* read to the end */
    assert_int_equal(smp_plan_windows(&plan, 64, windows, NULL), SMP_OK);
    assert_int_equal(windows[3].frame_of, 3);
    steps[CHAIN - 1].second = -1;
    steps[3].out.height = 101; /* larger */
    assert_int_equal(smp_plan_windows(&plan, 64, windows, NULL), SMP_OK);
    assert_int_equal(windows[3].frame_of, 3);
}

SMP_TEST(rows_before_a_part_are_neither_computed_nor_kept)
{
    smp_step steps[3] = {
        {.job = SMP_JOB_SOURCE, .input = -1, .second = -1, .reduced_by = -1},
        {.job = SMP_JOB_STAGE, .input = 0, .second = -1, .reduced_by = -1, .reads = {.up = 2, .down = 2}},
        {.job = SMP_JOB_STAGE, .input = 1, .second = -1, .reduced_by = -1, .reads = {.add = 5000}}};
    smp_sink sink = {.step = 2};
    smp_plan plan = {.steps = steps, .step_count = 3, .sinks = &sink, .sink_count = 1, .row_multiple = 1, .phases = 1};
    smp_window windows[3];
    smp_rows rows[3];
    steps[0].out.height = steps[1].out.height = 10000;
    steps[2].out.height = 300;
    smp_strip_needs(&plan, 0, 64, 0, rows);
    assert_int_equal(rows[2].from, 0);
    assert_int_equal(rows[1].from, 5000);
    assert_int_equal(rows[0].from, 4998);
    assert_int_equal(rows[0].to, 5000 + 64 + 2);
    assert_int_equal(smp_plan_windows(&plan, 64, windows, NULL), SMP_OK);
    assert_true(windows[0].rows < 64 + 20 && windows[1].rows < 64 + 20);
}

/* Output row r is centred on input row floor((2r + 1) * num / (2 * den)) + add. */
SMP_TEST(rows_are_mapped_by_their_centres)
{
    static const struct {
        smp_row_map map;
        int64_t row[6];
    } cases[] = {
        {{.num = 0, .den = 0}, {0, 1, 2, 3, 4, 5}},           {{.num = 1, .den = 1, .add = -2}, {-2, -1, 0, 1, 2, 3}},
        {{.num = 3, .den = 7}, {0, 0, 1, 1, 1, 2}},           {{.num = 441, .den = 160}, {1, 4, 6, 9, 12, 15}},
        {{.num = 1, .den = 8, .add = 1}, {1, 1, 1, 1, 1, 1}}, {{.num = 8, .den = 1}, {4, 12, 20, 28, 36, 44}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int r = 0; r < 6; r++)
            assert_int_equal(smp_row_map_row(&cases[i].map, r), cases[i].row[r]);
    const smp_row_map sound = {.num = 441, .den = 160},
                      picture = {.num = SMP_ROW_MAP_MOST, .den = SMP_ROW_MAP_MOST - 1};
    assert_int_equal(smp_row_map_row(&sound, INT64_C(160) << 40), (INT64_C(441) << 40) + 1);
    assert_int_equal(smp_row_map_row(&picture, SMP_ROW_MAP_MOST - 2), SMP_ROW_MAP_MOST - 1);
}

SMP_TEST(rows_outside_stand_for_the_first_and_the_last)
{
    const smp_row_map pad = {.add = -10}, half = {.num = 2, .den = 1, .up = 3, .down = 2};
    int64_t first, end;
    smp_row_map_reads(&pad, 6, 0, 4, &first, &end);
    assert_true(first == 0 && end == 1);
    smp_row_map_reads(&pad, 6, 8, 12, &first, &end);
    assert_true(first == 0 && end == 2);
    smp_row_map_reads(&pad, 6, 20, 26, &first, &end);
    assert_true(first == 5 && end == 6);
    smp_row_map_reads(&pad, 6, 3, 3, &first, &end);
    assert_int_equal(end - first, 0);
    smp_row_map_reads(&half, 100, 10, 12, &first, &end);
    assert_true(first == 18 && end == 26);
    assert_true(smp_row_map_most(&half, 100, 2) >= 8 && smp_row_map_most(&half, 100, 2) <= 9);
    assert_int_equal(smp_row_map_most(&half, 5, 2), 5);
}

/* A picture that is made an eighth as high has eight rows in memory for each row of a strip, and no more as it grows.
 */
SMP_TEST(windows_hold_what_a_smaller_picture_reads)
{
    for (int i = 0; i < RATIOS; i++) {
        smp_step steps[3] = {{.job = SMP_JOB_SOURCE, .input = -1, .second = -1, .reduced_by = -1},
                             {.job = SMP_JOB_STAGE, .input = 0, .second = -1, .reduced_by = -1, .reads = ratios[i]}};
        smp_sink sink = {.step = 1};
        smp_plan plan = {
            .steps = steps, .step_count = 2, .sinks = &sink, .sink_count = 1, .row_multiple = 1, .phases = 1};
        smp_window windows[2];
        steps[1].reads.up = steps[1].reads.down = 5;
        steps[1].out.height = 4000;
        steps[0].out.height = 4000 * ratios[i].num / ratios[i].den;
        assert_int_equal(smp_plan_windows(&plan, 16, windows, NULL), SMP_OK);
        const int64_t most = smp_row_map_most(&steps[1].reads, steps[0].out.height, 16);
        assert_true(most <= 16 * ratios[i].num / ratios[i].den + 13);
        assert_true(windows[0].shown >= 10 && windows[0].shown <= most + 13);
        assert_true(windows[1].shown == 16);
    }
}

/* Ten minutes of stereo, kept whole for a picture whose wide rows are few in a strip. */
SMP_TEST(a_sound_that_is_kept_whole_comes_in_long_strips)
{
    enum { FRAMES = 26460000, WIDE = 8 /* rows of a strip of the picture */ };
    smp_step steps[2] = {
        {.job = SMP_JOB_SOURCE,
         .out = {.kind = SMP_AUDIO, .width = 1, .height = FRAMES, .channels = 2, .format = SMP_F32},
         .input = -1,
         .second = -1,
         .frame = true},
        {.job = SMP_JOB_STAGE,
         .out = {.kind = SMP_IMAGE, .width = 103360, .height = 512, .channels = 3, .format = SMP_U8},
         .input = 0,
         .second = -1,
         .phase = 1,
         .whole_input = true},
    };
    smp_sink sink = {.step = 1};
    smp_plan plan = {.steps = steps, .step_count = 2, .sinks = &sink, .sink_count = 1, .phases = 2, .row_multiple = 1};
    assert_int_equal(smp_phase_rows(&plan, 0, WIDE), 131072); /* 1 MiB */
    assert_int_equal(smp_strip_count(&plan, 0, WIDE), 202);
    assert_int_equal(smp_strip_count(&plan, 1, WIDE), 64);
    plan.row_multiple = 100000;
    assert_int_equal(smp_phase_rows(&plan, 0, WIDE), 200000);
    sink.step = 0; /* what leaves the phase by strips has those that were asked for */
    plan.row_multiple = 1;
    assert_int_equal(smp_phase_rows(&plan, 0, WIDE), WIDE);
}
