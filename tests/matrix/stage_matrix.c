/* The stage matrix, made from the descriptors alone: every stage of the list through planner, executor and CPU device.
 * The definition is `naive` over all rows in one strip on one thread with the baseline instruction set; every other way
 * of running the same pipeline must give the same bytes and measurements, and leave the guard bands round its output
 * alone.
 *
 * What is varied are factors: picture size, format, channels, variant, strip height, instruction set, threads, storage
 * between stages, and every enumeration and switch among the stage's own parameters. Runs are the rows of an orthogonal
 * array over Z11 (factor f of run (a, b) has level a + f*b modulo 11), in which every pair of levels of every two
 * factors occurs; a factor with fewer levels wraps round. SMP_FULL=1 takes the full product of the ways of running for
 * every input; SMP_MATRIX=reduced (sanitizer builds) every fifth run; of stages whose turn it is not (SMP_TURN=K/N)
 * every 20th is taken, under a sanitizer every 50th; SMP_TEST_STAGE=NAME takes that stage alone. */
#include "suite.h"

#include "matrix_case.h"

enum { P = 11, FACTORS = 11, WAYS = 4 };

typedef struct size_wh {
    int64_t width, height;
} size_wh;

/* A point, a row, a column; a tile of 32 and one less and more; two tiles and one; primes; a
 * picture narrower and one wider than any vector; more rows than a strip of 64. */
static const size_wh sizes[P] = {{1, 1},   {1, 67},  {67, 1},   {31, 32}, {32, 31}, {33, 33},
                                 {65, 65}, {61, 45}, {257, 23}, {3, 130}, {129, 64}};
static const smp_format formats[] = {SMP_U8, SMP_U16, SMP_F32};
static const struct {
    int channels;
    bool alpha;
} pixels[] = {{1, false}, {2, true}, {3, false}, {4, true}, {4, false}, {2, false}};
static const int64_t strips[] = {1, 7, 64, 0};
static const char *const isas[] = {"base", "v3", "v4"};

enum { F_SIZE, F_FORMAT, F_PIXEL, F_VARIANT, F_STRIP, F_ISA, F_THREADS, F_STORAGE, F_WORDS };
_Static_assert(F_WORDS + CHOICES <= FACTORS, "one column of the array a factor");

static struct totals {
    long inputs, runs, refused;
} totals;
static bool seen_word[MAX_WORDS][64];
static bool complete; /* all combinations were run */

/* ------------------------------------------------------------------------------------------------ running */

/* Devices stay open: one an instruction set and thread count; null where this processor lacks the set. */
static smp_device *device_for(int isa, int threads)
{
    static smp_device *devices[3][3];
    static bool tried[3][3];
    if (!tried[isa][threads]) {
        tried[isa][threads] = true;
        smp_isa sets[] = {SMP_ISA_BASE, SMP_ISA_V3, SMP_ISA_V4};
        if (case_has_isa(sets[isa])) {
            smp_device_request ask = {.spec = "cpu", .threads = threads, .isa = isas[isa]};
            smp_error err = {0};
            if (smp_device_open(&ask, &devices[isa][threads], NULL, 0, &err))
                fail_msg("device cpu %s: %s", isas[isa], err.message);
        }
    }
    return devices[isa][threads];
}

/* ------------------------------------------------------------------------------------------------ the array */

static int level(int a, int b, int factor, int count)
{
    int turn = count > P ? P * (b % ((count + P - 1) / P)) : 0; /* words with more choices than the array has levels */
    return ((a + factor * b) % P + turn) % count;
}

typedef struct run_case {
    const subject *subject;
    smp_shape in;
    char text[3 * TEXT];
    smp_program *program;
    const picture *picture;
    const outcome *want;
} run_case;

static void check_way(const run_case *c, const char *variant, int64_t strip_rows, int isa, int threads, bool plain)
{
    smp_device *device = device_for(isa, threads);
    if (!device)
        return;
    smp_plan *plan = NULL;
    if (!plan_lines(c->program, &c->in, plain, &plan))
        fail_msg("%s: planned with one storage, refused with the other", c->text);
    outcome got = {0};
    run_plan(plan, c->picture, variant, strip_rows, device, &got);
    totals.runs++;
    bool same = picture_equal(&got.out, &c->want->out), guards = picture_guards_hold(&got.out);
    bool found = same_measurements(&got.report, &c->want->report);
    if (!same || !guards || !found) {
        print_error("%s\non %lldx%lldx%d%s %s, variant %s, strips of %lld rows, isa %s, %d threads, %s\n", c->text,
                    (long long)c->in.width, (long long)c->in.height, c->in.channels, c->in.alpha ? " with alpha" : "",
                    smp_format_name(c->in.format), variant, (long long)strip_rows, isas[isa], threads,
                    plain ? "f32 between stages" : "storage as planned");
        fail_msg("%s", !guards ? "wrote outside the output"
                       : !same ? "other bytes than naive in one strip"
                               : "other findings than naive in one strip");
    }
    outcome_free(&got);
    smp_plan_free(plan);
}

static void check_ways(const run_case *c, int a, int b, bool full)
{
    const char *names[MAX_NAMES];
    int variants = variant_names(c->subject->stage, names);
    if (full) {
        for (int way = 0; way < variants * 4 * 3 * 2 * 2; way++)
            check_way(c, names[way % variants], strips[way / variants % 4], way / variants / 4 % 3,
                      1 + way / variants / 12 % 2, way / variants / 24 % 2);
        return;
    }
    for (int k = 0; k < WAYS; k++) /* all four strip heights, the other factors from the array */
        check_way(c, names[(level(a, b, F_VARIANT, variants) + k) % variants],
                  strips[(level(a, b, F_STRIP, 4) + k) % 4], (level(a, b, F_ISA, 3) + k / 2) % 3,
                  1 + (level(a, b, F_THREADS, 2) + k) % 2, (level(a, b, F_STORAGE, 2) + k / 2) % 2);
}

/* False when this combination of parameters, format and channels means nothing to the stage. */
static bool check_run(const subject *s, int a, int b, bool full)
{
    int levels[MAX_WORDS] = {0};
    for (int i = 0; i < s->word_count; i++)
        levels[i] = level(a, b, F_WORDS + i, word_levels(s->words[i]));
    char lines[3][TEXT];
    size_t count = write_lines(s, levels, lines);
    const char *pointers[] = {lines[0], lines[1], lines[2]};

    run_case c = {.subject = s};
    int pixel = level(a, b, F_PIXEL, 6);
    size_wh size = sizes[level(a, b, F_SIZE, P)];
    c.in = subject_shape(s->stage, size.width, size.height, pixels[pixel].channels, pixels[pixel].alpha,
                         formats[level(a, b, F_FORMAT, 3)]);
    for (size_t i = 0; i < count; i++)
        snprintf(c.text + strlen(c.text), sizeof c.text - strlen(c.text), "%s%.900s", i ? "; " : "", lines[i]);

    smp_plan *plan = NULL;
    c.program = parse_lines(pointers, count);
    if (!c.program || !plan_lines(c.program, &c.in, false, &plan)) {
        smp_program_free(c.program);
        totals.refused++;
        return false;
    }
    for (int i = 0; i < s->word_count; i++)
        seen_word[i][levels[i]] = true;

    picture in = picture_make(&c.in, c.in.format);
    picture_fill(&in, (uint64_t)(a * P + b), c.in.format == SMP_F32 ? (case_values)((a + b) % 3) : CASE_CODES);
    outcome want = {0};
    run_plan(plan, &in, "naive", 0, device_for(0, 1), &want);
    smp_plan_free(plan);
    if (!picture_guards_hold(&want.out))
        fail_msg("%s: naive wrote outside the output", c.text);
    c.picture = &in;
    c.want = &want;
    totals.inputs++;
    check_ways(&c, a, b, full);
    outcome_free(&want);
    picture_free(&in);
    smp_program_free(c.program);
    return true;
}

static void check_subject(const subject *s)
{
    const char *mode = getenv("SMP_MATRIX"), *all = getenv("SMP_FULL");
    bool full = all && !strcmp(all, "1");
    const bool reduced = mode && !strcmp(mode, "reduced");
    int step = full ? 1 : stage_has_turn(s->stage) ? (reduced ? 5 : 1) : (reduced ? 50 : 20), done = 0;
    for (int run = 0; run < P * P; run += done ? step : 1)
        done += check_run(s, run / P, run % P, full);
    if (!done)
        fail_msg("%s: no combination of its words is accepted", s->stage->name);
    complete = step == 1;
}

static void check_stage(void **state)
{
    subject subjects[MAX_SUBJECTS];
    int count = subjects_of(*state, subjects);
    memset(seen_word, 0, sizeof seen_word);
    for (int i = 0; i < count; i++)
        check_subject(&subjects[i]);
    complete =
        complete && !(subjects[0].stage->reduction &&
                      subjects[0].stage->reduction->prepass); /* with such words there is no plan without a picture */
    for (int i = 0; i < subjects[0].word_count && complete; i++) /* those of the others are the same, or none */
        for (int k = 0; k < word_levels(subjects[0].words[i]); k++)
            if (!seen_word[i][k])
                fail_msg("%s: %s=%s is never accepted", subjects[0].stage->name, subjects[0].words[i]->name,
                         word_text(subjects[0].words[i], k));
}

static int print_totals(void **state)
{
    (void)state;
    print_message("matrix: %ld runs over %ld inputs; %ld combinations refused by their stage\n", totals.runs,
                  totals.inputs, totals.refused);
    return 0;
}

SMP_SUITE(stage_matrix)
{
    size_t count;
    struct CMUnitTest *tests = stage_tests(check_stage, 0, 1, &count);
    int failed = tests ? _cmocka_run_group_tests("stage matrix", tests, count, NULL, print_totals) : 1;
    free(tests);
    return failed;
}
