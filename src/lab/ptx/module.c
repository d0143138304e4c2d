/* PTX modules: files, variables, kernels and functions. A text may have several parts, each from one source file, with
 * files and names of its own; what is visible in one is known in all. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/ptx/ptx.h"

void ptx_skip_blanks(ptx_parser *parser)
{
    while (parser->at < parser->length && isspace((unsigned char)parser->text[parser->at]))
        parser->at++;
}

ptx_text ptx_until(ptx_parser *parser, char end)
{
    const size_t begin = parser->at;
    int depth = 0;
    for (; parser->at < parser->length; parser->at++) {
        const char c = parser->text[parser->at];
        if (c == '"') {
            for (parser->at++; parser->at < parser->length && parser->text[parser->at] != '"'; parser->at++)
                ;
            if (parser->at == parser->length)
                break;
            continue;
        }
        if (c == end && !depth) {
            parser->at++;
            return (ptx_text){parser->text + begin, parser->at - 1 - begin};
        }
        depth += strchr("{[(", c) && c ? 1 : strchr("}])", c) && c ? -1 : 0;
    }
    ptx_fail(parser, parser->text + begin, "a '%c' is missing", end);
    return (ptx_text){parser->text + begin, parser->length - begin};
}

static ptx_text next_word(ptx_text *text)
{
    *text = ptx_trim(*text);
    size_t size = 0;
    while (size < text->size && (isalnum((unsigned char)text->at[size]) || strchr("_$%.", text->at[size])))
        size++;
    const ptx_text word = {text->at, size};
    text->at += size;
    text->size -= size;
    return word;
}

/* One word of a declaration, without its dot; `text` stands behind it. */
static bool read_declared(ptx_parser *parser, ptx_text *text, const char *at, const char *word, ptx_declaration *out)
{
    uint64_t number;
    if (!strcmp(word, "align")) {
        if (!ptx_number(next_word(text), 4, &number) || !number || number > 1 << 20)
            return ptx_fail(parser, at, "a wrong alignment"), false;
        out->alignment = (uint32_t)number;
    } else if (!strcmp(word, "attribute")) {
        const char *close = memchr(text->at, ')', text->size);
        if (!close)
            return ptx_fail(parser, at, "an attribute without its end"), false;
        text->size -= (size_t)(close + 1 - text->at);
        text->at = close + 1;
    } else if (!strcmp(word, "ptr") || !strcmp(word, "global") || !strcmp(word, "shared") || !strcmp(word, "const") ||
               !strcmp(word, "local"))
        return true; /* the space that a pointer parameter is said to have */
    else if (!strcmp(word, "v2") || !strcmp(word, "v4") || ptx_type_of(word) == PTX_NONE)
        return ptx_fail(parser, at, "a variable of the unknown type '.%s'", word), false;
    else
        out->type = ptx_type_of(word);
    return true;
}

/* "[4][8]", or "[]" of an array that is as long as is taken of it. */
static bool read_dimensions(ptx_parser *parser, ptx_text text, uint64_t *count, ptx_declaration *out)
{
    uint64_t dimension;
    text = ptx_trim(text);
    while (text.size && text.at[0] == '[') {
        const char *close = memchr(text.at, ']', text.size);
        if (!close)
            return ptx_fail(parser, text.at, "a ']' is missing"), false;
        const ptx_text inner = ptx_trim((ptx_text){text.at + 1, (size_t)(close - text.at) - 1});
        if (!inner.size)
            out->open = true;
        else if (!ptx_number(inner, 4, &dimension) || dimension > UINT32_MAX || *count > UINT32_MAX ||
                 (*count *= dimension) > UINT32_MAX)
            return ptx_fail(parser, text.at, "a wrong array size"), false;
        text.size -= (size_t)(close + 1 - text.at);
        text.at = close + 1;
        text = ptx_trim(text);
    }
    return true;
}

bool ptx_read_declaration(ptx_parser *parser, ptx_text text, ptx_declaration *out)
{
    char word[32];
    const char *begin = text.at;
    memset(out, 0, sizeof *out);
    const char *equals = memchr(text.at, '=', text.size);
    if (equals) {
        out->initial = ptx_trim((ptx_text){equals + 1, text.size - (size_t)(equals + 1 - text.at)});
        text.size = (size_t)(equals - text.at);
    }
    for (;;) {
        const ptx_text w = next_word(&text);
        if (!w.size || w.size >= sizeof word || w.at[0] != '.') {
            out->name = w;
            break;
        }
        snprintf(word, sizeof word, "%.*s", (int)w.size - 1, w.at + 1);
        if (!read_declared(parser, &text, w.at, word, out))
            return false;
    }
    if (!out->name.size || out->type == PTX_NONE)
        return ptx_fail(parser, begin, "a declaration without type or name"), false;
    uint64_t count = 1;
    if (!read_dimensions(parser, text, &count, out))
        return false;
    out->element = ptx_size_of(out->type);
    if (count * out->element > UINT32_MAX / 2)
        return ptx_fail(parser, begin, "an array of more than 2 GiB"), false;
    out->size = out->open ? 0 : (uint32_t)count * out->element;
    if (!out->alignment)
        out->alignment = out->element;
    return true;
}

/* ------------------------------------------------------------------------------------------------ variables */

static uint64_t initial_value(ptx_parser *parser, ptx_text text, uint32_t element)
{
    uint64_t value = 0;
    if (ptx_number(text, element, &value))
        return value;
    if (text.size > 8 && !memcmp(text.at, "generic(", 8)) {
        const char *close = memchr(text.at, ')', text.size);
        text = ptx_trim((ptx_text){text.at + 8, close ? (size_t)(close - text.at) - 8 : 0});
    }
    const ptx_symbol *s = ptx_find(parser, text);
    const size_t pointer = sizeof(uint64_t);
    if (!s && text.size && (isalpha((unsigned char)text.at[0]) || strchr("_$", text.at[0])) && element == pointer)
        return ptx_function_pointer(parser, text);
    if (s && s->undefined)
        ptx_fail(parser, text.at, PTX_UNDEFINED, s->name);
    else if (!s || s->kind != PTX_VARIABLE || s->space == WARP_SHARED) {
        ptx_fail(parser, text.at, "an initial value that is neither a number nor a variable");
        return 0;
    }
    return s->offset;
}

/* The memory of a variable: that of another part's where both are the same. Null: no part defines it, or it has said
 * why. Definitions get theirs before the text is read, so that a part may use those of later ones. */
static char *variable_memory(ptx_parser *parser, const ptx_declaration *d)
{
    struct smp_warp_module *module = parser->module;
    const bool is_extern = parser->linkage == PTX_EXTERN;
    for (size_t i = 0; i < module->variable_count; i++) {
        const warp_variable *v = &module->variables[i];
        if (!(is_extern || v->shared || v->at == d->name.at) || !ptx_is(d->name, v->name))
            continue;
        if (d->size > v->size) {
            ptx_fail(parser, d->name.at, "'%s' is declared elsewhere with %zu bytes", v->name, v->size);
            return NULL;
        }
        return v->memory;
    }
    if (is_extern)
        return NULL;
    char *own = ptx_copy(d->name), *memory = own ? smp_warp_buffer(parser->memory, d->size, own) : NULL;
    if (!memory || !smp_grow(&module->variables, &module->variable_capacity, module->variable_count + 1,
                             sizeof *module->variables)) {
        smp_free(own);
        parser->failed = true;
        smp_fail_memory(&parser->error, "variables", d->size);
        return NULL;
    }
    module->variables[module->variable_count++] =
        (warp_variable){own, memory, d->size, parser->linkage == PTX_WEAK, d->name.at};
    return memory;
}

static void read_variable(ptx_parser *parser, warp_space space)
{
    enum { MOST_VALUES = 1 << 22 };
    const ptx_text text = ptx_until(parser, ';');
    ptx_declaration d;
    if (parser->failed || !ptx_read_declaration(parser, text, &d))
        return;
    ptx_text values = d.initial;
    if (values.size > 1 && values.at[0] == '{')
        values = (ptx_text){values.at + 1, values.size - 2};
    size_t count = values.size ? 1 : 0;
    for (size_t i = 0; i < values.size; i++)
        count += values.at[i] == ',';
    if (d.open && values.size)
        d.size = (uint32_t)(count < MOST_VALUES ? count : MOST_VALUES) * d.element;
    if (parser->looks_ahead) {
        if (space != WARP_SHARED)
            (void)variable_memory(parser, &d);
        return;
    }
    ptx_symbol *s = ptx_declare(parser, d.name, PTX_VARIABLE);
    if (!s)
        return;
    s->space = space;
    s->type = d.type;
    s->size = d.size;
    s->alignment = d.alignment;
    s->offset = (uint64_t)(uintptr_t)d.name.at; /* of shared memory: for the order */
    if (space == WARP_SHARED)
        return;
    char *memory = variable_memory(parser, &d);
    s->offset = (uint64_t)(uintptr_t)memory;
    s->undefined = !memory;
    for (uint32_t at = 0; memory && values.size && at + d.element <= d.size; at += d.element) {
        const char *comma = memchr(values.at, ',', values.size);
        const ptx_text one = ptx_trim((ptx_text){values.at, comma ? (size_t)(comma - values.at) : values.size});
        const uint64_t value = initial_value(parser, one, d.element);
        memcpy(memory + at, &value, d.element);
        values.size -= comma ? (size_t)(comma + 1 - values.at) : values.size;
        values.at = comma ? comma + 1 : values.at;
    }
}

/* ------------------------------------------------------------------------------------------------ functions */

enum { MOST_PARAMETERS = 1 << 20 }; /* bytes of a kernel or function: a GPU takes 32764 */

static bool add_param(ptx_parser *parser, const ptx_declaration *d, uint32_t *used, bool in_body, smp_warp_param **list,
                      size_t *count, size_t *capacity)
{
    ptx_symbol *s = ptx_declare(parser, d->name, PTX_VARIABLE);
    if (!s || !smp_grow(list, capacity, *count + 1, sizeof **list))
        return false;
    s->space = WARP_PARAM;
    s->type = d->type;
    s->in_body = in_body;
    s->size = d->size;
    s->alignment = d->alignment;
    s->offset = *used = (*used + d->alignment - 1) / d->alignment * d->alignment;
    if (*used > MOST_PARAMETERS || d->size > MOST_PARAMETERS) {
        ptx_fail(parser, d->name.at, "'%s' and those before it are more than 1 MiB of parameters", s->name);
        return false;
    }
    *used += d->size;
    smp_warp_param *p = &(*list)[(*count)++];
    memset(p, 0, sizeof *p);
    static const char *const names[] = {"",      "u8",   "u16",    "u32", "u64", "s8",   "s16",
                                        "s32",   "s64",  "b8",     "b16", "b32", "b64",  "f16",
                                        "f16x2", "bf16", "bf16x2", "f32", "f64", "pred", "b128"};
    snprintf(p->type, sizeof p->type, "%s", names[d->type]);
    p->offset = (uint32_t)s->offset;
    p->size = d->size;
    return true;
}

static void read_params(ptx_parser *parser, bool results)
{
    warp_code *code = parser->code;
    ptx_text parts[256];
    parser->at++; /* '(' */
    const ptx_text list = ptx_until(parser, ')');
    const int count = ptx_split(list, ',', parts, 256);
    if (count < 0)
        ptx_fail(parser, list.at, "more than 256 parameters");
    for (int i = 0; i < count && !parser->failed; i++) {
        ptx_declaration d;
        ptx_text text = parts[i];
        if (text.size > 6 && !memcmp(text.at, ".param", 6))
            text = (ptx_text){text.at + 6, text.size - 6};
        else {
            ptx_refuse(parser, text.at, "a function whose parameters are registers is not supported");
            continue;
        }
        if (!ptx_read_declaration(parser, text, &d))
            return;
        if (code->entry)
            add_param(parser, &d, &code->param_bytes, false, &code->params, &code->param_count, &code->param_capacity);
        else if (results)
            add_param(parser, &d, &code->local_bytes, true, &code->results, &code->result_count,
                      &code->result_capacity);
        else
            add_param(parser, &d, &code->local_bytes, true, &code->params, &code->param_count, &code->param_capacity);
    }
}

enum { MOST_FUNCTIONS = 8192 };

/* Null: there is no memory, or there are too many functions. */
static warp_code *new_code(ptx_parser *parser, bool entry)
{
    struct smp_warp_module *module = parser->module;
    if (!entry) {
        warp_function *f = module->function_count < MOST_FUNCTIONS ? smp_alloc(sizeof *f) : NULL;
        if (!f)
            return NULL;
        module->function_count++;
        f->next = module->functions;
        module->functions = f;
        return &f->code;
    }
    struct smp_warp_kernel *kernel = smp_alloc(sizeof *kernel);
    if (!kernel ||
        !smp_grow(&module->kernels, &module->kernel_capacity, module->kernel_count + 1, sizeof *module->kernels)) {
        smp_free(kernel);
        return NULL;
    }
    module->kernels[module->kernel_count++] = kernel;
    kernel->code.architecture = parser->architecture;
    return &kernel->code;
}

/* Bytes from here to a body's '{' or a declaration's ';', which ends a .pragma, too. */
static size_t words_before_body(const ptx_parser *parser)
{
    static const char pragma[] = ".pragma";
    const char *const begin = parser->text + parser->at;
    const char *at = begin, *from;
    do {
        from = at;
        at += strcspn(at, "{;");
    } while (*at == ';' && memmem(from, (size_t)(at - from), pragma, sizeof pragma - 1) && *++at);
    return (size_t)(at - begin);
}

/* .reqnctapercluster 4, 1, 1 among the words before a body. False: it is not there. */
static bool read_shape(const ptx_parser *parser, const char *word, uint32_t shape[3])
{
    const char *at = parser->text + parser->at;
    const char *found = memmem(at, words_before_body(parser), word, strlen(word));
    if (!found)
        return false;
    const int count = sscanf(found + strlen(word), "%u , %u , %u", &shape[0], &shape[1], &shape[2]);
    for (int i = count > 0 ? count : 0; i < 3; i++)
        shape[i] = 1;
    return true;
}

static void read_directives(const ptx_parser *parser, warp_code *code)
{
    uint32_t most[3];
    (void)read_shape(parser, ".reqnctapercluster", code->cluster);
    (void)read_shape(parser, ".reqntid", code->block);
    if (read_shape(parser, ".maxntid", most))
        code->most_threads = warp_block_threads(most);
}

/* Behind a body, or a declaration without one. */
static void skip_function(ptx_parser *parser)
{
    parser->at += words_before_body(parser);
    if (parser->at < parser->length && parser->text[parser->at++] == '{')
        (void)ptx_until(parser, '}');
}

static void read_function(ptx_parser *parser, bool entry)
{
    char name[1024];
    warp_code *code = parser->code = new_code(parser, entry);
    if (!code) {
        parser->failed = true;
        if (parser->module->function_count == MOST_FUNCTIONS)
            smp_fail(&parser->error, SMP_E_LIMIT, "it has more than %d functions", MOST_FUNCTIONS);
        else
            smp_fail_memory(&parser->error, "a kernel", sizeof *code);
        return;
    }
    code->entry = entry;
    code->granule = 4;
    parser->depth = 1;
    parser->mask_row = 0;
    parser->loc_count = parser->jump_count = 0;
    parser->file = parser->source_line = 0;
    ptx_skip_blanks(parser);
    if (parser->length - parser->at > 9 && !memcmp(parser->text + parser->at, ".noreturn", 9)) {
        parser->at += 9;
        ptx_skip_blanks(parser);
    }
    code->name = smp_strdup("?");
    if (parser->at < parser->length && parser->text[parser->at] == '(') {
        read_params(parser, true);
        ptx_skip_blanks(parser);
    }
    ptx_text rest = {parser->text + parser->at, parser->length - parser->at};
    const ptx_text symbol = next_word(&rest);
    parser->at = (size_t)(rest.at - parser->text);
    smp_warp_source_name(symbol.at, symbol.size, name, sizeof name);
    smp_free(code->name);
    code->symbol = ptx_copy(symbol);
    code->name = smp_strdup(name);
    ptx_skip_blanks(parser);
    if (parser->at < parser->length && parser->text[parser->at] == '(')
        read_params(parser, false);
    read_directives(parser, code);
    parser->at += words_before_body(parser);
    if (parser->failed)
        return;
    if (parser->at < parser->length && parser->text[parser->at++] == '{')
        ptx_read_body(parser);
    else
        smp_fail(&code->problem, SMP_E_PROCESS, "'%.200s' is declared and has no body here", name);
    ptx_leave(parser);
    parser->depth = 0;
    parser->code = NULL;
}

/* .file 1 "/home/me/a.cu" */
static void read_file(ptx_parser *parser)
{
    struct smp_warp_module *module = parser->module;
    const char *begin = parser->text + parser->at, *end = memchr(begin, '\n', parser->length - parser->at);
    const size_t size = end ? (size_t)(end - begin) : parser->length - parser->at;
    const char *quote = memchr(begin, '"', size), *close = NULL;
    ptx_text rest = {begin, size};
    uint64_t number;
    parser->at += size;
    if (quote)
        close = memchr(quote + 1, '"', size - (size_t)(quote + 1 - begin));
    if (!close || !ptx_number(next_word(&rest), 4, &number) || number > 1 << 16)
        return;
    number += parser->first_file;
    const size_t had = module->file_capacity;
    if (!smp_grow(&module->files, &module->file_capacity, (size_t)number + 1, sizeof *module->files)) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "file names", size);
        return;
    }
    memset(module->files + had, 0, (module->file_capacity - had) * sizeof *module->files);
    if (module->file_count < number + 1)
        module->file_count = (size_t)number + 1;
    smp_free(module->files[number]);
    module->files[number] = warp_file_name(quote + 1, (size_t)(close - quote) - 1);
}

/* Files are named after the code that they are for: read them first. */
static void read_files(ptx_parser *parser)
{
    const size_t begin = parser->at;
    for (size_t i = begin; i + 6 < parser->length && !parser->failed; i++)
        if (parser->text[i] == '.' && !memcmp(parser->text + i, ".file", 5) &&
            isspace((unsigned char)parser->text[i + 5]) && (!i || isspace((unsigned char)parser->text[i - 1]))) {
            parser->at = i + 5;
            read_file(parser);
        }
    parser->at = begin;
}

static void read_module(ptx_parser *parser)
{
    bool versioned = false;
    for (ptx_skip_blanks(parser); parser->at < parser->length && !parser->failed; ptx_skip_blanks(parser)) {
        const char *begin = parser->text + parser->at;
        ptx_text rest = {begin, parser->length - parser->at};
        const ptx_text word = next_word(&rest);
        parser->at += word.size;
        if (ptx_is(word, ".version") || ptx_is(word, ".target") || ptx_is(word, ".address_size") ||
            ptx_is(word, ".file")) {
            versioned = versioned || ptx_is(word, ".version");
            const char *sm = ptx_is(word, ".target") ? strstr(begin, "sm_") : NULL;
            if (sm && sm < begin + 20)
                parser->architecture = (uint32_t)strtoul(sm + 3, NULL, 10);
            while (parser->at < parser->length && parser->text[parser->at] != '\n')
                parser->at++;
        } else if (ptx_is(word, ".section")) {
            (void)ptx_until(parser, '{');
            parser->at--;
            int depth = 0;
            do {
                depth += parser->text[parser->at] == '{' ? 1 : parser->text[parser->at] == '}' ? -1 : 0;
                parser->at++;
            } while (depth && parser->at < parser->length);
        } else if (ptx_is(word, ".visible") || ptx_is(word, ".weak") || ptx_is(word, ".extern") ||
                   ptx_is(word, ".common")) {
            parser->linkage = ptx_is(word, ".visible") ? PTX_OWN : ptx_is(word, ".extern") ? PTX_EXTERN : PTX_WEAK;
            continue;
        } else if (!versioned)
            ptx_fail(parser, begin, "this is not PTX: it does not begin with .version");
        else if (ptx_is(word, ".global"))
            read_variable(parser, WARP_GLOBAL);
        else if (ptx_is(word, ".const"))
            read_variable(parser, WARP_CONST);
        else if (ptx_is(word, ".shared"))
            read_variable(parser, WARP_SHARED);
        else if (parser->looks_ahead && (ptx_is(word, ".entry") || ptx_is(word, ".func")))
            skip_function(parser);
        else if (ptx_is(word, ".entry") || ptx_is(word, ".func"))
            read_function(parser, ptx_is(word, ".entry"));
        else if (ptx_is(word, ".pragma") || ptx_is(word, ".alias"))
            (void)ptx_until(parser, ';');
        else
            ptx_fail(parser, begin, "unknown directive '%.*s'", (int)(word.size ? word.size : 1), begin);
        parser->linkage = PTX_OWN;
    }
    if (!versioned && !parser->failed)
        ptx_fail(parser, parser->text, "this is not PTX: it does not begin with .version");
}

/* Forgets kernels that a part declares, and another has or none. */
static void drop_declared(struct smp_warp_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < module->kernel_count; i++)
        if (module->kernels[i]->code.count)
            module->kernels[kept++] = module->kernels[i];
        else {
            warp_free_code(&module->kernels[i]->code);
            smp_free(module->kernels[i]);
        }
    module->kernel_count = kept;
}

/* A part begins with .version at the beginning of a line. */
static void read_parts(ptx_parser *parser)
{
    static const char begins[] = "\n.version";
    const size_t length = parser->length;
    do {
        ptx_skip_blanks(parser);
        const char *at = parser->text + parser->at, *next = memmem(at, length - parser->at, begins, strlen(begins));
        parser->length = next ? (size_t)(next + 1 - parser->text) : length;
        parser->first_file = parser->module->file_count;
        if (!parser->looks_ahead)
            read_files(parser);
        read_module(parser);
        while (parser->depth)
            ptx_leave(parser);
        parser->depth = 0;
        for (size_t i = 0; i < PTX_BUCKETS; i++)
            while (parser->buckets[i]) {
                ptx_symbol *s = parser->buckets[i];
                parser->buckets[i] = s->next;
                smp_free_all(s->name, s);
            }
    } while (!parser->failed && (parser->at = parser->length) < length);
    parser->length = length;
}

smp_code smp_warp_load_ptx(const char *name, const char *text, size_t length, smp_warp_memory *memory,
                           smp_warp_module **out, smp_error *err)
{
    *out = NULL;
    ptx_parser *parser = smp_alloc(sizeof *parser);
    smp_warp_module *module = smp_alloc(sizeof *module);
    char *copy = smp_strndup(text, length);
    if (!parser || !module || !copy) {
        smp_free_all(parser, module, copy);
        return smp_fail_memory(err, "a module", length);
    }
    *parser =
        (ptx_parser){.name = name, .text = copy, .length = strlen(copy), .line = 1, .module = module, .memory = memory};
    ptx_blank_comments(copy, parser->length);
    parser->looks_ahead = true;
    read_parts(parser);
    parser->looks_ahead = false;
    parser->at = 0;
    if (!parser->failed)
        read_parts(parser);
    drop_declared(module);
    if (!parser->failed)
        ptx_link_calls(module);
    for (const warp_pointer *p = module->pointers; p && !parser->failed; p = p->next)
        if (!p->code && !p->kernel)
            ptx_fail(parser, p->at, "'%s' is neither a variable nor a function with a body", p->name);
    for (size_t i = 0; i < module->kernel_count; i++)
        module->kernels[i]->pointers = (const warp_pointer *const *)&module->pointers;
    if (!parser->failed && (!warp_number_module(module) || !warp_tell_apart(module))) {
        parser->failed = true;
        smp_fail_memory(&parser->error, "instructions", 0);
    }
    smp_code code = SMP_OK;
    if (parser->failed) {
        code = parser->error.code;
        if (err)
            *err = parser->error;
        smp_warp_module_free(module);
    } else {
        module->text = copy;
        copy = NULL;
        *out = module;
    }
    smp_free_all(parser->locs, parser->jumps, copy, parser);
    return code;
}

warp_code *ptx_function_of(const struct smp_warp_module *module, const char *name)
{
    for (warp_function *f = module->functions; f; f = f->next)
        if (f->code.count && f->code.symbol && !strcmp(f->code.symbol, name))
            return &f->code;
    return NULL;
}
