/* For tests of the language: a table of stages with every type of parameter, so that they need none of the real ones,
 * and a few lines to parse a text and look at what came of it. */
#ifndef TESTS_PIPE_CASE_H
#define TESTS_PIPE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/alloc.h"
#include "pipe/catalog.h"
#include "pipe/program.h"

typedef struct soften_params {
    double sigma;
    int edge;
    double truncate;
} soften_params;

static const char *const soften_edges[] = {"clamp", "reflect", "mirror", NULL};
static const smp_param soften_rows[] = {
    {"sigma", offsetof(soften_params, sigma), SMP_T_FLOAT, SMP_UNIT_PX, 0, 1000, NULL, "width of the gaussian", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_POSITIVE},
    {"edge", offsetof(soften_params, edge), SMP_T_ENUM, SMP_UNIT_NONE, 0, 0, "clamp", "border", soften_edges, 0},
    {"truncate", offsetof(soften_params, truncate), SMP_T_FLOAT, SMP_UNIT_NONE, 1, 10, "4", "cut", NULL, 0},
    {0},
};

typedef struct choose_params {
    int angle, depth;
} choose_params;

static const char *const angles[] = {"90", "180", "270", NULL};
static const char *const depths[] = {"8bit", "16bit", "float", NULL};
static const smp_param choose_rows[] = {
    {"angle", offsetof(choose_params, angle), SMP_T_ENUM, SMP_UNIT_DEG, 0, 0, "90", "clockwise", angles, SMP_P_MAIN},
    {"depth", offsetof(choose_params, depth), SMP_T_ENUM, SMP_UNIT_BIT, 0, 0, "8bit", "format", depths, 0},
    {0},
};

typedef struct filter_params {
    smp_matrix kernel;
    double scale;
    int64_t taps;
    bool flip;
} filter_params;

static const smp_param filter_rows[] = {
    {"kernel", offsetof(filter_params, kernel), SMP_T_MATRIX, SMP_UNIT_NONE, -100, 100, "[0 1 0]", "weights", NULL,
     SMP_P_MAIN},
    {"scale", offsetof(filter_params, scale), SMP_T_FLOAT, SMP_UNIT_NONE, 0, 0, "auto", "factor", NULL, SMP_P_AUTO},
    {"taps", offsetof(filter_params, taps), SMP_T_INT, SMP_UNIT_NONE, 1, 9999, "auto", "length", NULL,
     SMP_P_AUTO | SMP_P_ODD},
    {"flip", offsetof(filter_params, flip), SMP_T_BOOL, SMP_UNIT_NONE, 0, 0, "yes", "turn it", NULL, 0},
    {0},
};

typedef struct combine_params {
    smp_operand by, also;
    double clip;
} combine_params;

static const smp_param combine_rows[] = {
    {"by", offsetof(combine_params, by), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 4, NULL, "the other picture", NULL,
     SMP_P_MAIN | SMP_P_REQUIRED},
    {"also", offsetof(combine_params, also), SMP_T_OPERAND, SMP_UNIT_FRACTION, 0, 0, NULL, "one more", NULL, 0},
    {"clip", offsetof(combine_params, clip), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 1, "0.5%", "share", NULL, 0},
    {0},
};

typedef struct measure_params {
    const char *name, *text;
    int64_t bins;
} measure_params;

static const smp_param measure_rows[] = {
    {"name", offsetof(measure_params, name), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, NULL, "of the result", NULL, 0},
    {"text", offsetof(measure_params, text), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, "\"a b\"", "remark", NULL, 0},
    {"bins", offsetof(measure_params, bins), SMP_T_INT, SMP_UNIT_NONE, 2, 65536, "256", "count", NULL, 0},
    {0},
};

typedef struct cut_params {
    double cutoff, fade, level;
} cut_params;

static const smp_param cut_rows[] = {
    {"cutoff", offsetof(cut_params, cutoff), SMP_T_FLOAT, SMP_UNIT_HZ, 0, 0, "{rate/4}", "frequency", NULL, SMP_P_MAIN},
    {"fade", offsetof(cut_params, fade), SMP_T_FLOAT, SMP_UNIT_S, 0, 60, "20ms", "ramp", NULL, 0},
    {"level", offsetof(cut_params, level), SMP_T_FLOAT, SMP_UNIT_DB, -200, 40, "0", "loudness", NULL, 0},
    {0},
};

static const smp_stage pipe_stages[] = {
    {.name = "soften",
     .domain = SMP_IMAGE,
     .access = SMP_STENCIL,
     .params = soften_rows,
     .params_size = sizeof(soften_params),
     .aliases = (const smp_alias[]){{"blur", "soften"}, {"gblur", "soften"}, {0}}},
    {.name = "choose",
     .domain = SMP_IMAGE,
     .access = SMP_WHOLE,
     .params = choose_rows,
     .params_size = sizeof(choose_params),
     .aliases = (const smp_alias[]){{"hflip", "choose 180"}, {0}}},
    {.name = "filter",
     .domain = SMP_BOTH,
     .access = SMP_STENCIL,
     .params = filter_rows,
     .params_size = sizeof(filter_params)},
    {.name = "combine", .domain = SMP_BOTH, .params = combine_rows, .params_size = sizeof(combine_params)},
    {.name = "measure",
     .domain = SMP_BOTH,
     .access = SMP_REDUCE,
     .params = measure_rows,
     .params_size = sizeof(measure_params)},
    {.name = "cut", .domain = SMP_AUDIO, .params = cut_rows, .params_size = sizeof(cut_params)},
    {.name = "draw", .domain = SMP_AUDIO, .access = SMP_WHOLE, .gives = SMP_IMAGE},
    {.name = "negate", .domain = SMP_BOTH},
    {.name = "hidden", .domain = SMP_BOTH, .internal = true},
};

static size_t pipe_stage_count(void)
{
    return sizeof pipe_stages / sizeof pipe_stages[0];
}
static const smp_stage *pipe_stage_at(size_t index)
{
    return &pipe_stages[index];
}

static int pipe_setup(void **state)
{
    static const smp_catalog catalog = {pipe_stage_count, pipe_stage_at};
    (void)state;
    smp_pipe_catalog = &catalog;
    return 0;
}

static int pipe_teardown(void **state)
{
    (void)state;
    smp_pipe_catalog = NULL;
    return 0;
}

/* A text parsed. pipe_done frees everything and checks that nothing is left. */
typedef struct pipe_case {
    smp_program *program;
    smp_diags diags;
    smp_error err;
    smp_code code;
    uint64_t live;
} pipe_case;

__attribute__((unused)) static pipe_case pipe_parse_with(const char *text, size_t length, const smp_setting *settings,
                                                         size_t count, smp_loader *loader, void *context)
{
    pipe_case c = {.live = smp_alloc_live()};
    c.code = smp_program_parse("t.pipe", text, length, settings, count, loader, context, &c.diags, &c.program, &c.err);
    assert_true((c.code == SMP_OK) == (c.program != NULL));
    return c;
}

__attribute__((unused)) static pipe_case pipe_parse(const char *text)
{
    return pipe_parse_with(text, strlen(text), NULL, 0, NULL, NULL);
}

__attribute__((unused)) static void pipe_done(pipe_case *c)
{
    smp_program_free(c->program);
    smp_diags_free(&c->diags);
    assert_int_equal(smp_alloc_live(), c->live);
}

__attribute__((unused)) static void pipe_show(const pipe_case *c)
{
    char *text = smp_diags_text(&c->diags, false);
    print_message("%s", text ? text : "no memory\n");
    smp_free(text);
}

/* Expects a program, without warnings. */
__attribute__((unused)) static pipe_case pipe_good(const char *text)
{
    pipe_case c = pipe_parse(text);
    if (c.code || c.diags.count)
        pipe_show(&c);
    assert_int_equal(c.code, SMP_OK);
    assert_int_equal(c.diags.count, 0);
    return c;
}

/* The parameters of a node for a picture of 640 x 480. */
__attribute__((unused)) static void pipe_params(pipe_case *c, size_t node, void *params)
{
    smp_shape shape = {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3};
    assert_true(node < c->program->node_count);
    assert_int_equal(smp_node_params(c->program, &c->program->nodes[node], &shape, &c->diags, params, &c->err), SMP_OK);
}

/* Expects exactly one diagnostic, an error with this message and fix (null: none), at line:column. */
__attribute__((unused)) static void pipe_one_error(const char *text, int line, int column, const char *message,
                                                   const char *fix)
{
    pipe_case c = pipe_parse(text);
    int at_line = 0, at_column = 0;
    bool right = c.code == SMP_E_PIPE && c.diags.count == 1;
    if (right) {
        const smp_diag *d = &c.diags.items[0];
        smp_diags_locate(&c.diags, d->span, &at_line, &at_column);
        right = at_line == line && at_column == column && !strcmp(d->message, message) &&
                (fix ? d->fix && !strcmp(d->fix, fix) : !d->fix);
    }
    if (!right) {
        pipe_show(&c);
        fail_msg("expected one error at %d:%d: %s (%s)", line, column, message, fix ? fix : "no fix");
    }
    pipe_done(&c);
}

#endif
