/* Launches whose time the model cannot tell. */
#include <string.h>

#include "base/alloc.h"
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

/* Registers and predicates. */
enum { BITS = 64, UNIFORM_AT = SASS_RZ + 1, PREDICATES_AT = UNIFORM_AT + BITS, REGISTERS = PREDICATES_AT + BITS };
typedef struct reg_set {
    uint64_t bits[REGISTERS / BITS];
} reg_set;

/* Its place in a set; -1: it is no register or predicate, or one that always has the same value. */
static int place_of(sass_kind kind, int number)
{
    static const int rooms[SASS_BARRIER + 1][2] = {[SASS_REGISTER] = {0, SASS_RZ},
                                                   [SASS_MEMORY] = {0, SASS_RZ},
                                                   [SASS_UNIFORM] = {UNIFORM_AT, BITS - 1},
                                                   [SASS_PREDICATE] = {PREDICATES_AT, SASS_PT},
                                                   [SASS_UNIFORM_PREDICATE] = {PREDICATES_AT + BITS / 2, SASS_PT}};
    return number >= 0 && number < rooms[kind][1] ? rooms[kind][0] + number : -1;
}

static bool has(const reg_set *set, sass_kind kind, int number)
{
    const int at = place_of(kind, number);
    return at >= 0 && set->bits[at / BITS] >> at % BITS & 1;
}

static void put(reg_set *set, sass_kind kind, int number, bool in)
{
    const int at = place_of(kind, number);
    uint64_t *bits = at >= 0 ? &set->bits[at / BITS] : NULL;
    if (bits)
        *bits = in ? *bits | UINT64_C(1) << at % BITS : *bits & ~(UINT64_C(1) << at % BITS);
}

static void join(reg_set *set, const reg_set *more)
{
    for (int i = 0; i < REGISTERS / BITS; i++)
        set->bits[i] |= more->bits[i];
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

/* What an instruction writes is in the set now, or, where it always writes that, no longer. */
static void set_results(const sass_line *line, reg_set *set, bool in)
{
    enum { MOST = 4 }; /* registers of a result */
    const bool pair = sass_has(line, "64") || sass_has(line, "WIDE");
    for (int k = 0; k < results_of(line); k++) {
        const sass_operand *o = &line->operands[k];
        const int width = is_predicate(o) ? 1 : sass_has(line, "128") ? MOST : o->wide || pair ? 2 : 1;
        for (int i = 0; i < width && (in || line->guard.kind == SASS_NONE); i++)
            put(set, o->kind, o->number + i, in);
    }
}

static bool reads_any(const sass_line *line, const reg_set *set)
{
    bool reads = line->guard.kind != SASS_NONE && has(set, line->guard.kind, line->guard.number);
    for (int k = results_of(line); k < line->count && !reads; k++) {
        const sass_operand *o = &line->operands[k];
        reads = has(set, o->kind, o->number) || (o->wide && has(set, o->kind, o->number + 1));
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
        const bool written = has(&loop->written, o->kind, o->number);
        if (o->kind == SASS_MEMORY) {
            memory = true;
            if (written) {
                *tries = *tries || swap;
                return swap;
            }
        } else if (swap && memory && o->kind == SASS_REGISTER && o->number != SASS_RZ) {
            *tries = *tries || written;
            return true;
        }
    }
    return load || swap;
}

/* Whether a jump or an end of the loop depends on these. *until: where instructions that a jump passes over end. */
static bool leaves_by(const warp_code *code, size_t at, const sass_line *line, loop_facts *loop, const reg_set *set,
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

/* One pass over the loop: into has what is computed of watched places when a jump comes to an instruction. Returns
 * whether that ends the loop. */
static bool follow(const warp_code *code, loop_facts *loop, reg_set *into, bool *tries)
{
    reg_set found = {{0}};
    size_t until = 0; /* where instructions end that depend on such a jump */
    bool leaves = false;
    for (size_t i = loop->begin; i <= loop->end; i++) {
        const warp_inst *inst = &code->insts[i];
        sass_line line;
        join(&found, &into[i - loop->begin]);
        if (!cut(inst, &line))
            continue;
        const bool watched = watches(&line, loop, tries);
        leaves = leaves || leaves_by(code, i, &line, loop, &found, &until);
        set_results(&line, &found, watched || i < until || reads_any(&line, &found));
        if (inst->flow != WARP_JUMP)
            continue;
        if (inst->target >= loop->begin && inst->target <= loop->end)
            join(&into[inst->target - loop->begin], &found);
        if (line.guard.kind == SASS_NONE && line.count == 1)
            found = (reg_set){{0}};
    }
    return leaves;
}

/* What the loop watches, what is computed of it, and whether that ends the loop. */
static void look_at_loop(const warp_code *code, size_t begin, size_t end, loop_facts *loop)
{
    enum { PASSES = 3 };
    reg_set *into = smp_alloc_array(end - begin + 1, sizeof *into);
    bool leaves = !into, tries = false; /* no memory: better no time than a wrong one */
    *loop = (loop_facts){.begin = begin, .end = end};
    for (size_t i = begin; i <= end; i++) {
        sass_line line;
        if (cut(&code->insts[i], &line))
            set_results(&line, &loop->written, true);
    }
    for (int pass = 0; pass < PASSES && !leaves; pass++)
        leaves = follow(code, loop, into, &tries);
    smp_free(into);
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
    const double few = 0.03, most = 0.5, /* assumed: of the sectors of a block */ blocks = (double)trace->blocks;
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

static bool has_controls(const warp_code *code)
{
    size_t i = 0;
    while (i < code->control_count && !code->controls[i])
        i++;
    return i < code->control_count;
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
    if (!why[0] && !has_controls(code))
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
