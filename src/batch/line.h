/* Texts that may hold anything as parts of one line, in journals and lists. */
#pragma once

#include <stdbool.h>

/* Writes a text with a backslash before each backslash, each end of a line, which becomes n, and with `quotes` each
 * double quote. Takes at most 2 * strlen(from) bytes, without a null byte at the end. Returns where it ended. */
char *smp_line_escape(char *to, const char *from, bool quotes);

/* Undoes that up to the first `end` ('"' or '\0') without a backslash, and adds a null byte. `to` may be `from` or lie
 * before it. Returns where in `from` it ended: at `end` or, where that is missing, at the null byte. */
const char *smp_line_unescape(char *to, const char *from, char end);
