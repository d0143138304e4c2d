/* From a line of SASS to an instruction of the machine. */
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/rows.h"
#include "lab/sass/sass.h"

bool sass_has(const sass_line *line, const char *word)
{
    for (int i = 1; i < line->word_count; i++)
        if (!strcmp(line->words[i], word))
            return true;
    return false;
}

bool sass_refuse(sass_parser *parser, const sass_line *line, const char *why)
{
    warp_code *code = parser->code;
    if (code->problem.code)
        return false;
    const int size = (int)(line->text.size < 120 ? line->text.size : 120);
    smp_fail(&code->problem, SMP_E_PROCESS, "kernel '%s' has SASS that cannot be executed: '%.*s'%s%s", code->name,
             size, line->text.at, why[0] ? ": " : "", why);
    if (line->line && line->file < parser->module->file_count)
        smp_at(&code->problem, "%s:%u", parser->module->files[line->file], line->line);
    else
        smp_at(&code->problem, "%s:%u", parser->name, line->text_line);
    return false;
}

bool sass_only(sass_parser *parser, const sass_line *line, const char *known)
{
    char why[60];
    for (int i = 1; i < line->word_count; i++)
        if (!ptx_in_list(known, line->words[i])) {
            snprintf(why, sizeof why, "'.%s' is unknown here", line->words[i]);
            return sass_refuse(parser, line, why);
        }
    return true;
}

bool sass_source(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int operand, int words,
                 bool is_float)
{
    if (operand >= line->count)
        return sass_refuse(parser, line, "an operand is missing");
    const sass_operand *o = &line->operands[operand];
    op->source[slot] = sass_row(parser, o, words, is_float);
    if (op->source[slot] == WARP_NO_ROW)
        return sass_refuse(parser, line,
                           memmem(line->text.at, line->text.size, "@fdesc(", 7) ||
                                   memmem(line->text.at, line->text.size, "@srel", 5)
                               ? "an address of code: calls by pointer, and kernels that kernels launch, do not run"
                               : "an operand of an unknown form");
    op->shift[slot] = (uint8_t)(o->byte >= 0   ? 8 * o->byte
                                : o->half == 1 ? SASS_LOW
                                : o->half == 2 ? SASS_HIGH
                                               : SASS_WHOLE);
    op->change[slot] =
        (uint16_t)((o->negate ? is_float ? SASS_NEGATE_FLOAT : SASS_NEGATE : 0) |
                   (o->absolute ? is_float ? SASS_ABS_FLOAT : SASS_ABS : 0) | (o->invert ? SASS_INVERT : 0));
    return true;
}

bool sass_result(sass_parser *parser, const sass_line *line, sass_op *op, int operand)
{
    op->to = operand < line->count ? sass_to(parser, &line->operands[operand]) : WARP_NO_ROW;
    return op->to != WARP_NO_ROW || sass_refuse(parser, line, "the result is not a register");
}

bool sass_operands(sass_parser *parser, const sass_line *line, sass_op *op, int sources, int words, bool is_float)
{
    bool good = sass_result(parser, line, op, 0);
    for (int i = 0; i < sources; i++)
        good = good && sass_source(parser, line, op, i, 1 + i, words, is_float);
    return good;
}

void sass_condition(sass_parser *parser, const sass_line *line, sass_op *op, int slot, int operand, bool otherwise)
{
    op->pred[slot] = parser->truth;
    op->pred_not[slot] = !otherwise;
    if (operand >= line->count || !sass_is_predicate(&line->operands[operand]))
        return;
    op->pred[slot] = sass_predicate(parser, &line->operands[operand]);
    op->pred_not[slot] = line->operands[operand].invert;
}

bool sass_comparison(const sass_line *line, sass_op *op)
{
    static const struct {
        const char *word;
        uint8_t bits;
    } tests[] = {{"F", 0},
                 {"LT", SASS_LESS},
                 {"EQ", SASS_EQUAL},
                 {"LE", SASS_LESS | SASS_EQUAL},
                 {"GT", SASS_GREATER},
                 {"NE", SASS_LESS | SASS_GREATER},
                 {"GE", SASS_GREATER | SASS_EQUAL},
                 {"T", SASS_LESS | SASS_EQUAL | SASS_GREATER},
                 {"NUM", SASS_LESS | SASS_EQUAL | SASS_GREATER}};
    bool found = false;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        char unordered[8];
        snprintf(unordered, sizeof unordered, "%sU", tests[i].word);
        if (sass_has(line, tests[i].word) || sass_has(line, unordered)) {
            op->mode = (uint8_t)(tests[i].bits | (sass_has(line, unordered) ? SASS_UNORDERED : 0));
            found = true;
        }
    }
    if (sass_has(line, "NAN") && !found) {
        op->mode = SASS_UNORDERED;
        found = true;
    }
    op->submode = sass_has(line, "OR") ? SASS_OR : sass_has(line, "XOR") ? SASS_XOR : SASS_AND;
    return found;
}

warp_execute *sass_function_of(sass_function function)
{
    return WARP_FOR_ISA(sass_functions)[function];
}

bool sass_decode_nothing(sass_parser *, const sass_line *, warp_inst *, sass_op *)
{
    return true;
}

static const sass_decoder_row *find(const char *name)
{
    const sass_decoder_row *const tables[] = {sass_integer_decoders, sass_float_decoders, sass_memory_decoders,
                                              sass_flow_decoders, sass_mbarrier_decoders};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const sass_decoder_row *row = tables[i]; row->names; row++)
            if (ptx_in_list(row->names, name))
                return row;
    return NULL;
}

void sass_decode(sass_parser *parser, const sass_line *line)
{
    warp_code *code = parser->code;
    sass_op *op = smp_alloc(sizeof *op);
    if (!op || !smp_grow(&code->insts, &code->capacity, code->count + 1, sizeof *code->insts)) {
        smp_free(op);
        parser->failed = true;
        smp_fail_memory(&parser->error, "instructions", sizeof *op);
        return;
    }
    warp_inst *inst = &code->insts[code->count++];
    memset(inst, 0, sizeof *inst);
    inst->execute = sass_run_nothing;
    inst->guard = line->guard.kind != SASS_NONE && (line->guard.number != SASS_PT || line->guard.invert)
                      ? sass_predicate(parser, &line->guard)
                      : WARP_NO_ROW;
    inst->guard_not = line->guard.invert;
    inst->parts = true;
    inst->add = WARP_NO_ROW;
    inst->file = line->file;
    inst->line = line->line;
    inst->text_line = line->text_line;
    inst->text = line->text.at;
    inst->text_size = (uint32_t)line->text.size;
    inst->spills = line->spills;
    inst->extra = op;
    op->pred_to[0] = op->pred_to[1] = WARP_NO_ROW;
    op->to = parser->sink;
    op->groups = parser->groups;
    for (int i = 0; i < 4; i++) {
        op->source[i] = parser->zero;
        op->shift[i] = SASS_WHOLE;
    }
    for (int i = 0; i < 3; i++)
        op->pred[i] = parser->truth;
    const sass_decoder_row *row = find(line->words[0]);
    if (!row)
        sass_refuse(parser, line, "an unknown operation");
    else if (sass_only(parser, line, row->known)) {
        op->uniform =
            line->count && (line->operands[0].kind == SASS_UNIFORM || line->operands[0].kind == SASS_UNIFORM_PREDICATE);
        row->decode(parser, line, inst, op);
    }
}
