/* Names of PTX: registers, variables and labels in nested braces. */
#include <ctype.h>

#include "base/alloc.h"
#include "lab/ptx/ptx.h"

static uint32_t bucket_of(ptx_text name)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * 16777619u;
    return hash % PTX_BUCKETS;
}

static ptx_symbol *find_exact(ptx_parser *parser, ptx_text name)
{
    for (ptx_symbol *s = parser->buckets[bucket_of(name)]; s; s = s->next)
        if (ptx_is(name, s->name))
            return s;
    return NULL;
}

ptx_symbol *ptx_declare(ptx_parser *parser, ptx_text name, ptx_symbol_kind kind)
{
    ptx_symbol *s = smp_alloc(sizeof *s), **bucket = &parser->buckets[bucket_of(name)];
    char *copy = ptx_copy(name);
    if (!s || !copy) {
        smp_free_all(s, copy);
        parser->failed = true;
        smp_fail_memory(&parser->error, "names", name.size);
        return NULL;
    }
    s->name = copy;
    s->depth = parser->depth;
    s->kind = kind;
    s->next = *bucket;
    *bucket = s;
    return s;
}

uint32_t ptx_new_row(ptx_parser *parser, char row_class)
{
    enum { WORD_ROW = 128, LONG_ROW = 256, MASK = 4 }; /* bytes; predicates share rows */
    warp_code *code = parser->code;
    const uint32_t row = code->register_bytes;
    if (row_class != 'p') {
        code->register_bytes += row_class == 'd' ? LONG_ROW : WORD_ROW;
        return row;
    }
    if (parser->mask_row % WORD_ROW == 0) {
        parser->mask_row = row;
        code->register_bytes += WORD_ROW;
    }
    const uint32_t mask = parser->mask_row;
    parser->mask_row += MASK;
    return mask;
}

/* %r12 of .reg .b32 %r<20> */
static ptx_symbol *find_in_range(ptx_parser *parser, ptx_text name)
{
    size_t digits = name.size;
    uint64_t number = 0;
    while (digits && isdigit((unsigned char)name.at[digits - 1]))
        digits--;
    if (digits == name.size || name.size - digits > 9)
        return NULL;
    for (size_t i = digits; i < name.size; i++)
        number = number * 10 + (uint64_t)(name.at[i] - '0');
    ptx_symbol *range = find_exact(parser, (ptx_text){name.at, digits});
    if (!range || range->kind != PTX_RANGE || number >= range->count)
        return NULL;
    const ptx_type type = range->type;
    const uint32_t depth = range->depth;
    ptx_symbol *s = ptx_declare(parser, name, PTX_REGISTER);
    if (s) {
        s->depth = depth;
        s->type = type;
        s->row = ptx_new_row(parser, type == PTX_PRED ? 'p' : ptx_size_of(type) == 8 ? 'd' : 'w');
    }
    return s;
}

ptx_symbol *ptx_find(ptx_parser *parser, ptx_text name)
{
    ptx_symbol *s = find_exact(parser, name);
    return s ? s : find_in_range(parser, name);
}

void ptx_leave(ptx_parser *parser)
{
    for (size_t i = 0; i < PTX_BUCKETS; i++)
        for (ptx_symbol **at = &parser->buckets[i]; *at;) {
            ptx_symbol *s = *at;
            if (s->depth >= parser->depth) {
                *at = s->next;
                smp_free_all(s->name, s);
            } else
                at = &s->next;
        }
    parser->depth--;
}
