/* Notes about files: see notes.h. */
#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void smp_note(smp_notes *notes, const char *format, ...)
{
    char text[SMP_NOTE_BYTES];
    va_list args;
    if (!notes)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; i < notes->count; i++)
        if (strcmp(notes->items[i], text) == 0)
            return;
    if (notes->count == SMP_MOST_NOTES)
        notes->more++;
    else
        memcpy(notes->items[notes->count++], text, sizeof text);
}

void smp_notes_add(smp_notes *to, const smp_notes *from)
{
    for (int i = 0; i < from->count; i++)
        smp_note(to, "%s", from->items[i]);
    to->more += from->more;
}
