/* Launches whose time the model cannot tell. */
#include <stdarg.h>
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

/* The registers that the instructions of a loop write; kept for the next question about the same loop. */
typedef struct loop_writes {
    size_t begin, end;
    bool written[SASS_RZ + 1];
} loop_writes;

static void note_result(const sass_line *line, loop_writes *loop)
{
    enum { MOST = 4 }; /* registers of a result */
    for (int k = 0; k < line->count && k < 3; k++) {
        const sass_operand *o = &line->operands[k];
        if (o->kind != SASS_REGISTER)
            continue;
        const int width = sass_has(line, "128")                                       ? MOST
                          : o->wide || sass_has(line, "64") || sass_has(line, "WIDE") ? 2
                                                                                      : 1;
        for (int n = o->number; n < o->number + width && n <= SASS_RZ; n++)
            loop->written[n] = true;
        return; /* the first register is the result */
    }
}

static bool is_written(const warp_code *code, size_t begin, size_t end, int number, loop_writes *loop)
{
    if (loop->begin != begin || loop->end != end) {
        *loop = (loop_writes){.begin = begin, .end = end};
        for (size_t i = begin; i <= end; i++) {
            sass_line line;
            if (cut(&code->insts[i], &line) && line.words[0][0] != 'B' && strncmp(line.words[0], "ST", 2) != 0)
                note_result(&line, loop);
        }
    }
    return number >= 0 && number <= SASS_RZ && loop->written[number];
}

/* Why the rounds of a loop around this instruction depend on others; null: they do not. A load that others are ordered
 * by reads the same place until another thread has changed it; so does a swap whose expected value stays. One that
 * tries again with what it found takes as many rounds as others come in between. */
static const char *waits_for_others(const warp_code *code, size_t at, loop_writes *loop)
{
    static const char waits[] = "a loop in line %u that waits for other blocks",
                      tries[] = "a loop of compare-and-swap in line %u: its rounds depend on other threads";
    sass_line line;
    size_t begin, end;
    if (!cut(&code->insts[at], &line))
        return NULL;
    const bool load = (!strcmp(line.words[0], "LDG") || !strcmp(line.words[0], "LD")) && sass_has(&line, "STRONG"),
               swap = !strncmp(line.words[0], "ATOM", 4) && line.words[0][4] != 'S' && sass_has(&line, "CAS");
    if ((!load && !swap) || !loop_around(code, at, &begin, &end))
        return NULL;
    bool memory = false;
    for (int k = 0; k < line.count; k++) {
        const sass_operand *o = &line.operands[k];
        if (o->kind == SASS_MEMORY) {
            memory = true;
            if (is_written(code, begin, end, o->number, loop))
                return swap ? tries : NULL;
        } else if (swap && memory && o->kind == SASS_REGISTER && o->number != SASS_RZ)
            return is_written(code, begin, end, o->number, loop) ? tries : waits;
    }
    return waits;
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

bool time_refuses(const warp_code *code, const time_trace *trace, const char *gpu, char *why, size_t size)
{
    loop_writes loop = {.begin = 1}; /* none ends before it begins */
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
        const char *waits = waits_for_others(code, i, &loop);
        if (!why[0] && waits)
            snprintf(why, size, waits, code->insts[i].line);
    }
    if (!why[0] && reads_of_others(code, trace))
        snprintf(why, size, "it reads what other blocks write in the same launch");
    if (!why[0] && !trace->kept)
        snprintf(why, size, "no block of it ran");
    if (!why[0] && trace->cut)
        snprintf(why, size, "one of its blocks runs too many instructions, or its code is too long");
    if (!why[0] && !code->control_count)
        snprintf(why, size, "the cubin of its SASS for an %s is not at hand", gpu);
    return why[0] != 0;
}
