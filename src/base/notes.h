/* Notes about a file that was read or written with a reservation: what was left out, or how an ambiguity was resolved.
 * A note is one sentence without a full stop; the caller names the file. */
#pragma once

#include <stdint.h>

#include "base/error.h"

enum { SMP_MOST_NOTES = 8, SMP_NOTE_BYTES = 240 };

typedef struct smp_notes {
    int count; /* of items */
    int more;  /* notes that did not fit */
    char items[SMP_MOST_NOTES][SMP_NOTE_BYTES];
} smp_notes;

/* Adds a note; notes may be null. A repeated sentence is kept once. */
void smp_note(smp_notes *notes, const char *format, ...) SMP_PRINTF(2, 3);

void smp_notes_add(smp_notes *to, const smp_notes *from);

/* A list of names for a note: each once, and where there is no room how many others there are. */
enum { SMP_NAMES = 256 /* that are told apart */ };
typedef struct smp_names {
    char text[170];
    int count, others; /* names in all, and those of them that the text has not */
    uint32_t seen[SMP_NAMES];
} smp_names;

void smp_names_add(smp_names *names, const char *name);
const char *smp_names_end(smp_names *names); /* the text, after the last one */
