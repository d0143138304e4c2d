/* Operands of PTX instructions: registers, constants, special registers, addresses. */
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/ptx.h"

static const struct {
    const char *name;
    warp_special special;
} specials[] = {
#define NAMED(name, spelling, value) {spelling, WARP_##name},
#define NAMELESS(name, value)
#include "lab/machine/special_list.def"
};

static uint32_t special_row(ptx_parser *parser, warp_special special, bool wide, uint64_t add)
{
    warp_code *code = parser->code;
    for (size_t i = 0; i < code->special_count; i++) {
        const warp_special_row *s = &code->specials[i];
        if (s->special == special && s->wide == wide && s->add == add)
            return s->row;
    }
    if (!smp_grow(&code->specials, &code->special_capacity, code->special_count + 1, sizeof *code->specials)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "special registers", sizeof *code->specials);
        return 0;
    }
    const uint32_t row = ptx_new_row(parser, wide ? 'd' : 'w');
    code->specials[code->special_count++] = (warp_special_row){special, row, wide, add};
    return row;
}

uint32_t ptx_constant(ptx_parser *parser, uint64_t bits, bool wide)
{
    warp_code *code = parser->code;
    if (!wide)
        bits = (uint32_t)bits;
    uint32_t *met = &parser->constants_met[(bits ^ bits >> 32 ^ (bits >> 52) * 31 ^ wide) % PTX_BUCKETS];
    const warp_constant *before = *met < code->constant_count ? &code->constants[*met] : NULL;
    if (before && before->bits == bits && before->wide == wide)
        return before->row;
    if (!smp_grow(&code->constants, &code->constant_capacity, code->constant_count + 1, sizeof *code->constants)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "constants", sizeof *code->constants);
        return 0;
    }
    const uint32_t row = ptx_new_row(parser, wide ? 'd' : 'w');
    *met = (uint32_t)code->constant_count;
    code->constants[code->constant_count++] = (warp_constant){row, wide, bits};
    return row;
}

static char class_of(const ptx_symbol *s)
{
    return s->type == PTX_PRED ? 'p' : ptx_size_of(s->type) == 8 ? 'd' : 'w';
}

char ptx_class(ptx_parser *parser, ptx_text operand)
{
    const ptx_symbol *s = ptx_find(parser, ptx_trim(operand));
    if (s && s->kind == PTX_REGISTER)
        return class_of(s);
    return s && s->kind == PTX_VARIABLE && s->space != WARP_SHARED ? 'd' : 'w';
}

/* A variable of the module's shared memory gets its place in a kernel when that first names it. */
static ptx_symbol *place_shared(ptx_parser *parser, const ptx_symbol *s, ptx_text name)
{
    enum { LEAST_ALIGNMENT = 16 };
    warp_code *code = parser->code;
    if (!code->entry) {
        ptx_refuse(parser, name.at, "a function that is called, not inlined, names shared memory ('%s')", s->name);
        return NULL;
    }
    const uint32_t align = s->alignment > LEAST_ALIGNMENT ? s->alignment : LEAST_ALIGNMENT;
    const uint32_t offset = (code->shared_bytes + align - 1) / align * align, size = s->size, alignment = s->alignment;
    const uint32_t depth = parser->depth;
    parser->depth = 1; /* of the whole function */
    ptx_symbol *own = ptx_declare(parser, name, PTX_VARIABLE);
    parser->depth = depth;
    if (!own)
        return NULL;
    own->space = WARP_SHARED;
    own->size = size;
    own->alignment = alignment;
    own->offset = offset;
    if (size)
        code->shared_bytes = offset + size;
    if (smp_grow(&code->arrays, &code->array_capacity, code->array_count + 1, sizeof *code->arrays)) {
        warp_shared_array *a = &code->arrays[code->array_count++];
        smp_warp_source_name(name.at, name.size, a->name, sizeof a->name);
        a->offset = size ? offset : 0;
        a->size = size;
        a->alignment = alignment ? alignment : 1;
        a->declared = s->offset;
    }
    return own;
}

/* An address as a constant. */
static uint32_t variable_row(ptx_parser *parser, const ptx_symbol *s, ptx_text name, uint64_t add, char row_class)
{
    if (s->space == WARP_SHARED) {
        if (s->depth == 0)
            s = place_shared(parser, s, name);
        if (!s)
            return 0;
        if (!s->size)
            return special_row(parser, WARP_DYNAMIC_BASE, row_class == 'd', add);
        return ptx_constant(parser, s->offset + add, row_class == 'd');
    }
    if (s->undefined)
        ptx_refuse(parser, name.at, PTX_UNDEFINED, s->name);
    if (s->space == WARP_PARAM)
        return ptx_constant(parser, (s->in_body ? WARP_LOCAL_WINDOW : WARP_PARAM_WINDOW) + s->offset + add, true);
    return ptx_constant(parser, s->offset + add, row_class == 'd' || s->space != WARP_LOCAL);
}

uint32_t ptx_row(ptx_parser *parser, ptx_text operand, char row_class)
{
    operand = ptx_trim(operand);
    ptx_symbol *s = ptx_find(parser, operand);
    uint64_t value;
    if (s && s->kind == PTX_REGISTER) {
        if (class_of(s) != row_class)
            ptx_refuse(parser, operand.at, "register '%s' has another width than its instruction", s->name);
        return s->row;
    }
    if (s && s->kind == PTX_VARIABLE)
        return variable_row(parser, s, operand, 0, row_class);
    if (ptx_number(operand, row_class == 'd' ? 8 : 4, &value)) {
        if (row_class == 'p') {
            const uint32_t row = ptx_constant(parser, value ? UINT32_MAX : 0, false);
            return row;
        }
        return ptx_constant(parser, parser->narrow ? value & UINT16_MAX : value, row_class == 'd');
    }
    const char *plus = memchr(operand.at, '+', operand.size);
    if (plus) {
        const ptx_text name = ptx_trim((ptx_text){operand.at, (size_t)(plus - operand.at)});
        const ptx_text rest = {plus + 1, operand.size - (size_t)(plus + 1 - operand.at)};
        s = ptx_find(parser, name);
        if (s && s->kind == PTX_VARIABLE && ptx_number(rest, 8, &value))
            return variable_row(parser, s, name, value, row_class);
    }
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (ptx_is(operand, specials[i].name))
            return special_row(parser, specials[i].special, row_class == 'd', 0);
    for (const warp_function *f = row_class == 'd' ? parser->module->functions : NULL; f; f = f->next)
        if (f->code.symbol && ptx_is(operand, f->code.symbol))
            return ptx_constant(parser, ptx_function_pointer(parser, operand), true);
    for (size_t i = 0; row_class == 'd' && i < parser->module->kernel_count; i++)
        if (ptx_is(operand, parser->module->kernels[i]->code.symbol))
            return ptx_constant(parser, ptx_function_pointer(parser, operand), true);
    ptx_refuse(parser, operand.at, "unknown operand '%.*s'", (int)(operand.size < 60 ? operand.size : 60), operand.at);
    return 0;
}

int ptx_rows(ptx_parser *parser, ptx_text operand, char row_class, uint32_t *rows, int most)
{
    ptx_text parts[PTX_OPERANDS];
    int count = 1;
    operand = ptx_trim(operand);
    if (operand.size >= 2 && operand.at[0] == '{')
        count = ptx_split((ptx_text){operand.at + 1, operand.size - 2}, ',', parts, PTX_OPERANDS);
    else
        parts[0] = operand;
    if (count < 1 || count > most) {
        ptx_refuse(parser, operand.at, "an operand of %d registers is not supported here", count);
        return 0;
    }
    for (int i = 0; i < count; i++)
        if (ptx_is(parts[i], "_"))
            rows[i] = WARP_NO_ROW;
        else
            rows[i] = ptx_row(parser, parts[i], row_class ? row_class : ptx_class(parser, parts[i]));
    return count;
}

void ptx_address(ptx_parser *parser, ptx_text operand, warp_inst *inst, int slot, int64_t *offset)
{
    operand = ptx_trim(operand);
    *offset = 0;
    if (operand.size < 2 || operand.at[0] != '[') {
        ptx_refuse(parser, operand.at, "an address in brackets is missing");
        return;
    }
    ptx_text inner = ptx_trim((ptx_text){operand.at + 1, operand.size - 2}), base = inner;
    for (size_t i = 1; i < inner.size; i++)
        if (inner.at[i] == '+' || inner.at[i] == '-') {
            uint64_t value;
            const ptx_text rest = {inner.at + i + (inner.at[i] == '+'), inner.size - i - (inner.at[i] == '+')};
            base = ptx_trim((ptx_text){inner.at, i});
            if (!ptx_number(rest, 8, &value)) {
                ptx_refuse(parser, inner.at, "an address that is not a register and a constant");
                return;
            }
            *offset = (int64_t)value;
            break;
        }
    const char row_class = ptx_class(parser, base);
    inst->s[slot] = ptx_row(parser, base, row_class);
}
