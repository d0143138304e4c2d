/* Diagnostics in the style of good compilers: all mistakes in one pass, each with its place, a caret and the
 * correction. Collected here and printed by the caller, so that parsing does no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A place in a source text: byte offsets into the text of `source` (an index into smp_diags.sources). */
typedef struct smp_span {
    int source;
    size_t start, length;
} smp_span;

typedef enum smp_severity { SMP_ERROR, SMP_WARNING } smp_severity;

typedef struct smp_diag {
    smp_severity severity;
    smp_span span;
    char *message; /* "unknown parameter 'sigam' for stage 'gaussian'" */
    char *fix;     /* after the caret: "did you mean 'sigma'?"; may be null */
    char *note;    /* "gaussian takes: sigma, edge, truncate"; may be null */
    char *input;   /* the file that it was found with, of many; may be null */
} smp_diag;

typedef struct smp_diag_source {
    char *name; /* file name as the user gave it, or "-e" */
    char *text; /* UTF-8, null-terminated */
    size_t length;
    bool included; /* `from` is the statement that included it */
    smp_span from;
} smp_diag_source;

enum { SMP_MAX_DIAGS = 20 }; /* errors, and as many warnings; one more line then says that there are more */

typedef struct smp_diags {
    smp_diag_source *sources;
    size_t source_count, source_capacity;
    smp_diag *items;
    size_t count, capacity;
    int errors, warnings;               /* all of them, also those past the maximum */
    int stored_errors, stored_warnings; /* of items */
    bool out_of_memory;
    const struct smp_surroundings *around; /* of a pipeline (pipe/program.h); the caller's; may be null */
} smp_diags;

void smp_diags_free(smp_diags *diags);

/* Copies name and text. Returns the index, or -1: out of memory. */
int smp_diags_add_source(smp_diags *diags, const char *name, const char *text, size_t length);

/* *to has copies of the sources alone, so that places of the same texts can be told there. False: out of memory;
 * smp_diags_free frees them in either case. */
bool smp_diags_take_sources(smp_diags *to, const smp_diags *from);

/* Adds a diagnostic. Returns it for smp_diag_fix and smp_diag_note, which accept null; valid until the next call. Null:
 * past the maximum, or the same message for the same place exists. */
smp_diag *smp_diags_add(smp_diags *diags, smp_severity severity, smp_span span, const char *format, ...)
    SMP_PRINTF(4, 5);
void smp_diag_fix(smp_diags *diags, smp_diag *diag, const char *format, ...) SMP_PRINTF(3, 4);
void smp_diag_note(smp_diags *diags, smp_diag *diag, const char *format, ...) SMP_PRINTF(3, 4);

/* Names the file that the diagnostics from index `first` on were found with. */
void smp_diags_found_with(smp_diags *diags, size_t first, const char *input);

/* Sorts the diagnostics from index `first` on by their places; included files come after the including one. */
void smp_diags_sort(smp_diags *diags, size_t first);

/* 1-based line and column (in characters) of a span's start. */
void smp_diags_locate(const smp_diags *diags, smp_span span, int *line, int *column);

/* All of them as text (with ANSI colour if asked) or as JSON lines for editors. From smp_alloc; null: out of memory. */
char *smp_diags_text(const smp_diags *diags, bool color);
char *smp_diags_json(const smp_diags *diags);

/* The word nearest to `word` (length bytes) by edit distance; null: none is close enough for a typing mistake. */
const char *smp_nearest(const char *word, size_t length, const char *const *words, size_t count);
