/* Types of elements in patterns: CUDA's, and structs with members, in C's layout. See pattern_parse.h. */
#include "lab/counters/pattern_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/each.h"
#include "base/text/text.h"

enum { MOST_ACCESS = 16 /* bytes of one lane */, VECTOR_MEMBERS = 4 };

/* Bytes of a component, and components. */
#define TYPE(shape, name)   {name, SMP_UNWRAP shape},
#define VECTOR(bytes, name) {name "1", bytes, 1}, {name "2", bytes, 2}, {name "3", bytes, 3}, {name "4", bytes, 4},
/* clang-format off */
const smp_pattern_type smp_pattern_types[] = {
    SMP_EACH(TYPE, (1, 1), "char", "uchar", "int8_t", "uint8_t", "bool", "u8", "__nv_fp8_e4m3", "__nv_fp8_e5m2")
    SMP_EACH(TYPE, (2, 1), "short", "ushort", "int16_t", "uint16_t", "u16", "half", "__half", "bf16", "bfloat16",
             "nv_bfloat16", "__nv_bfloat16")
    SMP_EACH(TYPE, (2, 2), "half2", "__half2", "nv_bfloat162", "__nv_bfloat162")
    SMP_EACH(TYPE, (4, 1), "int", "uint", "int32_t", "uint32_t", "float", "f32")
    SMP_EACH(TYPE, (4, 2), "cuComplex", "cuFloatComplex")
    SMP_EACH(TYPE, (4, 3), "dim3")
    SMP_EACH(TYPE, (8, 1), "double", "f64", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "int64_t", "uint64_t")
    SMP_EACH(TYPE, (8, 2), "cuDoubleComplex")
    SMP_EACH(VECTOR, 1, "char", "uchar")
    SMP_EACH(VECTOR, 2, "short", "ushort")
    SMP_EACH(VECTOR, 4, "int", "uint", "float")
    SMP_EACH(VECTOR, 8, "long", "ulong", "longlong", "ulonglong", "double")
    {0},
};
/* clang-format on */

/* ------------------------------------------------------------------------------------------------ shapes */

static bool one_access(int bytes)
{
    return bytes > 0 && bytes <= MOST_ACCESS && !(bytes & (bytes - 1));
}

/* Vectors of three have the alignment of their components, all others their own size, up to 16 bytes. */
static smp_pattern_shape shape_of(const char *name, int bytes, int count)
{
    static const char *const names[VECTOR_MEMBERS] = {"x", "y", "z", "w"};
    smp_pattern_shape shape = {.type = name, .size = bytes * count, .member_count = count > 1 ? count : 0};
    shape.align = count == 3 ? bytes : shape.size < MOST_ACCESS ? shape.size : MOST_ACCESS;
    for (int i = 0; i < shape.member_count; i++) {
        shape.members[i] = (smp_pattern_member){.offset = i * bytes, .bytes = bytes, .count = 1};
        snprintf(shape.members[i].name, sizeof shape.members[i].name, "%s", names[i]);
    }
    return shape;
}

static void add_part(smp_pattern *out, int offset, int width, const char *name)
{
    if (out->part_count == SMP_PATTERN_MEMBERS)
        return;
    smp_pattern_part *part = &out->parts[out->part_count++];
    *part = (smp_pattern_part){.offset = offset, .width = width};
    snprintf(part->name, sizeof part->name, "%s", name);
}

void smp_pattern_take_shape(smp_pattern *out, const smp_pattern_shape *shape)
{
    out->type = shape->type;
    out->size = shape->size;
    out->part_count = 0;
    if (!shape->is_struct && one_access(shape->size))
        add_part(out, 0, shape->size, "");
    else if (!shape->is_struct && shape->size == 2 * MOST_ACCESS) {
        add_part(out, 0, MOST_ACCESS, "xy");
        add_part(out, MOST_ACCESS, MOST_ACCESS, "zw");
    } else
        for (int i = 0; i < shape->member_count; i++)
            add_part(out, shape->members[i].offset, shape->members[i].bytes, shape->members[i].name);
    out->width = out->part_count ? out->parts[0].width : 0;
}

/* ------------------------------------------------------------------------------------------------ words */

bool smp_pattern_skip_word(smp_pattern_parser *p, const char *word)
{
    const size_t end = smp_pattern_word_end(p);
    if (end == p->at || !smp_pattern_is_word(p, p->at, end, word))
        return false;
    p->at = end;
    smp_pattern_blanks(p);
    return true;
}

bool smp_pattern_skip_mark(smp_pattern_parser *p, char mark)
{
    smp_pattern_blanks(p);
    if (p->at >= p->length || p->text[p->at] != mark)
        return false;
    p->at++;
    smp_pattern_blanks(p);
    return true;
}

bool smp_pattern_close(smp_pattern_parser *p, char mark)
{
    char what[] = "an operator or '?'";
    if (smp_pattern_skip_mark(p, mark))
        return true;
    what[sizeof what - 3] = mark;
    smp_pattern_expected(p, what);
    return false;
}

/* __align__(16), alignas(16): the bytes; 0: there is none; below 0: a mistake was reported. */
static int64_t read_alignment(smp_pattern_parser *p)
{
    int64_t bytes = 0;
    const size_t start = p->at;
    if (!smp_pattern_skip_word(p, "__align__") && !smp_pattern_skip_word(p, "alignas"))
        return 0;
    if (!smp_pattern_skip_mark(p, '('))
        return smp_pattern_expected(p, "'(' and a number of bytes");
    int node;
    if (!smp_pattern_number(p, ')', &bytes, &node))
        return -1;
    if (bytes < 1 || bytes > 1024 || (bytes & (bytes - 1))) {
        smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at), "an alignment is a power of two");
        return -1;
    }
    return bytes;
}

/* Words before a type that do not matter for banks; the alignment among them is of the array, not of its elements. */
static bool skip_qualifiers(smp_pattern_parser *p)
{
    static const char *const words[] = {"extern",    "__shared__", "static",    "const",
                                        "constexpr", "volatile",   "__device__"};
    smp_pattern_blanks(p);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (smp_pattern_skip_word(p, words[i]))
            i = SIZE_MAX; /* from the first again */
    const size_t before = p->at;
    if (read_alignment(p) < 0)
        return false;
    return p->at == before || skip_qualifiers(p);
}

static void skip_std(smp_pattern_parser *p)
{
    static const char *const prefixes[] = {"cuda::std::", "std::"};
    for (size_t i = 0; i < 2; i++)
        if (p->length - p->at > strlen(prefixes[i]) && !memcmp(p->text + p->at, prefixes[i], strlen(prefixes[i])))
            p->at += strlen(prefixes[i]);
}

/* ------------------------------------------------------------------------------------------------ structs */

static int round_up(int value, int to)
{
    return (value + to - 1) / to * to;
}

/* "a, b[3];" after a type. */
static bool read_members(smp_pattern_parser *p, const smp_pattern_shape *type, smp_pattern_shape *out)
{
    do {
        smp_pattern_blanks(p);
        const size_t start = p->at, end = smp_pattern_word_end(p);
        int64_t count = 1;
        int node;
        if (end == start || memchr(p->text + start, '.', end - start)) {
            smp_pattern_expected(p, "a member's name");
            return false;
        }
        p->at = end;
        if (smp_pattern_skip_mark(p, '[') && !smp_pattern_number(p, ']', &count, &node))
            return false;
        if (out->member_count == SMP_PATTERN_MEMBERS || count < 1 || count > 1024) {
            smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at),
                          count < 1 || count > 1024 ? "a member has 1 to %d elements"
                                                    : "a struct has at most %d members",
                          count < 1 || count > 1024 ? 1024 : SMP_PATTERN_MEMBERS);
            return false;
        }
        const bool whole = !type->is_struct && one_access(type->size);
        if (!whole) {
            smp_diag *diag =
                smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, p->at),
                              "a member of a struct is read by one access here, and a %s is not", type->type);
            smp_diag_fix(p->diags, diag, "write its members one by one: float x, y, z;");
            return false;
        }
        smp_pattern_member *member = &out->members[out->member_count++];
        out->size = round_up(out->size, type->align);
        *member = (smp_pattern_member){.offset = out->size, .bytes = type->size, .count = (int)count};
        snprintf(member->name, sizeof member->name, "%.*s", (int)(end - start), p->text + start);
        out->size += type->size * (int)count;
        out->align = out->align > type->align ? out->align : type->align;
    } while (smp_pattern_skip_mark(p, ','));
    if (!smp_pattern_skip_mark(p, ';')) {
        smp_pattern_expected(p, "',' or ';'");
        return false;
    }
    return true;
}

/* From behind "struct": a definition, or the name of one. */
static smp_pattern_found read_struct(smp_pattern_parser *p, smp_pattern_shape *out)
{
    const int64_t align = read_alignment(p);
    if (align < 0)
        return SMP_PATTERN_WRONG;
    const size_t start = p->at, end = smp_pattern_word_end(p);
    p->at = end;
    smp_pattern_blanks(p);
    *out = (smp_pattern_shape){.type = "struct", .align = 1, .is_struct = true};
    if (!smp_pattern_skip_mark(p, '{')) {
        p->at = start;
        return SMP_PATTERN_NOT_THERE;
    }
    while (!smp_pattern_skip_mark(p, '}')) {
        smp_pattern_shape type;
        const smp_pattern_found found = smp_pattern_read_type(p, &type);
        if (found == SMP_PATTERN_NOT_THERE)
            smp_pattern_expected(p, "a type, or '}'");
        if (found != SMP_PATTERN_FOUND || !read_members(p, &type, out))
            return SMP_PATTERN_WRONG;
    }
    if (!out->member_count) {
        smp_pattern_expected(p, "a struct with members");
        return SMP_PATTERN_WRONG;
    }
    out->align = align > out->align ? (int)align : out->align;
    out->size = round_up(out->size, out->align);
    if (end > start)
        smp_pattern_name_struct(p, start, end, out);
    return SMP_PATTERN_FOUND;
}

void smp_pattern_name_struct(smp_pattern_parser *p, size_t start, size_t end, const smp_pattern_shape *shape)
{
    if (p->struct_count == SMP_PATTERN_STRUCTS)
        return;
    p->structs[p->struct_count].start = start;
    p->structs[p->struct_count].end = end;
    p->structs[p->struct_count++].shape = *shape;
}

/* ------------------------------------------------------------------------------------------------ types */

smp_pattern_found smp_pattern_read_type(smp_pattern_parser *p, smp_pattern_shape *out)
{
    bool sign = false;
    if (!skip_qualifiers(p))
        return SMP_PATTERN_WRONG;
    const size_t start = p->at;
    *out = (smp_pattern_shape){.type = NULL};
    if (smp_pattern_skip_word(p, "struct")) {
        const smp_pattern_found found = read_struct(p, out);
        if (found != SMP_PATTERN_NOT_THERE)
            return found;
    }
    for (int i = 0; i < p->struct_count; i++) {
        const size_t end = smp_pattern_word_end(p), length = p->structs[i].end - p->structs[i].start;
        if (end - p->at == length && !memcmp(p->text + p->at, p->text + p->structs[i].start, length)) {
            p->at = end;
            *out = p->structs[i].shape;
            return SMP_PATTERN_FOUND;
        }
    }
    while (smp_pattern_skip_word(p, "unsigned") || smp_pattern_skip_word(p, "signed"))
        sign = true;
    if (smp_pattern_skip_word(p, "long")) {
        smp_pattern_skip_word(p, "long");
        smp_pattern_skip_word(p, "int");
        *out = shape_of("long long", 8, 1);
        return SMP_PATTERN_FOUND;
    }
    skip_std(p);
    const size_t end = smp_pattern_word_end(p);
    for (const smp_pattern_type *type = smp_pattern_types; type->name; type++)
        if (smp_pattern_is_word(p, p->at, end, type->name)) {
            *out = shape_of(type->name, type->bytes, type->count);
            p->at = end;
            return SMP_PATTERN_FOUND;
        }
    if (sign) {
        *out = shape_of("int", 4, 1);
        return SMP_PATTERN_FOUND;
    }
    p->at = start;
    return SMP_PATTERN_NOT_THERE;
}

smp_pattern_found smp_pattern_read_member(smp_pattern_parser *p, const smp_pattern_shape *shape)
{
    smp_pattern_blanks(p);
    if (p->at >= p->length || p->text[p->at] != '.')
        return SMP_PATTERN_NOT_THERE;
    const size_t start = ++p->at, end = smp_pattern_word_end(p);
    for (int i = 0; i < shape->member_count; i++) {
        const smp_pattern_member *member = &shape->members[i];
        int64_t at = 0;
        if (!smp_pattern_is_word(p, start, end, member->name))
            continue;
        p->at = end;
        if (member->count > 1 && smp_pattern_skip_mark(p, '[')) {
            int node;
            if (!smp_pattern_number(p, ']', &at, &node))
                return SMP_PATTERN_WRONG;
            if (at < 0 || at >= member->count) {
                smp_diags_add(p->diags, SMP_ERROR, p->out->nodes[node].span, "%s has %d elements", member->name,
                              member->count);
                return SMP_PATTERN_WRONG;
            }
        }
        p->out->part_count = 0;
        add_part(p->out, member->offset + (int)at * member->bytes, member->bytes, member->name);
        p->out->width = member->bytes;
        return SMP_PATTERN_FOUND;
    }
    char shown[SMP_SHOWN];
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start - 1, end), "no member '%s' is known",
                                   smp_shown(shown, p->text + start, end - start));
    if (shape->member_count)
        smp_diag_fix(p->diags, diag, "%s has %s to %s", shape->type, shape->members[0].name,
                     shape->members[shape->member_count - 1].name);
    else
        smp_diag_fix(p->diags, diag,
                     "say what the elements are: float4 s[32]; s[tid].x, or struct { float x, y; } s[32]; s[tid].y");
    return SMP_PATTERN_WRONG;
}

/* ------------------------------------------------------------------------------------------------ mistakes */

static size_t type_names(const char *words[SMP_PATTERN_MOST_TYPES])
{
    size_t count = 0;
    for (const smp_pattern_type *type = smp_pattern_types; type->name && count < SMP_PATTERN_MOST_TYPES; type++)
        words[count++] = type->name;
    return count;
}

bool smp_pattern_seems_type(const smp_pattern_parser *p, size_t start, size_t end)
{
    enum { SHORTEST = 3 };
    const char *words[SMP_PATTERN_MOST_TYPES];
    size_t base = end;
    while (base > start && isdigit((unsigned char)p->text[base - 1]))
        base--;
    return base < end && base - start >= SHORTEST &&
           smp_nearest(p->text + start, base - start, words, type_names(words)) != NULL;
}

void smp_pattern_unknown_type(smp_pattern_parser *p, size_t start, size_t end)
{
    const char *words[SMP_PATTERN_MOST_TYPES];
    char shown[SMP_SHOWN];
    const char *near = smp_nearest(p->text + start, end - start, words, type_names(words));
    size_t base = end;
    bool vector = false; /* half8: of a known type */
    while (base > start && isdigit((unsigned char)p->text[base - 1]))
        base--;
    for (const smp_pattern_type *type = smp_pattern_types; type->name && base < end; type++)
        vector = vector || smp_pattern_is_word(p, start, base, type->name);
    smp_shown(shown, p->text + start, end - start);
    smp_diag *diag = smp_diags_add(p->diags, SMP_ERROR, smp_pattern_span(p, start, end), "unknown type '%s'", shown);
    if (vector)
        smp_diag_fix(p->diags, diag, "CUDA has no such type: 1 byte is uint8_t, 4 bytes half2, 16 bytes float4");
    else if (near)
        smp_diag_fix(p->diags, diag, "did you mean '%s'?", near);
    smp_diag_note(
        p->diags, diag,
        "types: char, half, nv_bfloat16, int, float, double, size_t, uint8_t, float2, float4, ... and structs; "
        "an array's name stands directly before its '[': float %s[32][33]",
        near ? "s" : shown);
}
