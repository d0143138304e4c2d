/* Names of kernels with their template arguments and parameters, so that those of one name can be told apart. Of the
 * mangling of the Itanium C++ ABI, what kernels have: literals, plain types, names, pointers and references. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash/hash.h"
#include "lab/machine/machine.h"

/* ------------------------------------------------------------------------------------------------ files */

/* The byte of an escape, \303; nvdisasm writes those behind the first of a character as /244. -1: it is none. */
static int escaped(const char *at, size_t size, bool inside)
{
    if (size < 4 || (at[0] != '\\' && !(inside && at[0] == '/')) || (at[1] & ~1) != '2')
        return -1;
    const int high = at[2] - '0', low = at[3] - '0';
    return (high & ~7) || (low & ~7) ? -1 : (at[1] - '0') << 6 | high << 3 | low;
}

char *warp_file_name(const char *at, size_t size)
{
    char *name = smp_strndup(at, size), *to = name;
    int behind = 0; /* bytes of the character that are still to come */
    for (size_t i = 0; name && i < size; i++) {
        const int byte = escaped(at + i, size - i, behind > 0);
        *to++ = byte < 0 ? at[i] : (char)byte;
        behind = byte < 0 ? 0 : byte < 0xc0 ? behind - 1 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        i += byte < 0 ? 0 : 3;
    }
    if (name)
        *to = '\0';
    return name;
}

/* ------------------------------------------------------------------------------------------------ kernels */

enum { MOST_DEPTH = 16 };

typedef struct reader {
    const char *at;
    char *to;
    size_t size, used;
    int depth;
    bool failed;
} reader;

static void put(reader *r, const char *format, ...) SMP_PRINTF(2, 3);
static void put(reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(r->to + r->used, r->size - r->used, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= r->size - r->used)
        r->failed = true;
    else
        r->used += (size_t)n;
}

static void read_type(reader *r);

/* 5scale */
static void read_word(reader *r)
{
    size_t letters = 0;
    while (isdigit((unsigned char)*r->at) && letters < r->size)
        letters = letters * 10 + (size_t)(*r->at++ - '0');
    if (!letters || strlen(r->at) < letters) {
        r->failed = true;
        return;
    }
    put(r, "%.*s", (int)letters, r->at);
    r->at += letters;
}

/* Li32E, Lb1E, Lin4E */
static void read_literal(reader *r)
{
    const size_t before = r->used;
    const bool truth = *r->at == 'b';
    read_type(r);
    r->used = before; /* the value tells enough */
    const size_t digits = strcspn(r->at, "E");
    if (!r->at[digits] || strchr("fd_", r->at[0])) {
        r->failed = true;
        return;
    }
    if (truth)
        put(r, "%s", *r->at == '1' ? "true" : "false");
    else
        put(r, "%s%.*s", *r->at == 'n' ? "-" : "", (int)(digits - (*r->at == 'n')), r->at + (*r->at == 'n'));
    r->at += digits + 1;
}

/* I...E, and packs of arguments, J...E */
static void read_arguments(reader *r, bool pack)
{
    if (!pack)
        put(r, "<");
    for (bool first = true; *r->at != 'E' && !r->failed; first = false) {
        if (!first)
            put(r, ",");
        read_type(r);
    }
    r->at += *r->at == 'E';
    if (!pack)
        put(r, ">");
}

/* 4name, or N2ns4nameE, each with arguments. */
static void read_name(reader *r)
{
    const bool nested = *r->at == 'N';
    r->at += nested;
    r->at += strspn(r->at, "LKV");
    for (bool first = true; !r->failed; first = false) {
        if (!first)
            put(r, "::");
        read_word(r);
        if (*r->at == 'I') {
            r->at++;
            read_arguments(r, false);
        }
        if (!nested)
            return;
        if (*r->at == 'E') {
            r->at++;
            return;
        }
    }
}

static void read_type(reader *r)
{
    static const char letters[] = "vbcahstijlmxyfd";
    static const char *const names[] = {
        "void",     "bool", "char",          "signed char", "unsigned char",      "short", "unsigned short", "int",
        "unsigned", "long", "unsigned long", "long long",   "unsigned long long", "float", "double"};
    static const struct {
        char letter;
        const char *before, *behind;
    } around[] = {{'P', "", "*"}, {'R', "", "&"}, {'O', "", "&&"}, {'K', "const ", ""}, {'V', "volatile ", ""}};
    const char c = *r->at;
    if (++r->depth > MOST_DEPTH || !c)
        r->failed = true;
    if (!r->failed && (isdigit((unsigned char)c) || c == 'N'))
        read_name(r);
    else if (!r->failed) {
        const char *found = strchr(letters, c);
        r->at++;
        r->failed = true;
        for (size_t i = 0; i < sizeof around / sizeof around[0]; i++)
            if (around[i].letter == c) {
                r->failed = false;
                put(r, "%s", around[i].before);
                if (!r->failed)
                    read_type(r);
                put(r, "%s", around[i].behind);
            }
        if (found || c == 'L' || c == 'J')
            r->failed = false;
        if (found)
            put(r, "%s", names[found - letters]);
        else if (c == 'L')
            read_literal(r);
        else if (c == 'J')
            read_arguments(r, true);
    }
    r->depth--;
}

bool smp_warp_full_name(const char *symbol, bool params, char *name, size_t size)
{
    reader r = {.at = symbol + 2, .to = name, .size = size};
    if (strncmp(symbol, "_Z", 2) != 0 || !size)
        return false;
    const bool nested = *r.at == 'N';
    r.at += nested;
    r.at += strspn(r.at, "LKV");
    bool template = false;
    do {
        r.used = 0; /* namespaces are left out */
        read_word(&r);
        template = !r.failed && *r.at == 'I';
        if (template) {
            r.at++;
            read_arguments(&r, false);
        }
    } while (nested && !r.failed && isdigit((unsigned char)*r.at));
    r.failed = r.failed || (nested && *r.at++ != 'E');
    if (params && !r.failed) {
        char *const to = r.to;
        const size_t used = r.used;
        char result[64];
        if (template) { /* its result stands first: void */
            r.to = result, r.size = sizeof result, r.used = 0;
            read_type(&r);
            r.to = to, r.size = size, r.used = used;
        }
        put(&r, "(");
        for (bool first = true; *r.at && !r.failed && strcmp(r.at, "v") != 0; first = false) {
            if (!first)
                put(&r, ",");
            read_type(&r);
        }
        put(&r, ")");
    }
    return !r.failed;
}

size_t smp_warp_name_span(const char *names)
{
    size_t at = 0;
    for (int depth = 0; names[at] && (names[at] != ',' || depth > 0); at++)
        depth += (names[at] == '<' || names[at] == '(') - (names[at] == '>' || names[at] == ')');
    return at;
}

/* ------------------------------------------------------------------------------------------------ a module */

static bool shares_name(const smp_warp_module *module, size_t of)
{
    for (size_t i = 0; i < module->kernel_count; i++)
        if (i != of && !strcmp(module->kernels[i]->code.name, module->kernels[of]->code.name))
            return true;
    return false;
}

/* "scan#3f09ac": where arguments cannot be read, kernels of one name are told apart by their symbols. */
static char *name_by_symbol(const warp_code *code)
{
    return smp_asprintf("%s#%06x", code->name, (unsigned)(smp_hash_name(code->symbol) >> 40));
}

bool warp_tell_apart(smp_warp_module *module)
{
    enum { ARGUMENTS, PARAMS, SYMBOL, STEPS };
    enum { MOST_NAME = 4096 }; /* of templates of templates */
    bool *shared = smp_alloc_array(module->kernel_count + 1, sizeof *shared);
    bool fits = shared != NULL;
    for (int step = 0; step < STEPS && fits; step++) {
        for (size_t i = 0; i < module->kernel_count; i++)
            shared[i] = shares_name(module, i);
        for (size_t i = 0; i < module->kernel_count && fits; i++) {
            char name[MOST_NAME];
            warp_code *code = &module->kernels[i]->code;
            if (!shared[i] || (step != SYMBOL && !smp_warp_full_name(code->symbol, step == PARAMS, name, sizeof name)))
                continue;
            char *own = step == SYMBOL ? name_by_symbol(code) : smp_strdup(name);
            fits = own != NULL;
            if (own) {
                smp_free(code->name);
                code->name = own;
            }
        }
    }
    smp_free(shared);
    return fits;
}
