/* Notes about a file that was read or written with a reservation: what was left out, or how an ambiguity was resolved.
 * A note is one sentence without a full stop; the caller names the file. */
#pragma once

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
