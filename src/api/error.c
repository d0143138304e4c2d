/* Errors of the library: one object with all mistakes, their places, and the text that the command would print. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/alloc.h"

struct smempipe_error {
    smempipe_code code;
    char *text;
    smempipe_problem *problems; /* their texts are ours */
    size_t count;
};

/* Returned if there is no memory for an error. */
static smempipe_problem no_memory_problem = {.message = "out of memory"};
static smempipe_error no_memory = {SMEMPIPE_E_MEMORY, (char *)(uintptr_t) "error: out of memory\n", &no_memory_problem,
                                   1};

static smempipe_code public_code(smp_code code)
{
    switch (code) {
    case SMP_OK:
        return SMEMPIPE_OK;
    case SMP_E_MEMORY:
        return SMEMPIPE_E_MEMORY;
    case SMP_E_USAGE:
        return SMEMPIPE_E_ARGUMENT;
    case SMP_E_PIPE:
        return SMEMPIPE_E_PIPELINE;
    case SMP_E_READ:
        return SMEMPIPE_E_READ;
    case SMP_E_DECODE:
    case SMP_E_KILLED:
        return SMEMPIPE_E_DECODE;
    case SMP_E_WRITE:
    case SMP_E_ENCODE:
        return SMEMPIPE_E_WRITE;
    case SMP_E_DEVICE:
        return SMEMPIPE_E_DEVICE;
    case SMP_E_DEVICE_MEMORY:
        return SMEMPIPE_E_DEVICE_MEMORY;
    case SMP_E_LIMIT:
        return SMEMPIPE_E_LIMIT;
    case SMP_E_INTERRUPTED:
    case SMP_E_TERMINATED:
        return SMEMPIPE_E_STOPPED;
    case SMP_E_PROCESS:
    case SMP_E_DIFFERENT:
        break;
    }
    return SMEMPIPE_E_PROCESS;
}

/* Hints name the command's options; here they are fields, parameters of functions, or nothing. */
static const struct {
    const char *option, *here;
} words[] = {
    {"; --raw s16lex2:44100 reads samples without a header", ""},
    {", or read what there is of it with --no-verify", ""},
    {", or read it all the same with --no-verify", ""},
    {"--max-pixels", "max_pixels"},
    {"--max-file", "max_file"},
    {"--force", "force=1"},
    {"--page", "page"},
    {"--quality", "quality"},
    {"--lossless", "lossless"},
    {"--threads", "threads"},
    {"--device", "the device"},
};

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || c == '-';
}

/* In the words of the library. What is too long to be said is cut. */
static void translate(const smp_error *err, char *to, size_t size)
{
    size_t used = 0;
    const char *hint = err->hint;
    for (const char *at = hint; *at && used + 1 < size;) {
        size_t i = 0, count = sizeof words / sizeof *words, length = 1;
        for (; i < count; i++) {
            length = strlen(words[i].option);
            const bool begins = at == hint || !in_word(words[i].option[0]) || !in_word(at[-1]);
            if (begins && !strncmp(at, words[i].option, length) && !in_word(at[length]))
                break;
        }
        if (i == count) {
            to[used++] = *at++;
            continue;
        }
        at += length;
        for (const char *word = words[i].here; *word && used + 1 < size; word++)
            to[used++] = *word;
    }
    to[used] = '\0';
}

static const char *copy(const char *text, bool *failed)
{
    char *made = text ? smp_strdup(text) : NULL;
    *failed |= text && !made;
    return made;
}

/* "file:3:14" as three things; a place that is a path alone has no numbers. */
static void split_place(const char *where, smempipe_problem *to, bool *failed)
{
    size_t length = strlen(where);
    int numbers[2] = {0, 0}, found = 0;
    while (found < 2) {
        size_t at = length;
        while (at > 0 && where[at - 1] >= '0' && where[at - 1] <= '9')
            at--;
        if (at == length || at == 0 || where[at - 1] != ':')
            break;
        numbers[found++] = atoi(where + at);
        length = at - 1;
    }
    char *file = length ? smp_strndup(where, found == 2 ? length : strlen(where)) : NULL;
    *failed |= length && !file;
    to->file = file;
    to->line = found == 2 ? numbers[1] : 0;
    to->column = found == 2 ? numbers[0] : 0;
}

static void from_diag(const smp_diags *diags, const smp_diag *diag, smempipe_problem *to, bool *failed)
{
    const int source = diag->span.source;
    to->message = copy(diag->message, failed);
    to->hint = copy(diag->fix, failed);
    to->note = copy(diag->note, failed);
    to->warning = diag->severity == SMP_WARNING;
    if (source >= 0 && (size_t)source < diags->source_count) {
        to->file = copy(diags->sources[source].name, failed);
        smp_diags_locate(diags, diag->span, &to->line, &to->column);
    }
}

/* As the command says it, without its name. */
static char *plain_text(const smp_error *err, const char *hint)
{
    return smp_asprintf("%s%serror: %s\n%s%s%s", err->where, err->where[0] ? ": " : "", err->message,
                        hint[0] ? "  = hint: " : "", hint, hint[0] ? "\n" : "");
}

smempipe_code smp_api_fail(smempipe_error **out, const smp_error *err, const smp_diags *diags)
{
    const smempipe_code code = public_code(err->code);
    if (out)
        *out = NULL;
    if (!out || !code)
        return code;
    const bool many = diags && diags->errors && diags->count && err->code == SMP_E_PIPE; /* else: why it stopped */
    bool failed = false;
    char hint[sizeof err->hint + 32]; /* a word or two may be longer here */
    translate(err, hint, sizeof hint);
    smempipe_error *made = *out = smp_alloc(sizeof *made);
    if (made) {
        made->count = many ? diags->count : 1;
        made->problems = smp_alloc_array(made->count, sizeof *made->problems);
        made->text = many ? smp_diags_text(diags, false) : plain_text(err, hint);
    }
    if (!made || !made->problems || !made->text) {
        smempipe_error_free(made);
        *out = &no_memory;
        return code;
    }
    made->code = code;
    for (size_t i = 0; many && i < made->count; i++)
        from_diag(diags, &diags->items[i], &made->problems[i], &failed);
    if (!many) {
        made->problems[0].message = copy(err->message, &failed);
        made->problems[0].hint = hint[0] ? copy(hint, &failed) : NULL;
        split_place(err->where, &made->problems[0], &failed);
    }
    if (failed) {
        smempipe_error_free(made);
        *out = &no_memory;
    }
    return code;
}

smempipe_code smp_api_wrong(smempipe_error **out, const char *format, ...)
{
    smp_error err = {.code = SMP_E_USAGE};
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    return smp_api_fail(out, &err, NULL);
}

smempipe_code smempipe_error_code(const smempipe_error *error)
{
    return error ? error->code : SMEMPIPE_OK;
}

const char *smempipe_error_text(const smempipe_error *error)
{
    return error ? error->text : "";
}

size_t smempipe_error_count(const smempipe_error *error)
{
    return error ? error->count : 0;
}

smempipe_code smempipe_error_get(const smempipe_error *error, size_t index, smempipe_problem *problem)
{
    if (!problem)
        return SMEMPIPE_E_ARGUMENT;
    *problem = (smempipe_problem){.message = NULL};
    if (!error || index >= error->count)
        return SMEMPIPE_E_ARGUMENT;
    *problem = error->problems[index];
    return SMEMPIPE_OK;
}

void smempipe_error_free(smempipe_error *error)
{
    if (!error || error == &no_memory)
        return;
    for (size_t i = 0; error->problems && i < error->count; i++) {
        smp_free_all((void *)(uintptr_t)error->problems[i].message, (void *)(uintptr_t)error->problems[i].hint,
                     (void *)(uintptr_t)error->problems[i].note, (void *)(uintptr_t)error->problems[i].file);
    }
    smp_free_all(error->problems, error->text, error);
}
