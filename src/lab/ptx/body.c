/* The body of a kernel or function: declarations, labels, source lines, instructions. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/ptx.h"

/* ------------------------------------------------------------------------------------------------ source lines */

/* Headers of a toolkit: what is inlined from there counts for the line that calls it. */
static bool is_toolkit(const ptx_parser *parser, uint32_t file)
{
    const char *name = file < parser->module->file_count ? parser->module->files[file] : NULL;
    return name && strstr(name, "include/") &&
           (strstr(name, "cuda") || strstr(name, "nvidia") || !strncmp(name, "/usr/", 5));
}

/* .loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN] */
void ptx_read_loc(ptx_parser *parser, ptx_text line)
{
    ptx_loc loc = {0};
    char text[256];
    enum { MOST_LEVELS = 32 };
    snprintf(text, sizeof text, "%.*s", (int)(line.size < sizeof text ? line.size : sizeof text - 1), line.at);
    if (sscanf(text, "%u %u %u", &loc.file, &loc.line, &loc.column) < 2)
        return;
    const char *at = strstr(text, "inlined_at");
    if (at && sscanf(at + strlen("inlined_at"), "%u %u %u", &loc.at_file, &loc.at_line, &loc.at_column) < 2)
        loc.at_line = 0;
    loc.file += (uint32_t)parser->first_file;
    loc.at_file += (uint32_t)parser->first_file;
    if (!smp_grow(&parser->locs, &parser->loc_capacity, parser->loc_count + 1, sizeof *parser->locs))
        return;
    parser->locs[parser->loc_count++] = loc;
    uint32_t file = loc.file, row = loc.line;
    size_t found = parser->loc_count;
    for (int level = 0; level < MOST_LEVELS && is_toolkit(parser, file) && loc.at_line; level++) {
        file = loc.at_file;
        row = loc.at_line;
        const ptx_loc call = loc;
        loc.at_line = 0;
        for (size_t i = found; i--;) { /* of one that is inlined into itself, that before */
            const ptx_loc *before = &parser->locs[i];
            if (before->file == call.at_file && before->line == call.at_line && before->column == call.at_column) {
                loc = *before;
                found = i;
                break;
            }
        }
    }
    if (!row)
        return; /* line 0: made by the compiler; the line before goes on */
    parser->file = file;
    parser->source_line = row;
}

/* ------------------------------------------------------------------------------------------------ declarations */

/* .reg .b32 %r<8>, x; */
static void read_registers(ptx_parser *parser, ptx_text text)
{
    ptx_text parts[PTX_OPERANDS];
    char word[24] = "";
    text = ptx_trim(text);
    size_t size = 0;
    while (size < text.size && !isspace((unsigned char)text.at[size]))
        size++;
    if (size > 1 && size < sizeof word)
        snprintf(word, sizeof word, "%.*s", (int)size - 1, text.at + 1);
    const ptx_type type = ptx_type_of(word);
    if (type == PTX_NONE || type == PTX_B128) {
        ptx_refuse(parser, text.at, "registers of type '.%s' are not supported", word);
        if (type == PTX_NONE)
            return;
    }
    const int count = ptx_split((ptx_text){text.at + size, text.size - size}, ',', parts, PTX_OPERANDS);
    for (int i = 0; i < count; i++) {
        const char *open = memchr(parts[i].at, '<', parts[i].size);
        uint64_t number = 0;
        ptx_text name = parts[i];
        if (open) {
            const char *close = memchr(open, '>', parts[i].size - (size_t)(open - parts[i].at));
            name.size = (size_t)(open - parts[i].at);
            if (!close || !ptx_number((ptx_text){open + 1, (size_t)(close - open) - 1}, 4, &number)) {
                ptx_fail(parser, open, "a wrong number of registers");
                return;
            }
        }
        ptx_symbol *s = ptx_declare(parser, name, open ? PTX_RANGE : PTX_REGISTER);
        if (!s)
            return;
        s->type = type;
        s->count = (uint32_t)number;
        if (!open)
            s->row = ptx_new_row(parser, type == PTX_PRED ? 'p' : ptx_size_of(type) == 8 ? 'd' : 'w');
    }
    if (count < 0)
        ptx_refuse(parser, text.at, "too many registers in one declaration");
}

static void read_local_variable(ptx_parser *parser, ptx_text text, warp_space space)
{
    enum { SHARED_ALIGNMENT = 16 };
    warp_code *code = parser->code;
    ptx_declaration d;
    if (!ptx_read_declaration(parser, text, &d))
        return;
    if (space == WARP_SHARED && !code->entry) {
        ptx_refuse(parser, text.at, "a function that is called, not inlined, has shared memory");
        return;
    }
    ptx_symbol *s = ptx_declare(parser, d.name, PTX_VARIABLE);
    if (!s)
        return;
    uint32_t *used = space == WARP_SHARED ? &code->shared_bytes : &code->local_bytes;
    const uint32_t least = space == WARP_SHARED ? SHARED_ALIGNMENT : 1;
    const uint32_t align = d.alignment > least ? d.alignment : least;
    s->space = space;
    s->type = d.type;
    s->in_body = space == WARP_PARAM;
    s->size = d.size;
    s->alignment = align;
    s->offset = *used = (*used + align - 1) / align * align;
    if (*used > (1u << 20) || d.size > (1u << 20)) {
        ptx_refuse(parser, text.at, "'%s' takes more than 1 MiB a thread or block", s->name);
        return;
    }
    *used += d.size;
    if (space == WARP_SHARED &&
        smp_grow(&code->arrays, &code->array_capacity, code->array_count + 1, sizeof *code->arrays)) {
        warp_shared_array *a = &code->arrays[code->array_count++];
        smp_warp_source_name(d.name.at, d.name.size, a->name, sizeof a->name);
        a->offset = (uint32_t)s->offset;
        a->size = d.size;
        a->alignment = d.alignment ? d.alignment : 1;
        a->declared = (uint64_t)(uintptr_t)d.name.at;
    }
}

/* ------------------------------------------------------------------------------------------------ jumps */

/* Labels of the braces that end: jumps inside them find their targets; the others look further out. */
static void resolve_jumps(ptx_parser *parser)
{
    size_t kept = 0;
    for (size_t i = 0; i < parser->jump_count; i++) {
        ptx_jump *jump = &parser->jumps[i];
        ptx_symbol *s = ptx_find(parser, jump->label);
        if (s && s->kind == PTX_LABEL && s->depth == parser->depth && jump->depth >= parser->depth) {
            parser->code->insts[jump->inst].target = s->inst;
            continue;
        }
        if (jump->depth >= parser->depth)
            jump->depth = parser->depth - 1;
        parser->jumps[kept++] = *jump;
    }
    parser->jump_count = kept;
}

static bool read_label(ptx_parser *parser)
{
    size_t i = parser->at;
    while (i < parser->length && (isalnum((unsigned char)parser->text[i]) || strchr("_$%", parser->text[i])))
        i++;
    const ptx_text name = {parser->text + parser->at, i - parser->at};
    while (i < parser->length && isspace((unsigned char)parser->text[i]))
        i++;
    if (!name.size || i + 1 >= parser->length || parser->text[i] != ':' || parser->text[i + 1] == ':')
        return false;
    ptx_symbol *s = ptx_declare(parser, name, PTX_LABEL);
    if (s)
        s->inst = (uint32_t)parser->code->count;
    parser->at = i + 1;
    return true;
}

static void read_directive(ptx_parser *parser)
{
    const char *begin = parser->text + parser->at;
    size_t size = 0;
    while (parser->at + size < parser->length && !isspace((unsigned char)begin[size]))
        size++;
    static const char *const spaces[] = {".reg.", ".shared.", ".local.", ".param."};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) /* .reg.b32 a; as inline assembly has it */
        if (size > strlen(spaces[i]) && !memcmp(begin, spaces[i], strlen(spaces[i])))
            size = strlen(spaces[i]) - 1;
    const ptx_text word = {begin, size};
    parser->at += size;
    if (ptx_is(word, ".loc")) {
        const char *end = memchr(begin, '\n', parser->length - (size_t)(begin - parser->text));
        const size_t all = end ? (size_t)(end - begin) : strlen(begin);
        ptx_read_loc(parser, (ptx_text){begin + size, all - size});
        parser->at = (size_t)(begin - parser->text) + all;
        return;
    }
    const ptx_text rest = ptx_until(parser, ';');
    if (ptx_is(word, ".reg"))
        read_registers(parser, rest);
    else if (ptx_is(word, ".shared"))
        read_local_variable(parser, rest, WARP_SHARED);
    else if (ptx_is(word, ".local"))
        read_local_variable(parser, rest, WARP_LOCAL);
    else if (ptx_is(word, ".param"))
        read_local_variable(parser, rest, WARP_PARAM);
    else if (!ptx_is(word, ".pragma") && !ptx_is(word, ".callprototype") && !ptx_is(word, ".branchtargets"))
        ptx_refuse(parser, begin, "unknown directive '%.*s'", (int)(size < 40 ? size : 40), begin);
}

/* Local memory of a lane is a multiple of what any access needs. */
static void finish(ptx_parser *parser)
{
    enum { LOCAL_ALIGNMENT = 16, SLACK = 256 };
    warp_code *code = parser->code;
    if (smp_grow(&code->insts, &code->capacity, code->count + 1, sizeof *code->insts)) {
        warp_inst *end = &code->insts[code->count++]; /* the end of the text returns */
        memset(end, 0, sizeof *end);
        end->flow = WARP_RETURN;
        end->guard = WARP_NO_ROW;
    }
    code->register_bytes += SLACK; /* an instruction that takes a row for a wider one stays within its warp's */
    ptx_mark_unused(code);
    ptx_mark_tried(code);
    ptx_mark_by_data(code);
    code->local_bytes = (code->local_bytes + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
    if (parser->jump_count)
        ptx_refuse(parser, parser->jumps[0].label.at, "a jump to the unknown label '%.*s'",
                   (int)(parser->jumps[0].label.size < 60 ? parser->jumps[0].label.size : 60),
                   parser->jumps[0].label.at);
}

/* From behind the opening brace to behind the closing one. The parameters are at depth 1, the body at depth 2. */
void ptx_read_body(ptx_parser *parser)
{
    parser->depth++;
    const uint32_t outer = parser->depth;
    for (ptx_skip_blanks(parser); parser->at < parser->length && !parser->failed; ptx_skip_blanks(parser)) {
        const char c = parser->text[parser->at];
        if (c == '{') {
            parser->depth++;
            parser->at++;
        } else if (c == '}') {
            parser->at++;
            resolve_jumps(parser);
            if (parser->depth == outer) {
                finish(parser);
                ptx_leave(parser);
                return;
            }
            ptx_leave(parser);
        } else if (c == '.')
            read_directive(parser);
        else if (!read_label(parser))
            ptx_decode(parser, ptx_trim(ptx_until(parser, ';')));
    }
    if (!parser->failed)
        ptx_fail(parser, parser->text + parser->length - 1, "a '}' is missing");
}
