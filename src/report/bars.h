/* Bars of one line for terminals: block characters, or ASCII where the locale is not of UTF-8. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { SMP_BAR_MOST = 8 }; /* the highest bar */

/* Whether LC_ALL, LC_CTYPE or LANG, the first that is set, names UTF-8. Without any, as in containers, it is assumed.
 */
bool smp_bars_utf8(void);

/* A bar of a height of 0 .. SMP_BAR_MOST. */
void smp_bar_put(FILE *to, int height);

/* Bars that fit beside `taken` columns of other text: at most `most`, at least 8. What is no terminal takes all. */
int smp_bars_fit(FILE *to, int most, int taken);
