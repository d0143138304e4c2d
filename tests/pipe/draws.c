/* Random values of a text: Philox's published answers, what is drawn from, what moves a draw and what does not. */
#include "suite.h"

#include "lib/philox.h"
#include "pipe_case.h"

SMP_TEST(draws_are_philox)
{
    /* Random123, kat_vectors: philox4x32 10. */
    const smp_draw zero = {0}, ones = {UINT64_MAX, UINT64_MAX, UINT32_MAX},
                   pi = {.seed = 0x299f31d0a4093822, .index = 0x85a308d3243f6a88, .epoch = 0x13198a2e};
    assert_true(smp_draw_bits(&zero, 0) == UINT64_C(0x6627e8d5e169c58d) >> 11);
    assert_true(smp_draw_bits(&ones, UINT32_MAX) == UINT64_C(0x408f276d41c83b0e) >> 11);
    assert_true(smp_draw_bits(&pi, 0x03707344) == UINT64_C(0xd16cfe0994fdcceb) >> 11);
    assert_true(smp_draw_uniform(&zero, 0) == (double)(UINT64_C(0x6627e8d5e169c58d) >> 11) / 9007199254740992.0);
}

/* sigma of the text's first stage that has one, for what is drawn for `index`. */
static double sigma_of(const char *text, size_t node, uint64_t index)
{
    pipe_case c = pipe_good(text);
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3};
    const smp_draw draw = {.seed = 7, .index = index, .epoch = 2};
    soften_params soften;
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[node], &shape, &draw, &c.diags, &soften, &c.err), 0);
    pipe_done(&c);
    return soften.sigma;
}

SMP_TEST(a_range_is_drawn_from_evenly)
{
    enum { DRAWS = 2000 };
    double sum = 0, least = 1e9, most = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        const double v = sigma_of("soften random(2..4px)", 0, i);
        assert_true(v >= 2 && v < 4);
        sum += v;
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    assert_true(sum / DRAWS > 2.95 && sum / DRAWS < 3.05);
    assert_true(least < 2.01 && most > 3.99);
}

SMP_TEST(a_draw_depends_on_its_place_alone)
{
    const double is = sigma_of("soften random(2..4)", 0, 5);
    assert_true(is == sigma_of("negate\nsoften random(2..4)", 1, 5));
    assert_true(is == sigma_of("soften {random(2..4px)} edge=mirror", 0, 5));
    assert_true(is == sigma_of("param s = random(2..4)\nsoften 1\nsoften $s\nsoften $s", 2, 5));
    assert_true(2 * is == sigma_of("soften {2*random(2..4)}", 0, 5));
    assert_true(is != sigma_of("soften random(2..4)", 0, 6));
    assert_true(is != sigma_of("soften random(2..4)\nsoften random(2..4)", 1, 5));
}

SMP_TEST(one_of_several_is_drawn)
{
    int found[3] = {0};
    for (uint64_t i = 0; i < 300; i++)
        found[(int)sigma_of("soften random(1, 2, 3)", 0, i) - 1]++;
    for (int i = 0; i < 3; i++)
        assert_true(found[i] > 70 && found[i] < 130);
}

SMP_TEST(whole_numbers_reach_both_ends)
{
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3};
    pipe_case c = pipe_good("filter [1] taps=random(3..7)\nmeasure bins=random(2..4)");
    int odd[8] = {0}, bins[8] = {0};
    for (uint64_t i = 0; i < 200; i++) {
        const smp_draw draw = {.index = i};
        filter_params filter;
        measure_params measure;
        assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &shape, &draw, NULL, &filter, &c.err), 0);
        assert_int_equal(smp_node_params(c.program, &c.program->nodes[1], &shape, &draw, NULL, &measure, &c.err), 0);
        odd[filter.taps]++;
        bins[measure.bins]++;
    }
    assert_true(odd[3] > 40 && odd[5] > 40 && odd[7] > 40 && odd[3] + odd[5] + odd[7] == 200);
    assert_true(bins[2] > 40 && bins[3] > 40 && bins[4] > 40 && bins[2] + bins[3] + bins[4] == 200);
    pipe_done(&c);
}

SMP_TEST(a_stage_is_left_out_by_its_probability)
{
    const smp_shape shape = {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3};
    pipe_case c = pipe_good("soften 2 probability=30%\nnegate");
    int left = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        bool is;
        const smp_draw draw = {.index = i};
        assert_int_equal(smp_node_is_left_out(&c.program->nodes[0], &shape, &draw, NULL, &is, &c.err), SMP_OK);
        left += is;
        assert_int_equal(smp_node_is_left_out(&c.program->nodes[1], &shape, &draw, NULL, &is, &c.err), SMP_OK);
        assert_false(is);
    }
    assert_true(left > 660 && left < 740);
    pipe_done(&c);
}

SMP_TEST(mistakes_are_told_before_any_draw)
{
    pipe_one_error("soften random(4..2)", 1, 8, "nothing lies in this range", NULL);
    pipe_one_error("soften random(-1..2)", 1, 8, "'sigma' must be above 0 to 1000 px, not 'random(-1..2)'", NULL);
    pipe_one_error("soften random(1..2000)", 1, 8, "'sigma' must be above 0 to 1000 px, not 'random(1..2000)'", NULL);
    pipe_one_error("soften random(1..2Hz)", 1, 8, "'sigma' is a length, but 'random(1..2Hz)' is a frequency", NULL);
    pipe_one_error("soften random(3)", 1, 8, "one value is always drawn",
                   "write random(0.8..1.2), or random(0, 90, 180)");
    pipe_one_error("soften {random}", 1, 9, "nothing says what is drawn from",
                   "write random(0.8..1.2), or random(0, 90, 180)");
    pipe_one_error("soften random(1..2", 1, 14, "this '(' is never closed", NULL);
    pipe_one_error("soften random(1..", 1, 18, "a value is missing at its end", NULL);
    pipe_one_error("soften random", 1, 8, "'sigma' must be above 0 to 1000 px, not 'random'",
                   "say what is drawn from: random(0.8..1.2)");
    pipe_one_error("soften 2..4", 1, 8, "'sigma' must be above 0 to 1000 px, not '2..4'", "write random(2..4)");
    pipe_one_error("soften {50%}", 1, 8, "'sigma' is a length, but '{50%}' is a fraction", NULL);
    pipe_one_error("measure bins=random(2.2..2.8)", 1, 14, "nothing lies in this range", NULL);
    pipe_one_error("soften 2 probability=2", 1, 22, "'probability' must be 0 to 1 (0% to 100%), not '2'", NULL);
    pipe_one_error("soften 2 probability=1 probability=1", 1, 24, "'probability' is given twice", NULL);
    pipe_one_error("draw probability=1", 1, 6, "'probability' is for stages that give what they are given", NULL);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)
