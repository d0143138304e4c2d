/* Escapes in lines: see line.h. */
#include "batch/line.h"

char *smp_line_escape(char *to, const char *from, bool quotes)
{
    for (; *from; from++) {
        if (*from == '\\' || *from == '\n' || (quotes && *from == '"'))
            *to++ = '\\';
        *to++ = *from == '\n' ? 'n' : *from;
    }
    return to;
}

const char *smp_line_unescape(char *to, const char *from, char end)
{
    for (; *from && *from != end; from++) {
        const bool special = *from == '\\' && from[1];
        from += special;
        *to++ = special && *from == 'n' ? '\n' : *from;
    }
    *to = '\0';
    return from;
}
