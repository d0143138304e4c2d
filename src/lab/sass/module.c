/* Modules of SASS: nvdisasm's text, a kernel a section, and the cubin that it is of. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/sass/sass.h"

static sass_text next_line(sass_parser *parser, size_t *at)
{
    const char *begin = parser->text + *at, *end = memchr(begin, '\n', parser->length - *at);
    const size_t size = end ? (size_t)(end - begin) : parser->length - *at;
    *at += size + (end != NULL);
    return (sass_text){begin, size};
}

static const char *find(sass_text text, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.size; i++)
        if (!memcmp(text.at + i, word, size))
            return text.at + i;
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ source lines */

static uint32_t file_of(sass_parser *parser, sass_text name)
{
    struct smp_warp_module *m = parser->module;
    char *plain = warp_file_name(name.at, name.size);
    for (size_t i = 0; plain && i < m->file_count; i++)
        if (!strcmp(plain, m->files[i])) {
            smp_free(plain);
            return (uint32_t)i;
        }
    if (!plain || !smp_grow(&m->files, &m->file_capacity, m->file_count + 1, sizeof *m->files)) {
        smp_free(plain);
        parser->failed = true;
        smp_fail_memory(&parser->error, "names of files", name.size);
        return 0;
    }
    m->files[m->file_count] = plain;
    return (uint32_t)m->file_count++;
}

/* Headers of a toolkit: what is inlined from there counts for the line that calls it. */
static bool is_toolkit(sass_text name)
{
    return find(name, "include/") &&
           (find(name, "cuda") || find(name, "nvidia") || (name.size > 5 && !memcmp(name.at, "/usr/", 5)));
}

/* //## File "a.cu", line 7 inlined at "b.cu", line 9: innermost first, a line each; an instruction ends the chain. */
static void read_place(sass_parser *parser, sass_text text)
{
    const char *open = memchr(text.at, '"', text.size), *end = text.at + text.size;
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    const char *line = close ? find((sass_text){close, (size_t)(end - close)}, "line ") : NULL;
    if (!line)
        return;
    const sass_text name = {open + 1, (size_t)(close - open) - 1};
    const uint32_t number = (uint32_t)strtoul(line + strlen("line "), NULL, 10);
    if (parser->chosen || !number)
        return;
    parser->file = file_of(parser, name);
    parser->source_line = number;
    parser->inherits = false;
    parser->chosen = !is_toolkit(name);
}

/* ------------------------------------------------------------------------------------------------ sections */

static void add_label(sass_parser *parser, sass_text name)
{
    if (!smp_grow(&parser->labels, &parser->label_capacity, parser->label_count + 1, sizeof *parser->labels)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "labels", name.size);
        return;
    }
    parser->labels[parser->label_count++] = (sass_label){name, (uint32_t)parser->line_count};
}

/* `        "/" *0010* /   S2R R0, SR_CTAID.X ;` */
static void add_line(sass_parser *parser, sass_text text, uint32_t text_line)
{
    const char *begin = find(text, "*/"), *end = find(text, ";");
    if (!begin || !end || end < begin)
        return;
    if (!smp_grow(&parser->lines, &parser->line_capacity, parser->line_count + 1, sizeof *parser->lines)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "instructions", text.size);
        return;
    }
    sass_line *line = &parser->lines[parser->line_count++];
    memset(line, 0, sizeof *line);
    line->text_line = text_line;
    line->file = parser->file;
    line->line = parser->source_line;
    parser->inherited += parser->inherits;
    parser->chosen = false;
    if (!sass_cut((sass_text){begin + 2, (size_t)(end - begin) - 2}, line)) {
        line->word_count = 1;
        snprintf(line->words[0], sizeof line->words[0], "?");
        line->count = 0;
    }
}

static bool label_at(const sass_parser *parser, sass_text name, uint32_t *at)
{
    for (size_t i = 0; i < parser->label_count; i++)
        if (parser->labels[i].name.size == name.size && !memcmp(parser->labels[i].name.at, name.at, name.size)) {
            *at = parser->labels[i].at;
            return true;
        }
    return false;
}

static void link_jumps(sass_parser *parser)
{
    warp_code *code = parser->code;
    for (size_t i = 0; i < parser->jump_count; i++) {
        warp_inst *inst = &code->insts[parser->jumps[i].inst];
        if (!label_at(parser, parser->jumps[i].label, &inst->target) || inst->target >= code->count)
            sass_refuse(parser, &parser->lines[parser->jumps[i].inst], "it leads to another function");
        inst->offset = inst->flow == WARP_JUMP_TO ? (int64_t)inst->target * SASS_INST_BYTES : inst->offset;
    }
}

/* A call, from the function that begins at one instruction to the one that begins at another. */
typedef struct call {
    uint32_t at, from, to;
    bool seen;
} call;

/* Functions that are called begin where a call leads. */
static call *find_calls(const sass_parser *parser, size_t *count)
{
    call *calls = smp_alloc_array((size_t)parser->line_count + 1, sizeof *calls);
    *count = 0;
    for (uint32_t i = 0; calls && i < parser->line_count; i++)
        if (!strcmp(parser->lines[i].words[0], "CALL"))
            calls[(*count)++] = (call){.at = i, .to = parser->code->insts[i].target};
    for (size_t i = 0; i < *count; i++)
        for (size_t k = 0; k < *count; k++)
            if (calls[k].to <= calls[i].at && calls[k].to > calls[i].from)
                calls[i].from = calls[k].to;
    return calls;
}

/* Whether calls that were not seen lead from a function to another. */
static bool calls_lead_to(const sass_parser *parser, call *calls, size_t count, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < count; i++) {
        if (calls[i].seen || calls[i].from != from || sass_has(&parser->lines[calls[i].at], "ABS"))
            continue;
        calls[i].seen = true;
        if (calls[i].to == to || calls_lead_to(parser, calls, count, calls[i].to, to))
            return true;
    }
    return false;
}

/* The text does not tell how much stack a function takes that calls itself. */
static void refuse_recursion(sass_parser *parser)
{
    size_t count;
    call *calls = find_calls(parser, &count);
    if (!calls) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "calls", parser->line_count * sizeof *calls);
    }
    for (size_t i = 0; i < count && !parser->code->problem.code; i++) {
        const sass_line *line = &parser->lines[calls[i].at];
        for (size_t k = 0; k < count; k++)
            calls[k].seen = false;
        if (line->count == 1 && line->operands[0].kind == SASS_LABEL &&
            calls_lead_to(parser, calls, count, calls[i].to, calls[i].to))
            sass_refuse(parser, line, "a function that calls itself");
    }
    smp_free(calls);
}

/* Whether it reads what other threads change: a swap or a lock that is tried again, a load that others are ordered by,
 * an mbarrier. */
static bool asks_others(const sass_line *line)
{
    return sass_has(line, "CAS") || sass_has(line, "EXCH") || sass_has(line, "SPIN") || sass_has(line, "PHASECHK") ||
           (line->words[0][0] == 'L' && sass_has(line, "STRONG"));
}

/* The innermost loop around each of them. */
static void mark_waits(sass_parser *parser)
{
    warp_code *code = parser->code;
    for (uint32_t i = 0; i < parser->line_count && i < code->count; i++) {
        uint32_t begin = 0, end = UINT32_MAX;
        if (!asks_others(&parser->lines[i]))
            continue;
        for (uint32_t k = i; k < code->count; k++)
            if (code->insts[k].flow == WARP_JUMP && code->insts[k].target <= i &&
                k - code->insts[k].target < end - begin) {
                begin = code->insts[k].target;
                end = k;
            }
        for (uint32_t k = begin; end < UINT32_MAX && k <= end; k++)
            code->insts[k].repeats = true;
    }
}

/* Threads that run past the text end. */
static void end_code(sass_parser *parser)
{
    warp_code *code = parser->code;
    if (!smp_grow(&code->insts, &code->capacity, code->count + 1, sizeof *code->insts)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "instructions", sizeof *code->insts);
        return;
    }
    memset(&code->insts[code->count], 0, sizeof *code->insts);
    code->insts[code->count].flow = WARP_EXIT;
    code->insts[code->count++].guard = WARP_NO_ROW;
}

/* Makes a kernel of what was read since the section's beginning. */
static void end_section(sass_parser *parser)
{
    struct smp_warp_module *m = parser->module;
    if (!parser->line_count || !parser->section.size || parser->failed)
        return;
    smp_warp_kernel *kernel = smp_alloc(sizeof *kernel);
    if (!kernel || !smp_grow(&m->kernels, &m->kernel_capacity, m->kernel_count + 1, sizeof *m->kernels)) {
        smp_free(kernel);
        parser->failed = true;
        smp_fail_memory(&parser->error, "a kernel", sizeof *kernel);
        return;
    }
    m->kernels[m->kernel_count++] = kernel;
    warp_code *code = parser->code = &kernel->code;
    char name[1024];
    smp_warp_source_name(parser->section.at, parser->section.size, name, sizeof name);
    code->symbol = smp_strndup(parser->section.at, parser->section.size);
    code->name = smp_strdup(name);
    code->entry = true;
    code->counts_only = true;
    code->inherited = parser->inherited;
    code->granule = 4;
    if (!code->symbol || !code->name) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "a kernel", sizeof *kernel);
        return;
    }
    sass_lay_out(parser);
    for (size_t i = 0; i < parser->line_count && !parser->failed; i++)
        sass_decode(parser, &parser->lines[i]);
    if (!parser->failed)
        link_jumps(parser);
    if (!parser->failed)
        mark_waits(parser);
    if (!parser->failed && !parser->code->problem.code)
        refuse_recursion(parser);
    if (!parser->failed)
        end_code(parser);
}

/* Whether the PTX, where there is one, has a kernel of that symbol: linked code has CUDA's own, too. */
static bool is_wanted(const smp_warp_module *ptx, sass_text symbol)
{
    bool wanted = !ptx;
    for (size_t i = 0; !wanted && i < ptx->kernel_count; i++)
        wanted = ptx_is(symbol, ptx->kernels[i]->code.symbol);
    return wanted;
}

static void begin_section(sass_parser *parser, sass_text name)
{
    parser->section = is_wanted(parser->ptx, name) ? name : (sass_text){name.at, 0};
    parser->line_count = parser->label_count = parser->jump_count = 0;
    parser->inherits = parser->source_line != 0; /* nvdisasm names a place again only where it has changed */
    parser->inherited = 0;
    parser->chosen = false;
}

static void read_text(sass_parser *parser)
{
    static const char section[] = ".section\t.text.", target[] = ".target\tsm_";
    uint32_t number = 0;
    for (size_t at = 0; at < parser->length && !parser->failed;) {
        const sass_text line = next_line(parser, &at);
        number++;
        const char *found = find(line, section);
        if (found) {
            end_section(parser);
            const char *name = found + strlen(section), *end = memchr(name, ',', (size_t)(line.at + line.size - name));
            begin_section(parser, (sass_text){name, end ? (size_t)(end - name) : 0});
            continue;
        }
        const char *sm = parser->architecture ? NULL : find(line, target);
        if (sm)
            parser->architecture = (uint32_t)strtoul(sm + strlen(target), NULL, 10);
        if (!line.size || !parser->section.size)
            continue;
        if (find(line, "//## File"))
            read_place(parser, line);
        else if (!isspace((unsigned char)line.at[0]) && line.at[line.size - 1] == ':')
            add_label(parser, (sass_text){line.at, line.size - 1});
        else
            add_line(parser, line, number);
    }
    end_section(parser);
    if (!parser->failed && !parser->module->kernel_count) {
        parser->failed = true;
        smp_fail(&parser->error, SMP_E_DECODE, "there is no kernel in it");
        smp_at(&parser->error, "%s", parser->name);
    }
}

/* Code without any place follows the place of another kernel, too: a kernel has it if its PTX has the line. */
static void settle_places(warp_code *code, const smp_warp_kernel *twin)
{
    const uint32_t line = code->inherited && code->count ? code->insts[0].line : 0;
    bool known = false;
    for (size_t i = 0; twin && line && i < twin->code.count; i++)
        known = known || twin->code.insts[i].line == line;
    for (size_t i = 0; i < code->inherited && i < code->count && !known; i++)
        code->insts[i].line = 0;
}

static int by_declaration(const void *a, const void *b)
{
    const warp_shared_array *x = a, *y = b;
    return x->declared < y->declared ? -1 : x->declared > y->declared;
}

/* Names of arrays in shared memory. ptxas lays them out in the order in which PTX declares them (seen in
 * 50 random kernels), unless it leaves some out. */
static void name_arrays(warp_code *code, const warp_code *twin, uint32_t bytes)
{
    const size_t count = twin->array_count;
    uint32_t end = 0;
    if (!count || !(code->arrays = smp_alloc_array(count, sizeof *code->arrays)))
        return;
    memcpy(code->arrays, twin->arrays, count * sizeof *code->arrays);
    qsort(code->arrays, count, sizeof *code->arrays, by_declaration);
    for (size_t i = 0; i < count; i++) {
        warp_shared_array *a = &code->arrays[i];
        if (!a->size)
            continue;
        a->offset = (end + a->alignment - 1) / a->alignment * a->alignment;
        end = a->offset + a->size;
    }
    code->array_count = count == 1 || end == bytes ? count : 0;
}

/* The shared memory that the code may use, and shapes that the PTX knows better. */
static void settle(sass_parser *parser, const smp_warp_module *ptx)
{
    enum {
        RESERVED = 0x400,
        FIRST = 90,
        PARAM_BASE_100 = 0x380,
        PARAM_BASE_90 = 0x210,
        PARAM_BASE_OLD = 0x160,
        PARAM_BASE_LEAST = 0x140
    };
    for (size_t i = 0; i < parser->module->kernel_count; i++) {
        warp_code *code = &parser->module->kernels[i]->code;
        bool many;
        const smp_warp_kernel *twin = ptx ? smp_warp_kernel_find(ptx, code->symbol, &many) : NULL;
        const bool reserves = parser->architecture >= FIRST && code->shared_bytes >= RESERVED;
        code->architecture = parser->architecture;
        parser->module->kernels[i]->pointers = ptx ? (const warp_pointer *const *)&ptx->pointers : NULL;
        if (twin) {
            memcpy(code->cluster, twin->code.cluster, sizeof code->cluster);
            memcpy(code->block, twin->code.block, sizeof code->block);
            code->most_threads = twin->code.most_threads;
            code->param_bytes = twin->code.param_bytes;
        }
        settle_places(code, twin);
        code->shared_bytes -= reserves ? RESERVED : 0;
        if (twin) {
            name_arrays(code, &twin->code, code->shared_bytes);
            code->shared_bytes = twin->code.shared_bytes;
        }
        if (code->param_base < PARAM_BASE_LEAST)
            code->param_base = parser->architecture >= 100     ? PARAM_BASE_100
                               : parser->architecture >= FIRST ? PARAM_BASE_90
                                                               : PARAM_BASE_OLD;
    }
}

smp_code smp_warp_load_sass(const char *name, const char *text, size_t length, const void *cubin, size_t cubin_size,
                            const smp_warp_module *ptx, smp_warp_memory *memory, smp_warp_module **out, smp_error *err)
{
    smp_error local = {0};
    err = err ? err : &local;
    *out = NULL;
    smp_warp_module *module = smp_alloc(sizeof *module);
    char *copy = smp_strndup(text, length);
    if (!module || !copy) {
        smp_free_all(module, copy);
        return smp_fail_memory(err, "a module", length);
    }
    module->text = copy;
    sass_parser parser = {.name = name, .text = copy, .length = strlen(copy), .module = module, .ptx = ptx};
    read_text(&parser);
    smp_free_all(parser.lines, parser.labels, parser.jumps);
    smp_code code = parser.failed ? parser.error.code : SMP_OK;
    if (code)
        *err = parser.error;
    else if (cubin)
        code = sass_read_cubin(cubin, cubin_size, module, ptx, memory, err);
    if (!code)
        settle(&parser, ptx);
    if (!code && (!warp_number_module(module) || !warp_tell_apart(module)))
        code = smp_fail_memory(err, "instructions", 0);
    if (code)
        smp_warp_module_free(module);
    else
        *out = module;
    return code;
}
