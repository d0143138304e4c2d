/* Instructions as the time model needs them: pipe and cycles by the opcode, operands, and the bits that ptxas sets for
 * the hardware. Those lie in bits 105 to 125 of an instruction's 128: 4 of stall cycles, 1 of yield, the scoreboards
 * that its result and its reads release (3 bits each), a mask of those it waits for (6), operands to keep (4). */
#include <string.h>

#include "base/alloc.h"
#include "lab/sass/sass.h"
#include "lab/time/model.h"

enum { CONTROL_SHIFT = 105 - 64, NO_BOARD = 7 };

typedef struct opcode {
    const char *name;
    uint8_t pipe, kind;
    size_t cycles, latency; /* offsets in smp_time_gpu */
} opcode;

static const opcode opcodes[] = {
#define OPCODE(name, pipe, kind, cycles, latency)                                                                      \
    {#name, TIME_##pipe, TIME_##kind, offsetof(smp_time_gpu, cycles), offsetof(smp_time_gpu, latency)},
#include "lab/time/opcodes.def"
#undef OPCODE
};

static double number_at(const smp_time_gpu *gpu, size_t offset)
{
    double value;
    memcpy(&value, (const char *)gpu + offset, sizeof value);
    return value;
}

static bool contains(sass_text text, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.size; i++)
        if (!memcmp(text.at + i, word, size))
            return true;
    return false;
}

const char *smp_time_pipe(const char *operation)
{
    static const char *const names[TIME_PIPES] = {"none",   "FMA",    "FMA heavy", "ALU",     "FP64",   "special",
                                                  "tensor", "memory", "uniform",   "address", "branch", "constant"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (!strcmp(operation, opcodes[i].name))
            return names[opcodes[i].pipe];
    return names[operation[0] == 'U' ? TIME_UNIFORM : TIME_ALU];
}

static void set_pipe(const sass_line *line, const smp_time_gpu *gpu, time_inst *inst)
{
    const char *name = line->words[0];
    opcode found = {name, TIME_ALU, TIME_PLAIN, offsetof(smp_time_gpu, alu), offsetof(smp_time_gpu, none)};
    if (name[0] == 'U') {
        found.pipe = TIME_UNIFORM;
        found.cycles = offsetof(smp_time_gpu, uniform);
    }
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (!strcmp(name, opcodes[i].name))
            found = opcodes[i];
    inst->pipe = found.pipe;
    inst->kind = found.kind;
    inst->cycles = time_of(number_at(gpu, found.cycles));
    inst->latency = time_of(number_at(gpu, found.latency));
    if (!strcmp(name, "IMAD") && sass_has(line, "MOV")) {
        inst->pipe = TIME_FMA;
        inst->cycles = time_of(gpu->fma);
    } else if (!strcmp(name, "IMAD") && (sass_has(line, "WIDE") || sass_has(line, "HI")))
        inst->cycles = time_of(sass_has(line, "HI") ? gpu->high : gpu->wide);
    else if (inst->pipe == TIME_TENSOR && !sass_has(line, "16816"))
        inst->cycles /= 2;
}

/* Registers that it reads. Of pairs both banks are read. */
static void set_sources(const sass_line *line, time_inst *inst)
{
    const bool no_result = inst->kind == TIME_STORE || inst->kind == TIME_REDUCTION || inst->kind == TIME_LOCAL_STORE ||
                           inst->pipe == TIME_BRANCH || !strcmp(line->words[0], "STS");
    bool result = !no_result;
    if (inst->pipe == TIME_TENSOR)
        return;
    for (int i = 0; i < line->count && inst->sources < TIME_SOURCES; i++) {
        const sass_operand *o = &line->operands[i];
        const bool is_register = o->kind == SASS_REGISTER;
        if (result && is_register) {
            result = false;
            continue;
        }
        if ((!is_register && o->kind != SASS_MEMORY) || o->number == SASS_RZ || o->number < 0)
            continue;
        const int k = inst->sources++;
        inst->source[k] = (int16_t)o->number;
        inst->reuse[k] = contains(o->text, ".reuse");
        inst->wide[k] = o->wide || inst->pipe == TIME_FP64 || (inst->kind == TIME_STORE && k == 1 && inst->bytes >= 8);
    }
    if (!strcmp(line->words[0], "IMAD") && sass_has(line, "WIDE") && inst->sources)
        inst->wide[inst->sources - 1] = true;
}

static void set_control(uint64_t word, time_inst *inst)
{
    const uint64_t control = word >> CONTROL_SHIFT;
    inst->stall = control & 15;
    inst->sets = control >> 5 & 7;
    inst->frees = control >> 8 & 7;
    inst->waits = control >> 11 & 63;
}

/* The line of constants that it reads at a fixed place: bank 0 has parameters, another what the compiler put there. */
static uint16_t constants_of(const sass_line *line)
{
    enum { LINES = TIME_CONSTANT_LINES / 2 - 1 };
    for (int i = 0; i < line->count; i++) {
        const sass_operand *o = &line->operands[i];
        if (o->kind == SASS_BANK && o->number == SASS_RZ && o->offset >= 0)
            return (uint16_t)(1 + (o->bank ? LINES : 0) + o->offset / TIME_CONSTANT_LINE % LINES);
    }
    return 0;
}

static bool is_long(time_kind kind)
{
    return kind == TIME_LOAD || kind == TIME_LOCAL_LOAD || kind == TIME_ATOMIC || kind == TIME_COPY;
}

static void read_inst(const warp_code *code, size_t index, const smp_time_gpu *gpu, time_inst *inst)
{
    static const char jump[] = "BRA `"; /* without a predicate before or behind, or .DIV */
    const warp_inst *from = &code->insts[index];
    sass_line line = {.word_count = 0};
    *inst = (time_inst){.sets = NO_BOARD, .frees = NO_BOARD, .stall = 1, .kind = TIME_PLAIN};
    if (!from->text || !sass_cut((sass_text){from->text, from->text_size}, &line) || !line.word_count)
        return;
    set_pipe(&line, gpu, inst);
    inst->is_double = sass_has(&line, "F64");
    inst->bytes = sass_has(&line, "128") ? 16 : sass_has(&line, "64") || inst->is_double ? 8 : 4;
    inst->bypasses = sass_has(&line, "STRONG") || sass_has(&line, "BYPASS");
    inst->takes_turns = inst->kind == TIME_LOAD && sass_has(&line, "SYS"); /* volatile */
    inst->is_float = sass_has(&line, "F32") || sass_has(&line, "F64");
    inst->swaps = inst->kind == TIME_SHARED && sass_has(&line, "SPIN");
    inst->always = from->text_size > sizeof jump && !memcmp(from->text, jump, sizeof jump - 1);
    inst->is_long = is_long((time_kind)inst->kind);
    inst->goes_on =
        inst->pipe == TIME_FMA || inst->pipe == TIME_HEAVY || inst->pipe == TIME_ALU || inst->pipe == TIME_UNIFORM;
    set_sources(&line, inst);
    inst->constants = constants_of(&line);
    if (index < code->control_count)
        set_control(code->controls[index], inst);
    for (int i = 0; inst->kind == TIME_WAIT_COPIES && i < line.count; i++)
        if (line.operands[i].kind == SASS_NUMBER)
            inst->copies_left = (uint8_t)(line.operands[i].bits < UINT8_MAX ? line.operands[i].bits : UINT8_MAX);
}

bool time_code_make(const warp_code *code, const smp_time_gpu *gpu, time_code *out)
{
    *out = (time_code){.code = code, .count = code->count};
    out->insts = smp_alloc_array(code->count + 1, sizeof *out->insts);
    for (size_t i = 0; out->insts && i < code->count; i++)
        read_inst(code, i, gpu, &out->insts[i]);
    return out->insts != NULL;
}
