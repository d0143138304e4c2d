/* The stage matrix, made from the descriptors alone: every stage of the list through planner, executor and CPU device.
 * The definition is `naive` over all rows in one strip on one thread with the baseline instruction set; every other way
 * of running the same pipeline must give the same bytes and findings, and leave the guard bands round its output alone.
 *
 * What is varied are factors: picture size, format, channels, variant, strip height, instruction set, threads, storage
 * between stages, and every enumeration and switch among the stage's own parameters. Runs are the rows of an orthogonal
 * array over Z11 (factor f of run (a, b) has level a + f*b modulo 11), in which every pair of levels of every two
 * factors occurs; a factor with fewer levels wraps round. SMP_FULL=1 takes the full product of the ways of running for
 * every input; SMP_MATRIX=reduced (sanitizer builds) takes every third run. */
#include "kernel_case.h"

#include "exec/exec.h"
#include "pipe/plan.h"
#include "pipe/program.h"

enum { P = 11, FACTORS = 11, MAX_WORDS = 3, WAYS = 4, TEXT = 1024 };

typedef struct size_wh {
    int64_t width, height;
} size_wh;

/* A point, a row, a column; a tile of 32 and one less and more; two tiles and one; primes; a
 * picture narrower and one wider than any vector; more rows than a strip of 64. */
static const size_wh sizes[P] = {{1, 1},   {1, 67},  {67, 1},    {31, 32}, {32, 31}, {33, 33},
                                 {65, 65}, {61, 45}, {257, 127}, {3, 130}, {129, 64}};
static const smp_format formats[] = {SMP_U8, SMP_U16, SMP_F32};
static const struct {
    int channels;
    bool alpha;
} pixels[] = {{1, false}, {2, true}, {3, false}, {4, true}, {4, false}, {2, false}};
static const int64_t strips[] = {1, 7, 64, 0};
static const char *const isas[] = {"base", "v3", "v4"};

enum { F_SIZE, F_FORMAT, F_PIXEL, F_VARIANT, F_STRIP, F_ISA, F_THREADS, F_STORAGE, F_WORDS };
_Static_assert(F_WORDS + MAX_WORDS <= FACTORS, "one column of the array a factor");

/* One pipeline: a stage's example, or its bare name, with words for its enumerations. */
typedef struct subject {
    const smp_stage *stage;
    const smp_param *words[MAX_WORDS]; /* its enumerations and switches */
    int word_count;
    bool bare;    /* no example: every parameter has its default */
    bool operand; /* by=@tap as well */
} subject;

static struct totals {
    long inputs, runs, refused;
} totals;
static bool seen_word[MAX_WORDS][64];

/* ------------------------------------------------------------------------------------------------ pipelines */

static int word_levels(const smp_param *param)
{
    if (param->type == SMP_T_BOOL)
        return 2;
    int count = 0;
    while (param->choices[count])
        count++;
    return count;
}

static const char *word_text(const smp_param *param, int level)
{
    return param->type == SMP_T_BOOL ? (level ? "yes" : "no") : param->choices[level];
}

/* The statement without ` name=...` of any of the words, so that it can be given anew; brackets and quotes stay whole.
 */
static void statement_without(const subject *s, const char *example, char *out, size_t size)
{
    size_t used = 0;
    const char *at = example;
    while (*at) {
        while (*at == ' ')
            at++;
        const char *start = at;
        int depth = 0;
        bool quoted = false;
        for (; *at && (depth || quoted || *at != ' '); at++) {
            quoted ^= *at == '"';
            depth += !quoted && (*at == '[' || *at == '{') ? 1 : !quoted && (*at == ']' || *at == '}') ? -1 : 0;
        }
        bool drop = false;
        for (int i = 0; i < s->word_count; i++) {
            size_t n = strlen(s->words[i]->name);
            drop |= !strncmp(start, s->words[i]->name, n) && start[n] == '=';
            for (int k = 0; (s->words[i]->flags & SMP_P_MAIN) && k < word_levels(s->words[i]); k++) {
                const char *word = word_text(s->words[i], k);
                drop |= strlen(word) == (size_t)(at - start) && !strncmp(start, word, (size_t)(at - start)) &&
                        start != example;
            }
        }
        if (!drop && used + (size_t)(at - start) + 2 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? " " : "", (int)(at - start), start);
    }
}

static const smp_param *operand_of(const smp_stage *stage)
{
    for (const smp_param *p = stage->params; p && p->name; p++)
        if (p->type == SMP_T_OPERAND)
            return p;
    return NULL;
}

/* Lines of the pipeline with these word levels; returns how many. */
static size_t write_lines(const subject *s, const int *levels, char lines[3][TEXT])
{
    char words[TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < s->word_count; i++)
        used += (size_t)snprintf(words + used, sizeof words - used, " %s=%s", s->words[i]->name,
                                 word_text(s->words[i], levels[i]));
    char base[TEXT] = "";
    if (s->bare)
        snprintf(base, sizeof base, "%s", s->stage->name);
    else
        statement_without(s, s->stage->example, base, sizeof base);
    if (!s->operand) {
        snprintf(lines[0], TEXT, "%.500s%.500s", base, words);
        return 1;
    }
    const smp_param *operand = operand_of(s->stage); /* the second picture is the stage's own result with a number */
    snprintf(lines[0], TEXT, "%s %s=37%% -> @other", s->stage->name, operand->name);
    snprintf(lines[1], TEXT, "from @input");
    snprintf(lines[2], TEXT, "%s %s=@other%.500s", s->stage->name, operand->name, words);
    return 3;
}

/* ------------------------------------------------------------------------------------------------ running */

static smp_code accepts_all(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    (void)context, (void)path, (void)err;
    *out = *shape;
    return SMP_OK;
}

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

typedef struct outcome {
    picture out;
    smp_run_report report;
    bool has_out;
} outcome;

static void outcome_free(outcome *o)
{
    picture_free(&o->out);
    smp_run_report_free(&o->report);
    *o = (outcome){0};
}

/* False when the planner refuses this combination. */
static bool plan_lines(smp_program *program, const smp_shape *in, bool plain, smp_plan **plan)
{
    smp_plan_request ask = {.program = program,
                            .input = *in,
                            .orientation = 1,
                            .output = "memory",
                            .accepts = accepts_all,
                            .plain_storage = plain};
    smp_diags diags = {0};
    smp_error err = {0};
    smp_code code = smp_plan_make(&ask, &diags, plan, &err);
    smp_diags_free(&diags);
    if (code && code != SMP_E_PIPE)
        fail_msg("plan: %s", err.message);
    return code == SMP_OK;
}

static void run_plan(const smp_plan *plan, const picture *in, const char *variant, int64_t strip_rows,
                     smp_device *device, outcome *o)
{
    smp_error err = {0};
    const smp_shape *shape = &plan->sinks[0].shape;
    o->out = picture_make(shape, shape->format);
    smp_code code = smp_run_memory(plan, device, variant, strip_rows, &in->view, &o->out.view, &o->report, &err);
    if (code)
        fail_msg("run: %s", err.message);
}

/* The same findings, bit for bit. */
static bool same_findings(const smp_run_report *a, const smp_run_report *b)
{
    smp_findings all[2] = {{0}, {0}};
    const smp_run_report *reports[] = {a, b};
    bool same = true;
    size_t steps[2] = {0, 0};
    for (;;) { /* the k-th step with findings of one against that of the other: plain storage has other steps */
        for (int r = 0; r < 2; r++) {
            while (steps[r] < reports[r]->step_count && !reports[r]->steps[steps[r]].findings.count)
                steps[r]++;
            all[r] = steps[r] < reports[r]->step_count ? reports[r]->steps[steps[r]++].findings : (smp_findings){0};
        }
        if (!all[0].count && !all[1].count)
            return same;
        same = same && all[0].count == all[1].count;
        for (size_t i = 0; same && i < all[0].count; i++) {
            const smp_finding *x = &all[0].items[i], *y = &all[1].items[i];
            same = !strcmp(x->name, y->name) && x->channel == y->channel && x->list_len == y->list_len;
            same = same && (x->list ? !memcmp(x->list, y->list, x->list_len * sizeof *x->list)
                                    : !memcmp(&x->value, &y->value, sizeof x->value));
        }
        if (!same)
            return false;
    }
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
    bool found = same_findings(&got.report, &c->want->report);
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

static int variant_count(const smp_stage *stage)
{
    return (int)(smp_variant_count(stage->variants) > smp_variant_count(stage->reducers)
                     ? smp_variant_count(stage->variants)
                     : smp_variant_count(stage->reducers));
}

static const char *variant_at(const smp_stage *stage, int i)
{
    const smp_variant *list = (size_t)i < smp_variant_count(stage->variants) ? stage->variants : stage->reducers;
    return list[i].name;
}

static void check_ways(const run_case *c, int a, int b, bool full)
{
    int variants = variant_count(c->subject->stage);
    if (full) {
        for (int way = 0; way < variants * 4 * 3 * 2 * 2; way++)
            check_way(c, variant_at(c->subject->stage, way % variants), strips[way / variants % 4],
                      way / variants / 4 % 3, 1 + way / variants / 12 % 2, way / variants / 24 % 2);
        return;
    }
    for (int k = 0; k < WAYS; k++) /* all four strip heights, the other factors from the array */
        check_way(c, variant_at(c->subject->stage, (level(a, b, F_VARIANT, variants) + k) % variants),
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
    if (s->stage->domain & SMP_IMAGE)
        c.in = (smp_shape){.kind = SMP_IMAGE,
                           .width = size.width,
                           .height = size.height,
                           .channels = pixels[pixel].channels,
                           .alpha = pixels[pixel].alpha,
                           .format = formats[level(a, b, F_FORMAT, 3)]};
    else
        c.in = (smp_shape){.kind = SMP_AUDIO,
                           .width = 1,
                           .height = size.width * size.height,
                           .channels = pixels[pixel].channels,
                           .format = SMP_F32,
                           .rate = 48000};
    for (size_t i = 0; i < count; i++)
        snprintf(c.text + strlen(c.text), sizeof c.text - strlen(c.text), "%s%.900s", i ? "; " : "", lines[i]);

    smp_diags diags = {0};
    smp_error err = {0};
    smp_plan *plan = NULL;
    smp_code code = smp_program_parse_lines(pointers, count, NULL, 0, NULL, NULL, &diags, &c.program, &err);
    smp_diags_free(&diags);
    if (code && code != SMP_E_PIPE)
        fail_msg("%s: %s", c.text, err.message);
    if (code || !plan_lines(c.program, &c.in, false, &plan)) {
        smp_program_free(c.program);
        totals.refused++;
        return false;
    }
    for (int i = 0; i < s->word_count; i++)
        seen_word[i][levels[i]] = true;

    picture in = picture_make(&c.in, c.in.format);
    picture_fill(&in, (uint64_t)(a * P + b), c.in.format == SMP_F32 && (a + b) % 3 == 0 ? CASE_REALS : CASE_CODES);
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
    int step = !full && mode && !strcmp(mode, "reduced") ? 3 : 1, done = 0;
    memset(seen_word, 0, sizeof seen_word);
    for (int run = 0; run < P * P; run += step)
        done += check_run(s, run / P, run % P, full);
    if (!done)
        fail_msg("%s: no combination of its words is accepted", s->stage->name);
    for (int i = 0; i < s->word_count && step == 1; i++)
        for (int k = 0; k < word_levels(s->words[i]); k++)
            if (!seen_word[i][k])
                fail_msg("%s: %s=%s is never accepted", s->stage->name, s->words[i]->name, word_text(s->words[i], k));
}

/* Every stage by its example; by its defaults alone where they suffice; with a second picture where it takes one. */
static void check_stage(void **state)
{
    subject s = {.stage = *state};
    assert_non_null(s.stage->example);
    bool required = false;
    for (const smp_param *p = s.stage->params; p && p->name; p++) {
        required |= (p->flags & SMP_P_REQUIRED) != 0;
        if ((p->type == SMP_T_ENUM || p->type == SMP_T_BOOL) && s.word_count < MAX_WORDS)
            s.words[s.word_count++] = p;
    }
    check_subject(&s);
    if (!required && strcmp(s.stage->example, s.stage->name)) {
        s.bare = true;
        s.word_count = 0;
        check_subject(&s);
        s.bare = false;
    }
    if (operand_of(s.stage)) {
        s.operand = true;
        check_subject(&s);
    }
}

static int print_totals(void **state)
{
    (void)state;
    print_message("matrix: %ld runs over %ld inputs; %ld combinations refused by their stage\n", totals.runs,
                  totals.inputs, totals.refused);
    return 0;
}

int main(void)
{
    size_t count = smp_stage_count();
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    for (size_t i = 0; tests && i < count; i++) {
        const smp_stage *stage = smp_stage_at(i);
        tests[i] = (struct CMUnitTest){stage->name, check_stage, NULL, NULL, (void *)(uintptr_t)stage};
    }
    int failed = tests ? _cmocka_run_group_tests("stage matrix", tests, count, NULL, print_totals) : 1;
    free(tests);
    return failed;
}
