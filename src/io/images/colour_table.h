/* Up to 256 colours with alpha, each found by its value: the palettes of files that are written. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SMP_COLOURS = 256, SMP_COLOUR_SLOTS = 1024, SMP_NO_COLOUR = -1 };

typedef struct smp_colour_table {
    int count;
    uint8_t colours[SMP_COLOURS][4]; /* red, green, blue, alpha; in the order in which they appear */
    int16_t slots[SMP_COLOUR_SLOTS]; /* of a hash table: indices of the colours, or SMP_NO_COLOUR */
} smp_colour_table;

void smp_colour_table_clear(smp_colour_table *table);

/* The index of a colour. One that is missing is added if asked; SMP_NO_COLOUR: it is not there, or the table is full.
 */
int smp_colour_index(smp_colour_table *table, const uint8_t colour[4], bool add);
