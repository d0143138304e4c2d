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

void smp_names_add(smp_names *names, const char *name)
{
    enum { OTHERS = 20 /* bytes of how many others there are */ };
    const size_t used = strlen(names->text), length = strlen(name);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    for (int i = 0; i < names->count && i < SMP_NAMES; i++)
        if (names->seen[i] == hash)
            return;
    if (names->count < SMP_NAMES)
        names->seen[names->count] = hash;
    names->count++;
    if (names->others || used + 2 + length + OTHERS > sizeof names->text)
        names->others++;
    else
        snprintf(names->text + used, sizeof names->text - used, "%s%s", used ? ", " : "", name);
}

const char *smp_names_end(smp_names *names)
{
    const size_t used = strlen(names->text);
    if (names->others)
        snprintf(names->text + used, sizeof names->text - used, "%s%d other%s", used ? " and " : "", names->others,
                 names->others == 1 ? "" : "s");
    names->others = 0;
    return names->text;
}
