/* See nvcc_flags.h. */
#include "lab/stage/nvcc_flags.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/each.h"
#include "base/paths.h"

enum { MOST_FLAGS = 200 };

/* What becomes of a flag, and which value it has. */
typedef enum flag_kind {
    PASSED,  /* nvcc gets the word as it is */
    DROPPED, /* what it asks for is so already, or changes nothing here */
    REFUSED,
    /* with a value */
    BOOLEAN,
    STANDARD,
    ARCHITECTURE,
    DEFINE,
    INCLUDE,
    FOLDER,
    LIBRARY,
    REGISTERS,
    RELOCATABLE,
    OF_PTXAS,
    OF_COMPILER,
    DROPPED_VALUE
} flag_kind;

typedef struct row {
    const char *name;
    flag_kind kind;
} row;

#define FLAG(kind, name) {name, kind},
/* clang-format off */
static const row rows[] = {
    SMP_EACH(FLAG, PASSED, "-use_fast_math", "-extended-lambda", "-expt-extended-lambda", "-expt-relaxed-constexpr",
             "-O0", "-O1", "-O2", "-O3")
    SMP_EACH(FLAG, DROPPED, "-lineinfo", "-g", "-w", "-Wno-deprecated-gpu-targets")
    SMP_EACH(FLAG, DROPPED_VALUE, "-threads", "-cudart")
    SMP_EACH(FLAG, BOOLEAN, "-ftz", "-prec-div", "-prec-sqrt", "-fmad")
    SMP_EACH(FLAG, STANDARD, "-std")
    SMP_EACH(FLAG, ARCHITECTURE, "-arch", "-gpu-architecture", "-gencode")
    SMP_EACH(FLAG, INCLUDE, "-isystem")
    SMP_EACH(FLAG, REGISTERS, "-maxrregcount")
    SMP_EACH(FLAG, RELOCATABLE, "-rdc", "-relocatable-device-code")
    SMP_EACH(FLAG, OF_PTXAS, "-Xptxas", "-ptxas-options")
    SMP_EACH(FLAG, OF_COMPILER, "-Xcompiler", "-compiler-options")
    SMP_EACH(FLAG, REFUSED, "-ccbin", "-compiler-bindir", "-Xlinker", "-Xcudafe", "-options-file", "-keep", "-dlink",
             "-dlto", "-ptx")
};
/* clang-format on */

/* Letters that their value may follow at once: -DN=4 */
static const row letters[] = {{"-D", DEFINE}, {"-I", INCLUDE}, {"-L", FOLDER}, {"-l", LIBRARY}};

/* Libraries that libsmp_cudart is, as far as it is, with NVRTC, which is linked behind it where it is used, and those
 * that nvcc links by itself. */
static const char *const own[] = {"cublas", "cublasLt", "curand", "cuda", "nvrtc", NULL};
static const char *const of_nvcc[] = {"cudart", "cudart_static", "cudadevrt", NULL};
static const char *const of_gpus[] = {"cufft", "cufftw", "cusparse", "cusolver", "cutensor", "cudnn",
                                      "nccl",  "nppc",   "nppial",   "nppif",    "nvjpeg",   "cupti", NULL};

static bool is_among(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words;
}

bool smp_nvcc_stands_in(const char *library)
{
    return is_among(library, own);
}

bool smp_nvcc_needs_gpu(const char *library)
{
    return is_among(library, of_gpus);
}

/* ------------------------------------------------------------------------------------------------ lists */

smp_code smp_flag_list_add(smp_flag_list *list, const char *text, size_t size, smp_error *err)
{
    if (list->count >= MOST_FLAGS)
        return smp_fail(err, SMP_E_LIMIT, "there are more than %d flags for the compiler", MOST_FLAGS);
    SMP_NEED(smp_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items) &&
                 (list->items[list->count] = smp_strndup(text, size)),
             "flags", size, err);
    list->count++;
    return SMP_OK;
}

static smp_code add(smp_flag_list *list, const char *text, smp_error *err)
{
    return smp_flag_list_add(list, text, strlen(text), err);
}

void smp_nvcc_flags_free(smp_nvcc_flags *flags)
{
    smp_flag_list *const lists[] = {&flags->words, &flags->defines,   &flags->includes,
                                    &flags->ptxas, &flags->libraries, &flags->folders};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (size_t k = 0; k < lists[i]->count; k++)
            smp_free(lists[i]->items[k]);
        smp_free(lists[i]->items);
    }
    smp_free(flags->arch);
    *flags = (smp_nvcc_flags){.linked = false};
}

/* ------------------------------------------------------------------------------------------------ one flag */

/* The row of a word; *value: behind its name, or null where the next word is the value. "-lineinfo" is no library. */
static const row *row_of(const char *word, const char **value)
{
    *value = NULL;
    const char *name = word + (word[0] == '-' && word[1] == '-');
    const size_t size = strcspn(name, "=");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].name) == size && !memcmp(name, rows[i].name, size)) {
            *value = name[size] ? name + size + 1 : NULL;
            return &rows[i];
        }
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (!strncmp(word, letters[i].name, 2)) {
            *value = word[2] ? word + 2 : NULL;
            return &letters[i];
        }
    return NULL;
}

smp_code smp_nvcc_refuse(const char *word, smp_error *err)
{
    smp_fail(err, SMP_E_USAGE, "'%.80s' is not a flag that the lab gives nvcc", word);
    return smp_hint(err, "-I -D -std -arch -O3 -rdc -maxrregcount -use_fast_math -fmad -Xptxas -Xcompiler -l "
                         "-L; the program's own arguments stand behind a second --");
}

/* A list as -Xptxas and -Xcompiler have it: "-v,-dlcm=cg". Words that name files or programs are none of those known.
 */
static smp_code read_list(bool of_ptxas, const char *value, smp_nvcc_flags *flags, smp_error *err)
{
    static const char *const ptxas[] = {"-v", "-O0", "-O1", "-O2", "-O3", "-dlcm=ca", "-dlcm=cg", NULL};
    static const char *const compiler[] = {"-O0",   "-O1",      "-O2",      "-O3",         "-g",
                                           "-fPIC", "-fopenmp", "-pthread", "-ffast-math", NULL};
    smp_code code = SMP_OK;
    for (const char *at = value; !code && *at;) {
        const size_t size = strcspn(at, ",");
        char word[80];
        const int head = snprintf(word, sizeof word, "%s", of_ptxas ? "" : "-Xcompiler=");
        snprintf(word + head, sizeof word - (size_t)head, "%.*s", (int)size, at);
        /* -Wl, -Wa and -Wp hand words on */
        const bool warns = !of_ptxas && !strncmp(at, "-W", 2) && size > 3 && size < sizeof word - 16 &&
                           strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-") == size - 2;
        if (!warns && !is_among(word + head, of_ptxas ? ptxas : compiler))
            return smp_nvcc_refuse(at, err);
        code = add(of_ptxas ? &flags->ptxas : &flags->words, word, err);
        at += size + (at[size] == ',');
    }
    return code;
}

/* The newest of those that are named: "arch=compute_80,code=sm_80". "native" and "all" name none. */
static smp_code read_arch(const char *value, smp_nvcc_flags *flags, smp_error *err)
{
    for (const char *at = value; (at = strchr(at, '_'));) {
        const size_t digits = strspn(++at, "0123456789"), size = digits + (at[digits] == 'a' || at[digits] == 'f');
        const int had = flags->arch ? atoi(flags->arch + 3) : 0;
        if (digits < 2 || digits > 3 || atoi(at) < had || (atoi(at) == had && size == digits)) /* 90a is more than 90 */
            continue;
        smp_free(flags->arch);
        SMP_NEED(flags->arch = smp_asprintf("sm_%.*s", (int)size, at), "flags", size, err);
    }
    return SMP_OK;
}

static bool is_name(const char *text, const char *more)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_' || (*text && strchr(more, *text)))
        text++;
    return !*text;
}

static bool is_arch(const char *value)
{
#define ARCHS "(arch=|code=)?\\[?(sm|compute|lto)_[0-9]{2,3}[af]?\\]?"
    regex_t words;
    if (regcomp(&words, "^(" ARCHS "(," ARCHS ")*|native|all|all-major)$", REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool is = !regexec(&words, value, 0, NULL, 0);
    regfree(&words);
    return is;
}

static bool fits(flag_kind kind, const char *value)
{
    if (kind == ARCHITECTURE)
        return is_arch(value);
    if (kind == BOOLEAN || kind == RELOCATABLE)
        return !strcmp(value, "true") || !strcmp(value, "false");
    if (kind == REGISTERS)
        return *value && strspn(value, "0123456789") == strlen(value);
    if (kind == LIBRARY || kind == STANDARD)
        return is_name(value, "-+.");
    return kind == DEFINE ? isalpha((unsigned char)*value) || *value == '_' : *value;
}

static smp_code read_value(const row *r, const char *value, smp_nvcc_flags *flags, smp_error *err)
{
    char word[80];
    snprintf(word, sizeof word, "%s=%.40s", r->name, value);
    if ((r->kind == INCLUDE || r->kind == FOLDER) && !smp_is_folder(value))
        return smp_fail(err, SMP_E_USAGE, "%s %s is not a folder", r->name, value);
    switch (r->kind) {
    case ARCHITECTURE:
        return read_arch(value, flags, err);
    case OF_PTXAS:
    case OF_COMPILER:
        return read_list(r->kind == OF_PTXAS, value, flags, err);
    case BOOLEAN:
    case STANDARD: /* behind the one that the lab gives */
        return add(&flags->words, word, err);
    case REGISTERS:
        return add(&flags->ptxas, word, err);
    case RELOCATABLE:
        flags->linked = !strcmp(value, "true");
        return SMP_OK;
    case LIBRARY:
        return is_among(value, of_nvcc) ? SMP_OK : add(&flags->libraries, value, err);
    default:
        return r->kind == DROPPED_VALUE ? SMP_OK
                                        : add(r->kind == DEFINE    ? &flags->defines
                                              : r->kind == INCLUDE ? &flags->includes
                                                                   : &flags->folders,
                                              value, err);
    }
}

bool smp_nvcc_is_flag(const char *word)
{
    const char *value;
    const row *r = row_of(word, &value);
    if (!r || r->kind == DROPPED_VALUE || !strcmp(word, "-g") || !strcmp(word, "-w")) /* programs have these */
        return false;
    return !value || r->kind < BOOLEAN || r->kind == ARCHITECTURE || fits(r->kind, value);
}

bool smp_nvcc_has(const char *word)
{
    static const char *const others[] = {"-include", "-G",      "-dc",      "-Xnvlink", "-save-temps",
                                         "-Wall",    "-Werror", "-fopenmp", "-fPIC",    NULL};
    return is_among(word + (word[0] == '-' && word[1] == '-'), others);
}

smp_code smp_nvcc_flags_read(const char *const *words, size_t count, smp_nvcc_flags *flags, smp_error *err)
{
    smp_code code = SMP_OK;
    for (size_t i = 0; i < count && !code; i++) {
        const char *value;
        const row *r = row_of(words[i], &value);
        if (!r || r->kind == REFUSED || (r->kind < BOOLEAN && value))
            return smp_nvcc_refuse(words[i], err);
        if (r->kind == PASSED)
            code = add(&flags->words, words[i], err);
        else if (r->kind == DROPPED)
            continue;
        else if (!value && i + 1 == count) {
            smp_fail(err, SMP_E_USAGE, "%s has no value", words[i]);
            code = smp_hint(err, "it is a flag of nvcc; the program's own arguments stand behind a second --");
        } else {
            const char *given = value ? value : words[++i];
            if (!fits(r->kind, given)) {
                smp_fail(err, SMP_E_USAGE, "%s %.40s is not valid for nvcc", r->name, given);
                code = smp_hint(err, "the program's own arguments stand behind a second --");
            } else
                code = read_value(r, given, flags, err);
        }
    }
    return code;
}
