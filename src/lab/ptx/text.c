/* Pieces of PTX text: words, numbers, types, lines. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/ptx.h"

bool ptx_is(ptx_text text, const char *word)
{
    const size_t size = strlen(word);
    return text.size == size && (!size || !memcmp(text.at, word, size)); /* a text that is not there has no place */
}

ptx_text ptx_trim(ptx_text text)
{
    while (text.size && isspace((unsigned char)text.at[0]))
        text.at++, text.size--;
    while (text.size && isspace((unsigned char)text.at[text.size - 1]))
        text.size--;
    return text;
}

int ptx_split(ptx_text text, char separator, ptx_text *parts, int most)
{
    int count = 0, depth = 0;
    const char *begin = text.at;
    if (!ptx_trim(text).size)
        return 0;
    for (size_t i = 0; i <= text.size; i++) {
        const char c = i < text.size ? text.at[i] : separator;
        if (i < text.size && strchr("{[(", c))
            depth++;
        if (i < text.size && strchr("}])", c))
            depth--;
        if (c != separator || (i < text.size && depth))
            continue;
        if (count == most)
            return -1;
        parts[count++] = ptx_trim((ptx_text){begin, (size_t)(text.at + i - begin)});
        begin = text.at + i + 1;
    }
    return count;
}

char *ptx_copy(ptx_text text)
{
    return smp_strndup(text.at, text.size);
}

static uint64_t float_bits(double value, uint32_t bytes)
{
    const float narrow = (float)value;
    uint64_t bits = 0;
    if (bytes == 8)
        memcpy(&bits, &value, 8);
    else
        memcpy(&bits, &narrow, 4);
    return bits;
}

bool ptx_number(ptx_text text, uint32_t bytes, uint64_t *value)
{
    char digits[64], *end;
    bool negative = false;
    text = ptx_trim(text);
    if (ptx_is(text, "WARP_SZ")) {
        *value = WARP_LANES;
        return true;
    }
    if (!text.size || text.size >= sizeof digits)
        return false;
    memcpy(digits, text.at, text.size);
    digits[text.size] = 0;
    char *at = digits;
    if (*at == '-') {
        negative = true;
        at++;
    }
    if (!isdigit((unsigned char)*at))
        return false;
    if (at[0] == '0' && strchr("fFdD", at[1]) && at[1]) {
        *value = strtoull(at + 2, &end, 16);
        if (negative)
            *value ^= UINT64_C(1) << (at[1] == 'f' || at[1] == 'F' ? 31 : 63);
        return end != at + 2 && !*end;
    }
    if (strpbrk(at, ".") || (strpbrk(at, "eE") && !(at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))) {
        const double number = strtod(at, &end);
        *value = float_bits(negative ? -number : number, bytes);
        return !*end;
    }
    *value = at[0] == '0' && (at[1] == 'b' || at[1] == 'B') ? strtoull(at + 2, &end, 2) : strtoull(at, &end, 0);
    if (*end == 'U')
        end++;
    if (negative)
        *value = 0 - *value;
    return !*end;
}

static const struct {
    const char *name;
    uint8_t size;
    bool is_float, is_signed;
} types[] = {
    [PTX_NONE] = {"", 0, false, false},       [PTX_U8] = {"u8", 1, false, false},
    [PTX_U16] = {"u16", 2, false, false},     [PTX_U32] = {"u32", 4, false, false},
    [PTX_U64] = {"u64", 8, false, false},     [PTX_S8] = {"s8", 1, false, true},
    [PTX_S16] = {"s16", 2, false, true},      [PTX_S32] = {"s32", 4, false, true},
    [PTX_S64] = {"s64", 8, false, true},      [PTX_B8] = {"b8", 1, false, false},
    [PTX_B16] = {"b16", 2, false, false},     [PTX_B32] = {"b32", 4, false, false},
    [PTX_B64] = {"b64", 8, false, false},     [PTX_F16] = {"f16", 2, true, true},
    [PTX_F16X2] = {"f16x2", 4, true, true},   [PTX_BF16] = {"bf16", 2, true, true},
    [PTX_BF16X2] = {"bf16x2", 4, true, true}, [PTX_F32] = {"f32", 4, true, true},
    [PTX_F64] = {"f64", 8, true, true},       [PTX_PRED] = {"pred", 1, false, false},
    [PTX_E4M3X2] = {"e4m3x2", 2, true, true}, [PTX_E5M2X2] = {"e5m2x2", 2, true, true},
    [PTX_B128] = {"b128", 16, false, false},
};

ptx_type ptx_type_of(const char *word)
{
    for (int i = PTX_U8; i <= PTX_B128; i++)
        if (!strcmp(types[i].name, word))
            return (ptx_type)i;
    return PTX_NONE;
}

uint32_t ptx_size_of(ptx_type type)
{
    return types[type].size;
}
bool ptx_is_float(ptx_type type)
{
    return types[type].is_float;
}
bool ptx_is_signed(ptx_type type)
{
    return types[type].is_signed;
}

/* Reads go forward, so lines are counted on from the last place. */
uint32_t ptx_line(ptx_parser *parser, const char *at)
{
    const size_t to = (size_t)(at - parser->text);
    if (to < parser->line_at) {
        parser->line_at = 0;
        parser->line = 1;
    }
    for (; parser->line_at < to; parser->line_at++)
        parser->line += parser->text[parser->line_at] == '\n';
    return parser->line;
}

void ptx_blank_comments(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') {
            for (i++; i < length && text[i] != '"'; i++)
                i += text[i] == '\\' && i + 1 < length;
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '/') {
            while (i < length && text[i] != '\n')
                text[i++] = ' ';
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '*') {
            for (; i + 1 < length && !(text[i] == '*' && text[i + 1] == '/'); i++)
                if (text[i] != '\n')
                    text[i] = ' ';
            text[i] = ' ';
            if (i + 1 < length)
                text[++i] = ' ';
        }
    }
}

void ptx_fail(ptx_parser *parser, const char *at, const char *format, ...)
{
    char message[400];
    if (parser->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    parser->failed = true;
    smp_fail(&parser->error, SMP_E_DECODE, "%s", message);
    smp_at(&parser->error, "%s:%u", parser->name, ptx_line(parser, at));
}

void ptx_refuse(ptx_parser *parser, const char *at, const char *format, ...)
{
    char message[400];
    if (!parser->code || parser->code->problem.code)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    smp_error *problem = &parser->code->problem;
    smp_fail(problem, SMP_E_PROCESS, "kernel '%s' cannot run: %s", parser->code->name, message);
    if (parser->source_line && parser->file < parser->module->file_count && parser->module->files[parser->file])
        smp_hint(problem, "it comes from %s:%u", parser->module->files[parser->file], parser->source_line);
    smp_at(problem, "%s:%u", parser->name, ptx_line(parser, at));
}
