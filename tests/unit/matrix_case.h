/* Pipelines made from a stage's descriptor, for matrices over every stage: its example with words for each of its
 * enumerations and switches, its bare name where defaults suffice, and with a second picture where it takes one;
 * planned and run on any device, with samples and findings to compare. */
#ifndef SMP_TESTS_MATRIX_CASE_H
#define SMP_TESTS_MATRIX_CASE_H

#include "kernel_case.h"

#include "pipe/plan.h"
#include "pipe/program.h"
#include "run/run.h"

enum {
    SOUND_FRAMES = 2100 /* at most: more than two of the largest tiles; strips of a few frames are many launches */
};
enum { MAX_WORDS = 3, MAX_SUBJECTS = 3, MAX_NAMES = 12, TEXT = 2048, NUMBERS = 5, SIDES = 6, LENGTHS = NUMBERS + 16 };

/* One pipeline: a stage's example, or its bare name, with words for its enumerations. */
typedef struct subject {
    const smp_stage *stage;
    const smp_param *words[MAX_WORDS]; /* its enumerations and switches; where wanted, a number or a matrix */
    int word_count;
    bool bare;    /* no example: every parameter has its default */
    bool operand; /* by=@tap as well */
} subject;

/* ------------------------------------------------------------------------------------------------ pipelines */

CASE_FN int word_levels(const smp_param *param)
{
    if (param->type == SMP_T_BOOL)
        return 2;
    if ((param->type == SMP_T_FLOAT || param->type == SMP_T_INT) && param->unit == SMP_UNIT_PX)
        return LENGTHS;
    if (param->type == SMP_T_MATRIX)
        return SIDES;
    if (param->type != SMP_T_ENUM)
        return NUMBERS;
    int count = 0;
    while (param->choices[count])
        count++;
    return count;
}

/* Numbers that small and large kernels have, lengths in steps of a quarter too, so that four of them are every radius,
 * and sizes from 2 on; matrices and, last, a list of ones. */
CASE_FN const char *number_text(const smp_param *param, int level)
{
    static const int numbers[NUMBERS] = {1, 3, 9, 33, 301}, rows[SIDES] = {1, 3, 5, 7, 16, 1};
    static const int columns[SIDES] = {1, 3, 5, 7, 16, 301}, most = 33; /* most: of what is no count */
    static char text[TEXT];
    size_t used = 0;
    if (param->type == SMP_T_MATRIX) {
        for (int i = 0; i < rows[level] * columns[level]; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s1", !i ? "[" : i % columns[level] ? " " : ";");
        snprintf(text + used, sizeof text - used, "]");
        return text;
    }
    double number = level < NUMBERS            ? numbers[level]
                    : param->type == SMP_T_INT ? level - NUMBERS + 2
                                               : (level - NUMBERS + 1) / 4.;
    number = param->type == SMP_T_FLOAT && number > most ? most : number;
    if (param->min < param->max) {
        number = number < param->min ? param->min : number;
        number = number > param->max ? param->max : number;
    }
    snprintf(text, sizeof text, "%.9g", number);
    return text;
}

CASE_FN const char *word_text(const smp_param *param, int level)
{
    if (param->type == SMP_T_BOOL)
        return level ? "yes" : "no";
    return param->type == SMP_T_ENUM ? param->choices[level] : number_text(param, level);
}

/* The statement without ` name=...` of any of the words, so that it can be given anew; brackets and quotes stay whole.
 */
CASE_FN void statement_without(const subject *s, const char *example, char *out, size_t size)
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
            if (!(s->words[i]->flags & SMP_P_MAIN) || start == example)
                continue;
            if (s->words[i]->type != SMP_T_ENUM && s->words[i]->type != SMP_T_BOOL) {
                drop |= *start == '[' || !memchr(start, '=', (size_t)(at - start));
                continue;
            }
            for (int k = 0; k < word_levels(s->words[i]); k++) {
                const char *word = word_text(s->words[i], k);
                drop |= strlen(word) == (size_t)(at - start) && !strncmp(start, word, (size_t)(at - start));
            }
        }
        if (!drop && used + (size_t)(at - start) + 2 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? " " : "", (int)(at - start), start);
    }
}

CASE_FN const smp_param *operand_of(const smp_stage *stage)
{
    for (const smp_param *p = stage->params; p && p->name; p++)
        if (p->type == SMP_T_OPERAND)
            return p;
    return NULL;
}

/* Lines of the pipeline with these word levels; returns how many. */
CASE_FN size_t write_lines(const subject *s, const int *levels, char lines[3][TEXT])
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
        snprintf(lines[0], TEXT, "%.*s%.*s", TEXT / 2 - 1, base, TEXT / 2 - 1, words);
        return 1;
    }
    /* The second picture is the stage's own result with a number; where it takes none, the input turned, which fits
     * matrix products on either side. */
    const smp_param *operand = operand_of(s->stage);
    if (operand->flags & SMP_P_PICTURE)
        snprintf(lines[0], TEXT, "rotate 90 -> @other");
    else
        snprintf(lines[0], TEXT, "%s %s=37%% -> @other", s->stage->name, operand->name);
    snprintf(lines[1], TEXT, "from @input");
    snprintf(lines[2], TEXT, "%s %s=@other%.*s", s->stage->name, operand->name, TEXT / 2, words);
    return 3;
}

/* Every stage by its example; by its defaults alone where they suffice; with a second picture where it takes one.
 * Returns how many. */
CASE_FN int subjects_of(const smp_stage *stage, subject subjects[MAX_SUBJECTS])
{
    subject s = {.stage = stage};
    bool required = false;
    int count = 0;
    assert_non_null(stage->example);
    for (const smp_param *p = stage->params; p && p->name; p++) {
        required |= (p->flags & SMP_P_REQUIRED) != 0;
        if ((p->type == SMP_T_ENUM || p->type == SMP_T_BOOL) && s.word_count < MAX_WORDS)
            s.words[s.word_count++] = p;
    }
    subjects[count++] = s;
    /* What makes pictures of sounds has defaults for seconds of sound, too long for the emulator. */
    if (!required && strcmp(stage->example, stage->name) && !stage->gives)
        subjects[count++] = (subject){.stage = stage, .bare = true};
    if (operand_of(stage)) {
        s.operand = true;
        subjects[count++] = s;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ running */

/* A picture for the stage, or, for stages of sound, as many frames of f32 up to SOUND_FRAMES. */
CASE_FN smp_shape subject_shape(const smp_stage *stage, int64_t width, int64_t height, int channels, bool alpha,
                                smp_format format)
{
    if (stage->domain & SMP_IMAGE)
        return (smp_shape){.kind = SMP_IMAGE,
                           .width = width,
                           .height = height,
                           .channels = channels,
                           .alpha = alpha,
                           .format = format};
    return (smp_shape){.kind = SMP_AUDIO,
                       .width = 1,
                       .height = width * height < SOUND_FRAMES ? width * height : SOUND_FRAMES,
                       .channels = channels,
                       .format = SMP_F32,
                       .rate = 48000};
}

/* Null when the stage refuses the words. */
CASE_FN smp_program *parse_lines(const char *const *lines, size_t count)
{
    smp_program *program = NULL;
    smp_diags diags = {0};
    smp_error err = {0};
    smp_code code = smp_program_parse_lines(lines, count, NULL, 0, NULL, NULL, &diags, &program, &err);
    smp_diags_free(&diags);
    if (code && code != SMP_E_PIPE)
        fail_msg("%s: %s", lines[0], err.message);
    if (code)
        smp_program_free(program);
    return code ? NULL : program;
}

CASE_FN smp_code accepts_all(void *context, const char *path, const smp_shape *shape, smp_shape *out, smp_error *err)
{
    (void)context, (void)path, (void)err;
    *out = *shape;
    return SMP_OK;
}

typedef struct outcome {
    picture out;
    smp_run_report report;
} outcome;

CASE_FN void outcome_free(outcome *o)
{
    picture_free(&o->out);
    smp_run_report_free(&o->report);
    *o = (outcome){0};
}

/* False when the planner refuses this combination. */
CASE_FN bool plan_lines(smp_program *program, const smp_shape *in, bool plain, smp_plan **plan)
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

CASE_FN void run_plan(const smp_plan *plan, const picture *in, const char *variant, int64_t strip_rows,
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
CASE_FN bool same_findings(const smp_run_report *a, const smp_run_report *b)
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

/* ------------------------------------------------------------------------------------------------ variants */

/* The names of a stage's variants, and of its reduction's where these are others; how many. */
CASE_FN int variant_names(const smp_stage *stage, const char *names[MAX_NAMES])
{
    int count = 0;
    for (int list = 0; list < 2; list++)
        for (const smp_variant *v = list ? stage->reducers : stage->variants; v && v->name; v++) {
            int known = 0;
            while (known < count && strcmp(names[known], v->name))
                known++;
            if (known < count)
                continue;
            if (count == MAX_NAMES)
                fail_msg("%s: more than %d variants: raise MAX_NAMES", stage->name, MAX_NAMES);
            names[count++] = v->name;
        }
    return count;
}

#endif
