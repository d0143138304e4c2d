/* Operands of SASS: what they are, and the rows of a frame that hold them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/sass/sass.h"

/* ------------------------------------------------------------------------------------------------ reading */

static bool begins(sass_text text, const char *word)
{
    return strlen(word) <= text.size && !memcmp(text.at, word, strlen(word));
}

static sass_text after(sass_text text, size_t count)
{
    return (sass_text){text.at + count, text.size - count};
}

/* R12, RZ, UR4, URZ, P0, PT, UP0, UPT, B0, with ".64" and the like behind. False: none of them. */
static bool read_register(sass_text text, sass_operand *o)
{
    static const struct {
        const char *name, *none;
        sass_kind kind;
        int most, none_number;
    } files[] = {{"UR", "URZ", SASS_UNIFORM, 254, SASS_RZ},
                 {"UP", "UPT", SASS_UNIFORM_PREDICATE, 6, SASS_PT},
                 {"R", "RZ", SASS_REGISTER, 254, SASS_RZ},
                 {"P", "PT", SASS_PREDICATE, 6, SASS_PT},
                 {"B", NULL, SASS_BARRIER, SASS_BARRIERS - 1, 0}};
    size_t size = 0;
    while (size < text.size && text.at[size] != '.')
        size++;
    const sass_text name = {text.at, size};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const size_t letters = strlen(files[i].name);
        if (files[i].none && ptx_is(name, files[i].none)) {
            o->kind = files[i].kind;
            o->number = files[i].none_number;
            break;
        }
        if (!begins(name, files[i].name) || size == letters || size > letters + 3)
            continue;
        int number = 0;
        size_t at = letters;
        for (; at < size && isdigit((unsigned char)name.at[at]); at++)
            number = number * 10 + (name.at[at] - '0');
        if (at < size || number > files[i].most)
            continue;
        o->kind = files[i].kind;
        o->number = number;
        break;
    }
    if (o->kind == SASS_NONE)
        return false;
    while (size < text.size) {
        text = after(text, size + 1);
        for (size = 0; size < text.size && text.at[size] != '.';)
            size++;
        const sass_text word = {text.at, size};
        if (ptx_is(word, "64"))
            o->wide = true;
        else if (ptx_is(word, "H0_H0") || ptx_is(word, "H0"))
            o->half = 1;
        else if (ptx_is(word, "H1_H1") || ptx_is(word, "H1"))
            o->half = 2;
        else if (size == 2 && word.at[0] == 'B' && word.at[1] >= '0' && word.at[1] <= '3')
            o->byte = (int8_t)(word.at[1] - '0');
        else if (ptx_is(word, "X4") || ptx_is(word, "X8") || ptx_is(word, "X16"))
            o->scale = word.at[1] == '4' ? 2 : word.at[1] == '8' ? 3 : 4;
        else if (!ptx_is(word, "reuse") && !ptx_is(word, "U32") && !ptx_is(word, "H1_H0") && !ptx_is(word, "ROW") &&
                 !ptx_is(word, "COL"))
            o->kind = SASS_NONE;
    }
    return o->kind != SASS_NONE;
}

static int64_t read_integer(sass_text text)
{
    char copy[40], *end;
    snprintf(copy, sizeof copy, "%.*s", (int)(text.size < sizeof copy ? text.size : sizeof copy - 1), text.at);
    return strtoll(copy, &end, 0);
}

/* R2.64+UR4+-0x10 of an address, or what stands in a bank's second brackets. */
static bool read_sum(sass_text text, sass_operand *o)
{
    o->number = SASS_RZ;
    o->uniform = SASS_NO_UNIFORM;
    while (text.size) {
        size_t size = 0;
        while (size < text.size && text.at[size] != '+')
            size++;
        sass_operand part = {.byte = -1};
        const sass_text word = {text.at, size};
        if (read_register(word, &part)) {
            if (part.kind == SASS_UNIFORM) {
                o->uniform = part.number == SASS_RZ ? SASS_NO_UNIFORM : part.number;
                o->uniform_wide = part.wide;
            } else if (part.kind == SASS_REGISTER) {
                o->number = part.number;
                o->wide = part.wide;
                o->scale = part.scale;
            } else
                return false;
        } else if (size && (isdigit((unsigned char)word.at[0]) || word.at[0] == '-'))
            o->offset += read_integer(word);
        else
            return false;
        text = after(text, size + (size < text.size));
    }
    return true;
}

static sass_text in_brackets(sass_text *text)
{
    const char *open = memchr(text->at, '[', text->size);
    const char *close = open ? memchr(open, ']', text->size - (size_t)(open - text->at)) : NULL;
    if (!close) {
        text->size = 0;
        return (sass_text){text->at, 0};
    }
    const sass_text inner = {open + 1, (size_t)(close - open) - 1};
    *text = after(*text, (size_t)(close + 1 - text->at));
    return inner;
}

static void read_number(sass_text text, sass_operand *o)
{
    char copy[60], *end;
    snprintf(copy, sizeof copy, "%.*s", (int)(text.size < sizeof copy ? text.size : sizeof copy - 1), text.at);
    const bool minus = copy[0] == '-';
    const char *digits = copy + (copy[0] == '-' || copy[0] == '+');
    if (!strncmp(digits, "0x", 2)) {
        const uint64_t value = strtoull(digits, &end, 16);
        o->bits = (uint32_t)(minus ? 0 - value : value);
        o->whole = !minus && value > UINT32_MAX ? value : 0;
        o->is_integer = true;
        o->kind = *end ? SASS_NONE : SASS_NUMBER;
        return;
    }
    const bool nan = strstr(digits, "NAN") != NULL;
    o->real = nan ? (double)NAN : !strncmp(digits, "INF", 3) ? (double)INFINITY : strtod(digits, &end);
    o->kind =
        nan || isinf(o->real) || (end != digits && (!*end || isspace((unsigned char)*end))) ? SASS_NUMBER : SASS_NONE;
    o->real = minus ? -o->real : o->real;
    const float narrow = (float)o->real;
    memcpy(&o->bits, &narrow, 4);
    o->is_nan = nan;
    if (nan)
        o->bits = 0x7fffffff | (minus ? UINT32_C(1) << 31 : 0);
}

void sass_read_operand(sass_text text, sass_operand *o)
{
    memset(o, 0, sizeof *o);
    o->text = text;
    o->byte = -1;
    o->uniform = SASS_NO_UNIFORM;
    if (text.size && (text.at[0] == '!' || text.at[0] == '~')) {
        o->invert = true;
        text = after(text, 1);
    }
    if (text.size > 1 && text.at[0] == '-' && strchr("RUPc|", text.at[1])) {
        o->negate = true;
        text = after(text, 1);
    }
    if (text.size > 2 && text.at[0] == '|') {
        const char *close = memchr(text.at + 1, '|', text.size - 1);
        if (!close)
            return;
        o->absolute = true;
        sass_operand inner;
        sass_read_operand((sass_text){text.at + 1, (size_t)(close - text.at) - 1}, &inner);
        /* a half is told behind the bar: |R2|.H1_H1 */
        const sass_text rest = after(text, (size_t)(close + 1 - text.at));
        inner.half = ptx_is(rest, ".H0_H0") ? 1 : ptx_is(rest, ".H1_H1") ? 2 : inner.half;
        inner.text = o->text;
        inner.absolute = true;
        inner.negate = o->negate;
        inner.invert = o->invert;
        *o = inner;
        return;
    }
    if (begins(text, "SR")) {
        o->kind = SASS_SPECIAL;
        o->text = text;
    } else if (begins(text, "`(")) {
        o->kind = SASS_LABEL;
        const char *close = memchr(text.at, ')', text.size);
        o->text = (sass_text){text.at + 2, close ? (size_t)(close - text.at) - 2 : 0};
    } else if (begins(text, "c[")) {
        const sass_text bank = in_brackets(&text), inner = in_brackets(&text);
        o->bank = (uint32_t)read_integer(bank);
        o->kind = inner.size && o->bank < WARP_BANKS && read_sum(inner, o) ? SASS_BANK : SASS_NONE;
    } else if (begins(text, "desc[")) {
        (void)in_brackets(&text);
        o->kind = read_sum(in_brackets(&text), o) ? SASS_MEMORY : SASS_NONE;
    } else if (begins(text, "[")) {
        o->kind = read_sum(in_brackets(&text), o) ? SASS_MEMORY : SASS_NONE;
    } else if (!read_register(text, o) && text.size &&
               (isdigit((unsigned char)text.at[0]) || strchr("+-IQN", text.at[0])))
        read_number(text, o);
}

bool sass_is_predicate(const sass_operand *o)
{
    return o->kind == SASS_PREDICATE || o->kind == SASS_UNIFORM_PREDICATE;
}

/* ------------------------------------------------------------------------------------------------ rows */

static uint32_t new_rows(sass_parser *parser, uint32_t count)
{
    const uint32_t row = parser->code->register_bytes;
    parser->code->register_bytes += count * SASS_WORD_ROW;
    return row;
}

/* Registers that the lines name, with those behind that wide accesses reach, come first. */
void sass_lay_out(sass_parser *parser)
{
    enum { REACH = 4, LEAST = 10, LEAST_UNIFORM = 8 }; /* calls of the system read R4 to R13 */
    int most = LEAST, most_uniform = LEAST_UNIFORM;
    for (size_t i = 0; i < parser->line_count; i++)
        for (int k = 0; k < parser->lines[i].count; k++) {
            const sass_operand *o = &parser->lines[i].operands[k];
            if ((o->kind == SASS_REGISTER || o->kind == SASS_MEMORY || o->kind == SASS_BANK) && o->number != SASS_RZ)
                most = o->number > most ? o->number : most;
            if (o->kind == SASS_UNIFORM && o->number != SASS_RZ)
                most_uniform = o->number > most_uniform ? o->number : most_uniform;
            if (o->uniform > most_uniform)
                most_uniform = o->uniform;
        }
    parser->code->register_bytes = 0;
    (void)new_rows(parser, (uint32_t)most + REACH);
    parser->uniforms = new_rows(parser, (uint32_t)most_uniform + REACH);
    parser->zero = new_rows(parser, SASS_ZERO_ROWS);
    parser->sink = new_rows(parser, SASS_ZERO_ROWS);
    parser->barriers = new_rows(parser, SASS_BARRIERS);
    parser->predicates = new_rows(parser, 1);
    parser->reduced = new_rows(parser, 2);
    parser->groups = new_rows(parser, 2);
    parser->truth = sass_constant(parser, UINT32_MAX, UINT32_MAX);
}

static uint32_t constant_row(sass_parser *parser, uint32_t bits, uint32_t row)
{
    warp_code *code = parser->code;
    if (!smp_grow(&code->constants, &code->constant_capacity, code->constant_count + 1, sizeof *code->constants)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "constants", 0);
        return row;
    }
    code->constants[code->constant_count++] = (warp_constant){row, false, bits};
    return row;
}

/* Whether two constants from that number on are those of a NaN, whose bits are not known yet. */
static bool is_unknown(const warp_code *code, size_t constant)
{
    bool unknown = false;
    for (size_t i = 0; i < code->nan_count; i++)
        unknown = unknown || code->nans[i].constant / 2 == constant / 2;
    return unknown;
}

/* Two rows that follow each other, so that 64 bits need no care. */
uint32_t sass_constant(sass_parser *parser, uint32_t low, uint32_t high)
{
    const warp_code *code = parser->code;
    for (size_t i = 0; i + 1 < code->constant_count; i += 2)
        if (code->constants[i].bits == low && code->constants[i + 1].bits == high && !is_unknown(code, i))
            return code->constants[i].row;
    const uint32_t row = new_rows(parser, 2);
    constant_row(parser, low, row);
    constant_row(parser, high, row + SASS_WORD_ROW);
    return row;
}

/* A NaN has rows of its own, which the cubin settles. */
static uint32_t nan_row(sass_parser *parser, uint32_t bits, bool is_double)
{
    warp_code *code = parser->code;
    const uint32_t row = new_rows(parser, 2);
    constant_row(parser, is_double ? 0 : bits, row);
    constant_row(parser, is_double ? bits : 0, row + SASS_WORD_ROW);
    if (parser->failed || !smp_grow(&code->nans, &code->nan_capacity, code->nan_count + 1, sizeof *code->nans))
        return row;
    code->nans[code->nan_count++] =
        (warp_nan){(uint32_t)code->count - 1, (uint32_t)code->constant_count - (is_double ? 1 : 2)};
    return row;
}

static uint32_t bank_row(sass_parser *parser, uint32_t bank, uint32_t offset)
{
    warp_code *code = parser->code;
    for (size_t i = 0; i + 1 < code->bank_row_count; i += 2)
        if (code->bank_rows[i].bank == bank && code->bank_rows[i].offset == offset)
            return code->bank_rows[i].row;
    const uint32_t row = new_rows(parser, 2);
    if (!smp_grow(&code->bank_rows, &code->bank_row_capacity, code->bank_row_count + 2, sizeof *code->bank_rows)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "constants", 0);
        return row;
    }
    for (uint32_t i = 0; i < 2; i++)
        code->bank_rows[code->bank_row_count++] =
            (warp_bank_row){row + i * SASS_WORD_ROW, bank, offset + i * (uint32_t)sizeof(uint32_t)};
    return row;
}

/* 32@lo(name), 32@hi(name), 32@lo(fun@fdesc(name)) of linked code: half of the address of a variable or kernel of the
 * PTX; 32@lo((function + label@srel)): where a call of the system returns to, which needs no address. */
static uint32_t symbol_row(sass_parser *parser, const sass_operand *o)
{
    static const char half[] = "32@lo(", kernel[] = "fun@fdesc(", label[] = "@srel))";
    char name[1024];
    size_t size;
    if (o->text.size <= strlen(half) || o->text.size >= sizeof name || memcmp(o->text.at, half, 3) != 0)
        return WARP_NO_ROW;
    const bool high = begins(after(o->text, 3), "hi("), is_kernel = begins(after(o->text, strlen(half)), kernel);
    if (o->text.size > strlen(label) && begins(after(o->text, o->text.size - strlen(label)), label))
        return parser->zero;
    const sass_text rest = after(o->text, strlen(half) + (is_kernel ? strlen(kernel) : 0));
    snprintf(name, sizeof name, "%.*s", (int)rest.size, rest.at);
    name[strcspn(name, ")")] = 0;
    uint64_t address = 0;
    if (!is_kernel && parser->ptx)
        address = (uint64_t)(uintptr_t)smp_warp_variable(parser->ptx, name, &size);
    for (const warp_pointer *p = is_kernel && parser->ptx ? parser->ptx->pointers : NULL; p; p = p->next)
        if (!strcmp(p->name, name))
            address = (uint64_t)(uintptr_t)p;
    return address ? sass_constant(parser, (uint32_t)(high ? address >> 32 : address), 0) : WARP_NO_ROW;
}

uint32_t sass_row(sass_parser *parser, const sass_operand *o, int words, bool is_float)
{
    switch (o->kind) {
    case SASS_REGISTER:
        return o->number == SASS_RZ ? parser->zero : (uint32_t)o->number * SASS_WORD_ROW;
    case SASS_UNIFORM:
        return o->number == SASS_RZ ? parser->zero : parser->uniforms + (uint32_t)o->number * SASS_WORD_ROW;
    case SASS_BANK:
        return o->number != SASS_RZ || o->uniform != SASS_NO_UNIFORM || o->offset < 0
                   ? WARP_NO_ROW
                   : bank_row(parser, o->bank, (uint32_t)o->offset);
    case SASS_NUMBER:
        if (o->is_nan)
            return nan_row(parser, is_float && words == 2 ? (o->bits >> 31 << 31) | 0x7ff80000 : o->bits,
                           is_float && words == 2);
        if (is_float && words == 2) { /* the high half of a double, or a double */
            uint64_t bits;
            memcpy(&bits, &o->real, sizeof bits);
            return o->is_integer ? sass_constant(parser, 0, o->bits)
                                 : sass_constant(parser, (uint32_t)bits, (uint32_t)(bits >> 32));
        }
        if (o->whole)
            return words == 2 ? sass_constant(parser, (uint32_t)o->whole, (uint32_t)(o->whole >> 32)) : WARP_NO_ROW;
        return sass_constant(parser, o->bits, words == 2 && (int32_t)o->bits < 0 ? UINT32_MAX : 0);
    case SASS_NONE:
        return symbol_row(parser, o);
    default:
        return WARP_NO_ROW;
    }
}

uint32_t sass_to(sass_parser *parser, const sass_operand *o)
{
    if (o->kind != SASS_REGISTER && o->kind != SASS_UNIFORM)
        return WARP_NO_ROW;
    return o->number == SASS_RZ ? parser->sink : sass_row(parser, o, 1, false);
}

uint32_t sass_predicate(sass_parser *parser, const sass_operand *o)
{
    enum { BYTES = 4, UNIFORM = 8 };
    if (!sass_is_predicate(o))
        return WARP_NO_ROW;
    if (o->number == SASS_PT)
        return parser->truth;
    const uint32_t slot = (uint32_t)o->number + (o->kind == SASS_UNIFORM_PREDICATE ? UNIFORM : 0);
    return parser->predicates + slot * BYTES;
}

uint32_t sass_predicate_to(sass_parser *parser, const sass_operand *o)
{
    return sass_is_predicate(o) && o->number != SASS_PT ? sass_predicate(parser, o) : WARP_NO_ROW;
}

uint32_t sass_barrier(const sass_parser *parser, int number)
{
    return parser->barriers + (uint32_t)number * SASS_WORD_ROW;
}
