/* Colours as people write them: a name of CSS, or #rgb, #rrggbb, #rrggbbaa. */
#pragma once

#include <stddef.h>

enum { SMP_COLOR_VALUES = 4 };

/* The values, 0 to 1, of a colour; how many: 1 of a gray, which serves every channel, 3, or 4 with alpha. 0: it is no
 * colour. */
int smp_color_read(const char *text, size_t length, double values[SMP_COLOR_VALUES]);

/* The length of a colour that begins with # at `text`: 4, 5, 7 or 9, with nothing behind it that could belong to it; 0:
 * it is none. */
size_t smp_color_length(const char *text, size_t length);
