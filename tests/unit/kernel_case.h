/* One stage's kernels run as a device would run them, for unit tests: pictures of pseudo-random samples with padded
 * rows and guard bands, strips of 1, 7, 64 or all rows with just the input rows that the stage's reach needs, rows
 * shared out to "threads", every instruction set that this processor has; every run must give the bytes of the first
 * variant run once over the whole picture.
 *
 *     const kernel_case c = {.stage = &smp_stage_invert, .in = shape, .in_storage = SMP_U8, .out_storage = SMP_F32};
 *     kernel_case_check(&c);                    every variant, isa and strip height against naive
 *
 *     picture out;                              or look at the samples themselves:
 *     kernel_case_naive(&c, &in, NULL, &out);
 *     assert_float_equal(picture_get(&out, x, y, channel), ...);
 *     picture_free(&out);
 *
 * A failed check prints the case, so that it can be repeated by itself. */
#ifndef SMP_TESTS_KERNEL_CASE_H
#define SMP_TESTS_KERNEL_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "stages/stage.h"

#define CASE_FN static __attribute__((unused))

/* Built with AddressSanitizer, guard bands and row padding cannot even be read. */
#if defined(__SANITIZE_ADDRESS__)
#define CASE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CASE_ASAN 1
#endif
#endif
#ifdef CASE_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { GUARD = 192, POISON = 0xA5 }; /* bytes before and after a picture; what they and the row padding hold */

/* ---------------------------------------------------------------------------------------------- pictures */

typedef struct picture {
    smp_view view;
    unsigned char *memory;
    size_t size;
} picture;

/* Forbids or allows access to what lies round the rows of a picture; forbidding works to the last byte after a row, and
 * to 8 bytes before one. */
CASE_FN void picture_fence(const picture *p, bool closed)
{
    const smp_view *v = &p->view;
    size_t row = (size_t)(v->width * v->channels * smp_sample_size(v->format)), at = GUARD;
    if (!closed) {
        ASAN_UNPOISON_MEMORY_REGION(p->memory, p->size);
        return;
    }
    ASAN_POISON_MEMORY_REGION(p->memory, GUARD);
    for (int64_t y = 0; y < v->rows; y++, at += (size_t)v->stride)
        if (y + 1 < v->rows)
            ASAN_POISON_MEMORY_REGION(p->memory + at + row, (size_t)v->stride - row);
        else
            ASAN_POISON_MEMORY_REGION(p->memory + at + row, p->size - at - row);
}

/* Uninitialised (poisoned) rows y0 .. y0+rows-1; `storage` may differ from the format that `shape` names. The last row
 * has no padding, so that a sanitizer sees reads past it. */
CASE_FN picture picture_window(const smp_shape *shape, smp_format storage, int64_t y0, int64_t rows,
                               int padding_samples)
{
    size_t sample = (size_t)smp_sample_size((int)storage),
           row = (size_t)shape->width * (size_t)shape->channels * sample;
    size_t stride = row + (size_t)padding_samples * sample;
    size_t body = rows > 0 ? stride * (size_t)(rows - 1) + row : 0;
    picture p = {.size = body + 2 * GUARD};
    p.memory = malloc(p.size);
    assert_non_null(p.memory);
    memset(p.memory, POISON, p.size);
    p.view = (smp_view){.data = p.memory + GUARD,
                        .stride = (int64_t)stride,
                        .width = shape->width,
                        .height = shape->height,
                        .y0 = y0,
                        .rows = rows,
                        .channels = shape->channels,
                        .format = (int32_t)storage,
                        .white = smp_white(shape->format),
                        .alpha = shape->alpha};
    picture_fence(&p, true);
    return p;
}

CASE_FN picture picture_make(const smp_shape *shape, smp_format storage)
{
    return picture_window(shape, storage, 0, shape->height, 5);
}

CASE_FN void picture_free(picture *p)
{
    if (p->memory)
        picture_fence(p, false);
    free(p->memory);
    *p = (picture){0};
}

/* Sample `channel` of pixel (x, y) as its code value, and setting it (rounded for integer storage). */
CASE_FN float picture_get(const picture *p, int64_t x, int64_t y, int channel)
{
    return smp_load(smp_row(&p->view, y), x * p->view.channels + channel, p->view.format);
}
CASE_FN void picture_set(picture *p, int64_t x, int64_t y, int channel, float v)
{
    smp_store(smp_row(&p->view, y), x * p->view.channels + channel, p->view.format, v);
}

/* True when everything outside the samples still holds the poison. */
CASE_FN bool picture_guards_hold(const picture *p)
{
    const smp_view *v = &p->view;
    size_t row = (size_t)(v->width * v->channels * smp_sample_size(v->format)), end = p->size - GUARD;
    bool ok = true;
    picture_fence(p, false);
    for (size_t i = 0; i < GUARD; i++)
        ok = ok && p->memory[i] == POISON && p->memory[end + i] == POISON;
    for (int64_t y = 0; y + 1 < v->rows; y++)
        for (size_t i = row; i < (size_t)v->stride; i++)
            ok = ok && p->memory[GUARD + (size_t)(y * v->stride) + i] == POISON;
    picture_fence(p, true);
    return ok;
}

/* True when b holds every row that a holds, byte for byte. */
CASE_FN bool picture_equal(const picture *a, const picture *b)
{
    const smp_view *v = &a->view, *w = &b->view;
    if (v->width != w->width || v->y0 < w->y0 || v->y0 + v->rows > w->y0 + w->rows || v->channels != w->channels ||
        v->format != w->format)
        return false;
    size_t row = (size_t)(v->width * v->channels * smp_sample_size(v->format));
    for (int64_t y = v->y0; y < v->y0 + v->rows; y++)
        if (memcmp(smp_row(v, y), smp_row(w, y), row))
            return false;
    return true;
}

/* The next of a sequence of pseudo-random 32-bit numbers (PCG output permutation of an LCG). */
CASE_FN uint32_t case_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(((*state >> 18) ^ *state) >> 27), turn = (uint32_t)(*state >> 59);
    return x >> turn | x << (-turn & 31);
}

typedef enum case_values {
    CASE_CODES, /* code values that the nominal format can hold: integers for u8 and u16, 0..1 for float */
    CASE_REALS, /* f32 storage: fractions, some below 0 and above full scale */
    CASE_ANY    /* f32 storage: infinities and NaN as well */
} case_values;

/* Fills with samples that depend on seed alone, so that u8 storage and f32 storage of the same codes agree. */
CASE_FN void picture_fill(picture *p, uint64_t seed, case_values values)
{
    static const float odd[] = {0.f, -0.f, 1.f, INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 1e-40f};
    float white = p->view.white;
    uint64_t state = seed * 2 + 1;
    for (int64_t y = p->view.y0; y < p->view.y0 + p->view.rows; y++)
        for (int64_t x = 0; x < p->view.width; x++)
            for (int c = 0; c < p->view.channels; c++) {
                uint32_t r = case_random(&state), pick = case_random(&state) % 64;
                float v = white == 1.f ? (float)(r >> 8) / 16777215.f : (float)(r % ((uint32_t)white + 1));
                if (values != CASE_CODES && pick >= 16)
                    v = ((float)(r >> 8) / 16777216.f * 1.5f - 0.25f) * white;
                if (values == CASE_ANY && pick < 2)
                    v = odd[r % (sizeof odd / sizeof odd[0])];
                picture_set(p, x, y, c, v);
            }
}

/* ---------------------------------------------------------------------------------------------- cases */

typedef struct kernel_case {
    const smp_stage *stage;
    const void *params; /* stage->params_size bytes as the parser would fill them; null when it has none */
    smp_shape in;       /* nominal */
    smp_format in_storage, out_storage; /* in memory: the nominal format or SMP_F32 */
    const smp_shape *by;                /* the second picture, of random samples; null: none */
    case_values values;
    uint64_t seed;
} kernel_case;

CASE_FN void case_print(const kernel_case *c, const char *what)
{
    print_error("%s: %s %lldx%lldx%d%s %s, stored %s -> %s, values %d, seed %llu\n", c->stage->name, what,
                (long long)c->in.width, (long long)c->in.height, c->in.channels, c->in.alpha ? " (alpha)" : "",
                smp_format_name(c->in.format), smp_format_name(c->in_storage), smp_format_name(c->out_storage),
                (int)c->values, (unsigned long long)c->seed);
}

/* A shape of a picture; alpha when there are 2 or 4 channels. */
CASE_FN smp_shape case_shape(int64_t width, int64_t height, int channels, smp_format format)
{
    return (smp_shape){.kind = SMP_IMAGE,
                       .width = width,
                       .height = height,
                       .channels = channels,
                       .alpha = channels == 2 || channels == 4,
                       .format = format};
}

CASE_FN bool case_has_isa(smp_isa isa)
{
#if defined(__x86_64__)
    if (isa == SMP_ISA_V3)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (isa == SMP_ISA_V4)
        return case_has_isa(SMP_ISA_V3) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return isa == SMP_ISA_BASE;
}

/* What plan() says of the case; release with case_plan_free. */
CASE_FN smp_node_plan case_plan(const kernel_case *c)
{
    smp_node_plan plan = {.out = c->in, .access = c->stage->access};
    smp_error err = {0};
    if (c->stage->plan && c->stage->plan(c->params, &c->in, c->by, &plan, &err) != SMP_OK)
        fail_msg("%s: plan: %s", c->stage->name, err.message);
    return plan;
}
CASE_FN void case_plan_free(smp_node_plan *plan)
{
    smp_free(plan->table);
    plan->table = NULL;
}

/* One launch over the rows of io->out, in bands as several threads would take them. */
CASE_FN void case_launch(const smp_variant *variant, const smp_cpu_kernel *kernel, smp_isa isa, const smp_io *io,
                         const smp_node_plan *plan, int bands)
{
    size_t size = variant->scratch ? variant->scratch(io, plan->kernel) : 0;
    void *scratch = NULL;
    if (size)
        assert_int_equal(posix_memalign(&scratch, 64, size), 0);
    int64_t unit = variant->band > 0 ? variant->band : 1, first = io->out.y0, end = first + io->out.rows;
    int64_t share = (io->out.rows + bands - 1) / bands;
    share = (share + unit - 1) / unit * unit;
    for (int64_t y = first; y < end; y += share) {
        if (size)
            memset(scratch, POISON, size);
        kernel->fn[isa](io, plan->kernel, scratch, y, y + share < end ? y + share : end);
    }
    free(scratch);
}

/* Rows y0 .. y1-1 of `from`, and no others, in memory of their own. */
CASE_FN picture case_rows(const picture *from, int64_t y0, int64_t y1)
{
    const smp_view *v = &from->view;
    smp_shape shape = {.width = v->width, .height = v->height, .channels = v->channels, .alpha = v->alpha};
    picture p = picture_window(&shape, (smp_format)v->format, y0, y1 - y0, 3);
    p.view.white = v->white;
    for (int64_t y = y0; y < y1; y++)
        memcpy(smp_row(&p.view, y), smp_row(v, y), (size_t)(v->width * v->channels * smp_sample_size(v->format)));
    return p;
}

/* Runs a variant in strips of strip_rows rows (0: all at once). out: made by the caller for plan->out, null for
 * reductions; by may be null or empty; result: plan->result_size bytes or null. Returns the count of clipped samples.
 */
CASE_FN uint64_t case_run(const kernel_case *c, const smp_node_plan *plan, const smp_variant *variant, smp_isa isa,
                          const picture *in, const picture *by, picture *out, void *result, int64_t strip_rows,
                          int bands)
{
    bool whole = plan->access == SMP_WHOLE || plan->whole;
    int64_t in_height = c->in.height, height = out ? plan->out.height : in_height;
    int64_t step = strip_rows > 0 ? strip_rows : height;
    if (!out) /* strips of reductions begin at chunks */
        step = (step + smp_chunk_rows(c->in.width) - 1) / smp_chunk_rows(c->in.width) * smp_chunk_rows(c->in.width);
    uint64_t clipped = 0;
    picture window = {0}, by_window = {0};
    for (int64_t y = 0; y < height; y += step) {
        int64_t end = y + step < height ? y + step : height;
        int64_t top = whole || y < plan->reach_up ? 0 : y - plan->reach_up;
        int64_t bottom = whole || end + plan->reach_down > in_height ? in_height : end + plan->reach_down;
        if (!whole || !window.memory) {
            window = case_rows(in, top, bottom);
            if (by && by->memory)
                by_window = case_rows(by, top, whole ? c->by->height : bottom);
        }
        smp_shape middle = c->in;
        middle.channels = plan->out.channels;
        middle.alpha = plan->out.alpha;
        bool two = variant->launches[1].cpu.fn[isa] != NULL;
        picture scratch = picture_window(&middle, SMP_F32, top, two ? bottom - top : 0, 7);
        smp_view strip = out ? out->view : window.view;
        strip.data = smp_row(&strip, y);
        strip.y0 = y;
        strip.rows = end - y;
        const smp_view *place[] = {[SMP_IN] = &window.view, [SMP_OUT] = &strip, [SMP_SCRATCH] = &scratch.view};
        for (int i = 0; i < SMP_MAX_LAUNCHES; i++) {
            const smp_launch *launch = &variant->launches[i];
            if (!smp_launch_runs(launch, false))
                continue;
            size_t at = 0, size = 0;
            bool counts;
            if (result && !smp_result_part(plan, launch, &at, &size, &counts))
                continue;
            smp_io io = {.out = *place[launch->to],
                         .in = *place[launch->from],
                         .second = by_window.view,
                         .table = plan->table,
                         .result = result ? (char *)result + at : NULL,
                         .clipped = &clipped};
            case_launch(variant, &launch->cpu, isa, &io, plan, bands);
        }
        if (two && !picture_guards_hold(&scratch))
            fail_msg("%s %s wrote outside its scratch picture", c->stage->name, variant->name);
        picture_free(&scratch);
        if (whole && end < height)
            continue;
        if (!picture_guards_hold(&window) || (by_window.memory && !picture_guards_hold(&by_window)))
            fail_msg("%s %s wrote outside its output", c->stage->name, variant->name);
        if (!picture_equal(&window, in) || (by_window.memory && !picture_equal(&by_window, by)))
            fail_msg("%s %s wrote into its input", c->stage->name, variant->name);
        picture_free(&window);
        picture_free(&by_window);
    }
    return clipped;
}

/* The second picture of a case, or an empty one. */
CASE_FN picture case_by(const kernel_case *c)
{
    picture by = {0};
    if (c->by) {
        by = picture_make(c->by, c->by->format);
        picture_fill(&by, c->seed + 77, c->by->format == SMP_F32 ? c->values : CASE_CODES);
    }
    return by;
}

CASE_FN void *case_result(const smp_node_plan *plan)
{
    void *result = calloc(1, plan->result_size ? plan->result_size : 1);
    assert_non_null(result);
    return result;
}

/* ADJUST: reduces the input with `reducer` and lets the stage finish its table. */
CASE_FN void case_adjust(const kernel_case *c, smp_node_plan *plan, const smp_variant *reducer, const picture *in)
{
    void *result = case_result(plan);
    smp_findings findings = {0};
    smp_error err = {0};
    case_run(c, plan, reducer, SMP_ISA_BASE, in, NULL, NULL, result, 0, 1);
    if (c->stage->finish && c->stage->finish(c->params, &c->in, result, plan, &findings, &err) != SMP_OK)
        fail_msg("%s: finish: %s", c->stage->name, err.message);
    smp_findings_free(&findings);
    free(result);
}

/* True for two thirds of the runs of a check where SMP_MATRIX=reduced: a sanitizer looks at accesses, which the runs
 * have in common, and is five times as slow; that all of them give the same bytes is for the other builds. */
CASE_FN bool case_left_out(void)
{
    static uint64_t state = 1;
    const char *matrix = getenv("SMP_MATRIX");
    return matrix && !strcmp(matrix, "reduced") && case_random(&state) % 3 != 0;
}

/* The definition: variants[0] over the whole of `in`. *out is made here; the caller frees it. Not for reductions. */
CASE_FN uint64_t kernel_case_naive(const kernel_case *c, const picture *in, const picture *by, picture *out)
{
    smp_node_plan plan = case_plan(c);
    if (plan.access == SMP_ADJUST)
        case_adjust(c, &plan, &c->stage->reducers[0], in);
    *out = picture_make(&plan.out, c->out_storage);
    uint64_t clipped = case_run(c, &plan, &c->stage->variants[0], SMP_ISA_BASE, in, by, out, NULL, 0, 1);
    case_plan_free(&plan);
    return clipped;
}

CASE_FN void case_check_result(const kernel_case *c, const smp_node_plan *plan, const smp_variant *list,
                               const picture *in)
{
    static const int64_t strips[] = {0, 1, 7, 64};
    void *want = case_result(plan);
    case_run(c, plan, &list[0], SMP_ISA_BASE, in, NULL, NULL, want, 0, 1);
    for (const smp_variant *v = list; v->name; v++)
        for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS; isa++)
            for (int s = 0; s < 4 && case_has_isa(isa); s++) {
                if (case_left_out())
                    continue;
                void *got = case_result(plan);
                case_run(c, plan, v, isa, in, NULL, NULL, got, strips[s], 1);
                bool same = !memcmp(got, want, plan->result_size);
                free(got);
                if (!same) {
                    case_print(c, v->name);
                    fail_msg("other results than naive (isa %d, strips of %lld rows)", (int)isa, (long long)strips[s]);
                }
            }
    free(want);
}

/* Every variant, instruction set, strip height and band against naive at once: same samples, same count of clipped
 * samples, guard bands whole. Reductions: same result bytes. */
CASE_FN void kernel_case_check(const kernel_case *c)
{
    static const int64_t strips[] = {0, 1, 7, 64};
    picture in = picture_make(&c->in, c->in_storage), by = case_by(c), want;
    picture_fill(&in, c->seed, c->values);
    smp_node_plan plan = case_plan(c);
    const smp_stage *stage = c->stage;
    if (stage->access == SMP_REDUCE) {
        case_check_result(c, &plan, stage->variants, &in);
    } else {
        if (plan.access == SMP_ADJUST) {
            case_check_result(c, &plan, stage->reducers, &in);
            case_adjust(c, &plan, &stage->reducers[0], &in);
        }
        want = picture_make(&plan.out, c->out_storage);
        uint64_t clips = case_run(c, &plan, &stage->variants[0], SMP_ISA_BASE, &in, &by, &want, NULL, 0, 1);
        for (const smp_variant *v = stage->variants; v->name; v++)
            for (smp_isa isa = SMP_ISA_BASE; isa < SMP_ISAS; isa++)
                for (int s = 0; s < 4 && case_has_isa(isa); s++) {
                    if ((s > 0 && strips[s] >= plan.out.height) || case_left_out())
                        continue;
                    picture got = picture_make(&plan.out, c->out_storage);
                    uint64_t count = case_run(c, &plan, v, isa, &in, &by, &got, NULL, strips[s], s == 0 ? 3 : 1);
                    bool guards = picture_guards_hold(&got), same = picture_equal(&got, &want);
                    picture_free(&got);
                    if (guards && same && count == clips)
                        continue;
                    case_print(c, v->name);
                    if (!guards)
                        fail_msg("wrote outside the output (isa %d, strips of %lld)", (int)isa, (long long)strips[s]);
                    if (!same)
                        fail_msg("other samples than naive (isa %d, strips of %lld)", (int)isa, (long long)strips[s]);
                    fail_msg("%llu samples counted as clipped, naive %llu (isa %d, strips of %lld)",
                             (unsigned long long)count, (unsigned long long)clips, (int)isa, (long long)strips[s]);
                }
        picture_free(&want);
    }
    case_plan_free(&plan);
    picture_free(&in);
    picture_free(&by);
}

/* The sizes at which kernels break (tile: the variant's tile side in pixels), one a call with index 0, 1, ...; false
 * past the last. */
CASE_FN bool case_size(int index, int64_t tile, int64_t *width, int64_t *height)
{
    const int64_t sizes[][2] = {{1, 1},
                                {1, 19},
                                {23, 1},
                                {tile - 1, tile + 1},
                                {tile, tile},
                                {tile + 1, tile - 1},
                                {2 * tile + 1, tile},
                                {tile, 2 * tile + 1},
                                {61, 45},
                                {257, 127}};
    if (index < 0 || index >= (int)(sizeof sizes / sizeof sizes[0]))
        return false;
    *width = sizes[index][0] > 0 ? sizes[index][0] : 1;
    *height = sizes[index][1] > 0 ? sizes[index][1] : 1;
    return true;
}

/* The pairs (nominal, stored in, stored out) that the planner uses when a stage keeps the nominal format; index 0..6.
 */
CASE_FN bool case_formats(int index, smp_format *nominal, smp_format *in, smp_format *out)
{
    static const smp_format rows[][3] = {{SMP_U8, SMP_U8, SMP_U8},    {SMP_U8, SMP_U8, SMP_F32},
                                         {SMP_U8, SMP_F32, SMP_U8},   {SMP_U8, SMP_F32, SMP_F32},
                                         {SMP_U16, SMP_U16, SMP_U16}, {SMP_U16, SMP_U16, SMP_F32},
                                         {SMP_U16, SMP_F32, SMP_U16}, {SMP_F32, SMP_F32, SMP_F32}};
    if (index < 0 || index >= (int)(sizeof rows / sizeof rows[0]))
        return false;
    *nominal = rows[index][0];
    *in = rows[index][1];
    *out = rows[index][2];
    return true;
}

/* Checks a stage at every awkward size, 1 to 4 channels (up to max_channels) and every pair of formats. */
CASE_FN void kernel_case_matrix(const smp_stage *stage, const void *params, int64_t tile, int max_channels)
{
    int64_t width, height;
    smp_format nominal, in, out;
    uint64_t seed = 1;
    for (int s = 0; case_size(s, tile, &width, &height); s++)
        for (int f = 0; case_formats(f, &nominal, &in, &out); f++)
            for (int channels = 1; channels <= max_channels; channels++) {
                kernel_case c = {.stage = stage,
                                 .params = params,
                                 .in = case_shape(width, height, channels, nominal),
                                 .in_storage = in,
                                 .out_storage = out,
                                 .values = in == SMP_F32 ? CASE_REALS : CASE_CODES,
                                 .seed = seed++};
                kernel_case_check(&c);
            }
}

#endif
