/* What the tests of neighbourhood stages share: every border mode over awkward pictures, and comparison of the
 * definition with direct sums in double. */
#ifndef SMP_TESTS_STENCIL_CASE_H
#define SMP_TESTS_STENCIL_CASE_H

#include <math.h>

#include "kernel_case.h"

/* A stage's parameters by name, defaults for the rest, as the parser would fill them. */
typedef struct setting {
    const char *name;
    double value; /* of an enumeration: the index of the choice */
} setting;

enum { PARAMS_SIZE = 256 };

CASE_FN void params_put(const smp_param *param, void *params, double v)
{
    char *to = (char *)params + param->offset;
    if (param->type == SMP_T_FLOAT)
        *(double *)(void *)to = v;
    else if (param->type == SMP_T_INT)
        *(int64_t *)(void *)to = (int64_t)v;
    else if (param->type == SMP_T_ENUM)
        *(int *)(void *)to = (int)v;
    else if (param->type == SMP_T_BOOL)
        *(bool *)(void *)to = v != 0;
    else
        fail_msg("%s: a test cannot set a parameter of this type", param->name);
}

/* params: PARAMS_SIZE bytes. settings end with a null name. Matrices stay null: the caller sets them. */
CASE_FN void params_fill(const smp_stage *stage, void *params, const setting *settings)
{
    memset(params, 0, PARAMS_SIZE);
    assert_true(stage->params_size <= PARAMS_SIZE);
    for (const smp_param *p = stage->params; p->name; p++) {
        if (p->fallback && p->type == SMP_T_ENUM) {
            for (int i = 0; p->choices[i]; i++)
                if (!strcmp(p->choices[i], p->fallback))
                    params_put(p, params, i);
        } else if (p->fallback && !strcmp(p->fallback, "auto")) {
            params_put(p, params, (double)NAN);
        } else if (p->fallback) {
            params_put(p, params, p->type == SMP_T_BOOL ? !strcmp(p->fallback, "yes") : strtod(p->fallback, NULL));
        }
    }
    for (; settings->name; settings++) {
        const smp_param *p = stage->params;
        while (p->name && strcmp(p->name, settings->name))
            p++;
        if (!p->name)
            fail_msg("%s has no parameter %s", stage->name, settings->name);
        params_put(p, params, settings->value);
    }
}

/* The parameters `list` (setting rows) of a stage, alive until the end of the block. */
#define PARAMS(name, stage, ...)                                                                                       \
    _Alignas(16) unsigned char name[PARAMS_SIZE];                                                                      \
    params_fill(stage, name, (const setting[]){__VA_ARGS__ __VA_OPT__(, ){NULL, 0}})

/* The sample at (x, y) in double, wherever it lies. */
CASE_FN double double_at(const picture *p, int64_t x, int64_t y, int c, int edge, double fill)
{
    x = smp_border(x, p->view.width, edge);
    y = smp_border(y, p->view.height, edge);
    if (x < 0 || y < 0)
        return edge == SMP_CONSTANT ? fill * p->view.white : 0;
    return picture_get(p, x, y, c);
}

/* Every variant, isa and strip against naive for one set of parameters, over small and odd pictures: `wide` adds
 * pictures of more than one tile. */
CASE_FN void stencil_check_sizes(const smp_stage *stage, const void *params, bool wide)
{
    static const struct {
        int width, height, channels;
    } shapes[] = {{1, 1, 1},  {1, 19, 3},  {23, 1, 2},  {5, 3, 4},   {61, 45, 1},
                  {17, 9, 5}, {61, 21, 3}, {29, 34, 8}, {400, 6, 1}, {131, 70, 3}};
    const int count = wide ? 10 : 8;
    smp_format nominal, in, out;
    uint64_t seed = 9;
    for (int s = 0; s < count; s++)
        for (int f = 0; case_formats(f, &nominal, &in, &out); f++) {
            if (f % 2 != s % 2 && !wide)
                continue; /* every pair of formats at half of the sizes */
            kernel_case c = {.stage = stage,
                             .params = params,
                             .in = case_shape(shapes[s].width, shapes[s].height, shapes[s].channels, nominal),
                             .in_storage = in,
                             .out_storage = out,
                             .values = in == SMP_F32 ? CASE_REALS : CASE_CODES,
                             .seed = seed++};
            kernel_case_check(&c);
        }
}

/* The same code values stored as integers and as f32 give the same f32 results, and so the same bytes. */
CASE_FN void stencil_check_storage(const smp_stage *stage, const void *params, smp_format nominal, int channels)
{
    kernel_case c = {.stage = stage, .params = params, .in = case_shape(45, 31, channels, nominal), .seed = 3};
    picture codes = picture_make(&c.in, nominal), floats = picture_make(&c.in, SMP_F32), a, b;
    picture_fill(&codes, 3, CASE_CODES);
    picture_fill(&floats, 3, CASE_CODES);
    for (int out = 0; out < 2; out++) {
        c.out_storage = out ? SMP_F32 : nominal;
        c.in_storage = nominal;
        kernel_case_naive(&c, &codes, NULL, &a);
        c.in_storage = SMP_F32;
        kernel_case_naive(&c, &floats, NULL, &b);
        assert_true(picture_equal(&a, &b));
        picture_free(&a);
        picture_free(&b);
    }
    picture_free(&codes);
    picture_free(&floats);
}

/* NaN and infinity: naive and every other variant agree on which samples are NaN, and bit for bit on all others. (The
 * bits of a NaN depend on the processor.) */
CASE_FN void stencil_check_nonfinite(const smp_stage *stage, const void *params)
{
    kernel_case c = {.stage = stage,
                     .params = params,
                     .in = case_shape(67, 41, 3, SMP_F32),
                     .in_storage = SMP_F32,
                     .out_storage = SMP_F32,
                     .seed = 11};
    picture in = picture_make(&c.in, SMP_F32), want;
    picture_fill(&in, 11, CASE_CODES);
    picture_set(&in, 30, 20, 1, NAN);
    picture_set(&in, 2, 3, 0, INFINITY);
    picture_set(&in, 60, 37, 2, -INFINITY);
    smp_node_plan plan = case_plan(&c);
    kernel_case_naive(&c, &in, NULL, &want);
    assert_true(isnan(picture_get(&want, 30, 20, 1)) || !isfinite(picture_get(&want, 31, 21, 1)));
    for (const smp_variant *v = stage->variants + 1; v->name; v++)
        for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS && case_has_isa(isa); isa++) {
            picture got = picture_make(&c.in, SMP_F32);
            case_run(&c, &plan, v, isa, &in, NULL, &got, NULL, 0, 1);
            for (int64_t y = 0; y < 41; y++)
                for (int64_t x = 0; x < 67; x++)
                    for (int k = 0; k < 3; k++) {
                        float a = picture_get(&want, x, y, k), b = picture_get(&got, x, y, k);
                        assert_true(isnan(a) ? isnan(b) : a == b);
                    }
            picture_free(&got);
        }
    case_plan_free(&plan);
    picture_free(&in);
    picture_free(&want);
}

/* want(x, y, c) within `relative` of `scale` (the sum of absolute terms, or full scale). */
typedef double stencil_exact(const picture *in, int64_t x, int64_t y, int c, const void *context);

CASE_FN void stencil_check_exact(const kernel_case *c, stencil_exact *exact, const void *context, double tolerance)
{
    picture in = picture_make(&c->in, c->in_storage), got;
    picture_fill(&in, c->seed, c->values);
    kernel_case_naive(c, &in, NULL, &got);
    for (int64_t y = 0; y < c->in.height; y++)
        for (int64_t x = 0; x < c->in.width; x++)
            for (int k = 0; k < c->in.channels; k++) {
                double want = exact(&in, x, y, k, context), is = picture_get(&got, x, y, k);
                if (fabs(is - want) > tolerance) {
                    case_print(c, "naive");
                    fail_msg("(%lld, %lld, %d): %.9g, exact %.9g", (long long)x, (long long)y, k, is, want);
                }
            }
    picture_free(&in);
    picture_free(&got);
}

#endif
