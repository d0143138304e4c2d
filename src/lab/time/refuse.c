/* Launches whose time the model cannot tell. */
#include <string.h>

#include "lab/sass/sass.h"
#include "lab/time/model.h"

/* Opcodes of parts that the model lacks. */
static const struct {
    const char *opcode, *what;
} missing[] = {{"WGMMA", "wgmma"},         {"HGMMA", "wgmma"},        {"IGMMA", "wgmma"},
               {"QGMMA", "wgmma"},         {"UBLKCP", "bulk copies"}, {"UTMALDG", "tensor maps"},
               {"UTMASTG", "tensor maps"}, {"SYNCS", "mbarriers"},    {"NANOSLEEP", "__nanosleep"},
               {"UCGABAR_ARV", "clusters"}};

static bool cut(const warp_inst *inst, sass_line *line)
{
    memset(line, 0, sizeof *line);
    return inst->text && sass_cut((sass_text){inst->text, inst->text_size}, line) && line->word_count;
}

/* The innermost loop around an instruction. False: none. */
static bool loop_around(const warp_code *code, size_t at, size_t *begin, size_t *end)
{
    *end = SIZE_MAX;
    *begin = 0;
    for (size_t k = at; k < code->count; k++)
        if (code->insts[k].flow == WARP_JUMP && code->insts[k].target <= at &&
            (*end == SIZE_MAX || k - code->insts[k].target < *end - *begin)) {
            *begin = code->insts[k].target;
            *end = k;
        }
    return *end != SIZE_MAX;
}

/* Registers and predicates of a kind. */
typedef struct reg_set {
    bool reg[SASS_RZ + 1], uniform[64], pred[8], uniform_pred[8];
} reg_set;

/* Null: it is no register or predicate, or one that always has the same value. */
static bool *member(reg_set *set, sass_kind kind, int number)
{
    const int most = kind == SASS_REGISTER || kind == SASS_MEMORY ? SASS_RZ : kind == SASS_UNIFORM ? 63 : SASS_PT;
    if (number < 0 || number >= most)
        return NULL;
    return kind == SASS_REGISTER || kind == SASS_MEMORY ? &set->reg[number]
           : kind == SASS_UNIFORM                       ? &set->uniform[number]
           : kind == SASS_PREDICATE                     ? &set->pred[number]
           : kind == SASS_UNIFORM_PREDICATE             ? &set->uniform_pred[number]
                                                        : NULL;
}

static bool is_predicate(const sass_operand *o)
{
    return o->kind == SASS_PREDICATE || o->kind == SASS_UNIFORM_PREDICATE;
}

static bool writes_nothing(const sass_line *line)
{
    return line->words[0][0] == 'B' || !strncmp(line->words[0], "ST", 2) || !strncmp(line->words[0], "RED", 3);
}

/* How many operands from the first on are results: a register, and predicates before it or beside it; of comparisons
 * two predicates, of votes one. */
static int results_of(const sass_line *line)
{
    enum { MOST = 3 };
    const char *name = line->words[0];
    const bool votes = !strncmp(name, "VOTE", 4), compares = strstr(name, "SETP") || strstr(name, "PLOP");
    const int most = writes_nothing(line) ? 0 : votes ? 1 : compares ? 2 : MOST;
    bool had = compares;
    int k = 0;
    for (; k < line->count && k < most; k++) {
        const bool reg = line->operands[k].kind == SASS_REGISTER || line->operands[k].kind == SASS_UNIFORM;
        if (!is_predicate(&line->operands[k]) && (had || !reg))
            break;
        had = had || reg;
    }
    return k;
}

/* What an instruction writes is in the set now, or, of predicates that it always writes, no longer. */
static void set_results(const sass_line *line, reg_set *set, bool in)
{
    enum { MOST = 4 }; /* registers of a result */
    for (int k = 0; k < results_of(line); k++) {
        const sass_operand *o = &line->operands[k];
        const int width = is_predicate(o)                                             ? 1
                          : sass_has(line, "128")                                     ? MOST
                          : o->wide || sass_has(line, "64") || sass_has(line, "WIDE") ? 2
                                                                                      : 1;
        for (int i = 0; i < width; i++) {
            bool *m = member(set, o->kind, o->number + i);
            if (m && (in || (is_predicate(o) && line->guard.kind == SASS_NONE)))
                *m = in;
        }
    }
}

static bool reads_any(const sass_line *line, reg_set *set)
{
    const bool *guard = line->guard.kind != SASS_NONE ? member(set, line->guard.kind, line->guard.number) : NULL;
    bool reads = guard && *guard;
    for (int k = results_of(line); k < line->count && !reads; k++) {
        const sass_operand *o = &line->operands[k];
        const bool *m = member(set, o->kind, o->number), *high = o->wide ? member(set, o->kind, o->number + 1) : NULL;
        reads = (m && *m) || (high && *high);
    }
    return reads;
}

/* A loop whose rounds may depend on what others do; kept for the next question about the same. */
typedef struct loop_facts {
    size_t begin, end;
    reg_set written;
    bool waits, tries; /* its end depends on a place that others change; on a swap that is tried again */
} loop_facts;

/* Whether the loop reads again and again one place that another thread may change: a load that others are ordered by,
 * or a swap. *tries: a swap that tries again with what it found. */
static bool watches(const sass_line *line, loop_facts *loop, bool *tries)
{
    const bool load = (!strcmp(line->words[0], "LDG") || !strcmp(line->words[0], "LD")) && sass_has(line, "STRONG"),
               swap = !strncmp(line->words[0], "ATOM", 4) && line->words[0][4] != 'S' && sass_has(line, "CAS");
    bool memory = false;
    for (int k = 0; (load || swap) && k < line->count; k++) {
        const sass_operand *o = &line->operands[k];
        const bool *written = member(&loop->written, o->kind, o->number);
        if (o->kind == SASS_MEMORY) {
            memory = true;
            if (written && *written) {
                *tries = *tries || swap;
                return swap;
            }
        } else if (swap && memory && o->kind == SASS_REGISTER && o->number != SASS_RZ) {
            *tries = *tries || (written && *written);
            return true;
        }
    }
    return load || swap;
}

/* Whether a jump or an end of the loop depends on these. *until: where instructions that a jump passes over end. */
static bool leaves_by(const warp_code *code, size_t at, const sass_line *line, loop_facts *loop, reg_set *set,
                      size_t *until)
{
    const warp_inst *inst = &code->insts[at];
    const bool jumps = inst->flow == WARP_JUMP,
               ends = !strcmp(line->words[0], "EXIT") || !strcmp(line->words[0], "BREAK");
    if ((!jumps && !ends) || !reads_any(line, set))
        return false;
    if (jumps && inst->target > at && inst->target <= loop->end) {
        *until = inst->target > *until ? inst->target : *until;
        return false;
    }
    return true;
}

/* What the loop watches, what is computed of it, and whether that ends the loop. */
static void look_at_loop(const warp_code *code, size_t begin, size_t end, loop_facts *loop)
{
    enum { PASSES = 3 };
    reg_set found = {.reg = {false}};
    bool leaves = false, tries = false, any = false;
    sass_line line;
    *loop = (loop_facts){.begin = begin, .end = end};
    for (size_t i = begin; i <= end; i++)
        if (cut(&code->insts[i], &line))
            set_results(&line, &loop->written, true);
    for (int pass = 0; pass < PASSES && (any || !pass); pass++) {
        size_t until = 0;
        for (size_t i = begin; i <= end; i++) {
            if (!cut(&code->insts[i], &line))
                continue;
            const bool watched = watches(&line, loop, &tries);
            any = any || watched;
            leaves = leaves || leaves_by(code, i, &line, loop, &found, &until);
            set_results(&line, &found, watched || i < until || reads_any(&line, &found));
        }
    }
    loop->waits = leaves && !tries;
    loop->tries = leaves && tries;
}

/* Why the rounds of a loop around this instruction depend on others; null: they do not. */
static const char *waits_for_others(const warp_code *code, size_t at, const sass_line *line, loop_facts *loop)
{
    size_t begin, end;
    bool tries = false;
    if (strncmp(line->words[0], "LD", 2) != 0 && strncmp(line->words[0], "ATOM", 4) != 0)
        return NULL;
    if (!watches(line, &(loop_facts){.begin = 0}, &tries) || !loop_around(code, at, &begin, &end))
        return NULL;
    if (loop->begin != begin || loop->end != end)
        look_at_loop(code, begin, end, loop);
    if (!watches(line, loop, &tries))
        return NULL;
    return loop->waits   ? "a loop in line %u that waits for other blocks"
           : loop->tries ? "a loop of compare-and-swap in line %u: its rounds depend on other threads"
                         : NULL;
}

/* Whether a kernel that loads in a loop reads what other blocks write in this launch, as jumps along pointers do that
 * others shorten: how far it goes depends on their order. Blocks run here one after another, so that of two either the
 * reader or the writer comes later. */
static bool reads_of_others(const warp_code *code, const time_trace *trace)
{
    const double few = 0.03, most = 0.5, blocks = (double)trace->blocks;
    if (trace->loads_of_others < few * blocks && trace->stores_to_others < most * blocks)
        return false;
    for (size_t i = 0; i < code->count; i++) {
        size_t begin, end;
        sass_line line;
        if (cut(&code->insts[i], &line) && (!strcmp(line.words[0], "LDG") || !strcmp(line.words[0], "LD")) &&
            loop_around(code, i, &begin, &end))
            return true;
    }
    return false;
}

bool time_refuses_code(const warp_code *code, const char *gpu, char *why, size_t size)
{
    loop_facts loop = {.begin = 1}; /* none ends before it begins */
    why[0] = 0;
    if (code->in_clusters || code->cluster[0])
        snprintf(why, size, "clusters");
    for (size_t i = 0; i < code->count && !why[0]; i++) {
        sass_line line;
        if (!cut(&code->insts[i], &line))
            continue;
        for (size_t k = 0; k < sizeof missing / sizeof missing[0]; k++)
            if (!strcmp(line.words[0], missing[k].opcode))
                snprintf(why, size, "%s", missing[k].what);
        const char *waits = waits_for_others(code, i, &line, &loop);
        if (!why[0] && waits)
            snprintf(why, size, waits, code->insts[i].line);
    }
    if (!why[0] && !code->control_count)
        snprintf(why, size, "the cubin of its SASS for an %s is not at hand", gpu);
    return why[0] != 0;
}

bool time_refuses_record(const warp_code *code, const time_trace *trace, char *why, size_t size)
{
    why[0] = 0;
    if (reads_of_others(code, trace))
        snprintf(why, size, "it reads what other blocks write in the same launch");
    if (!why[0] && !trace->kept)
        snprintf(why, size, "no block of it ran");
    if (!why[0] && trace->cut)
        snprintf(why, size, "one of its blocks runs too many instructions, or its code is too long");
    return why[0] != 0;
}
