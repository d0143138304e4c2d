/* See colour_table.h. */
#include "io/images/colour_table.h"

#include <string.h>

void smp_colour_table_clear(smp_colour_table *table)
{
    table->count = 0;
    for (int i = 0; i < SMP_COLOUR_SLOTS; i++)
        table->slots[i] = SMP_NO_COLOUR;
}

int smp_colour_index(smp_colour_table *table, const uint8_t colour[4], bool add)
{
    uint32_t key;
    memcpy(&key, colour, sizeof key);
    uint32_t slot = key * 2654435761u >> 22;
    while (table->slots[slot] != SMP_NO_COLOUR && memcmp(table->colours[table->slots[slot]], colour, sizeof key) != 0)
        slot = (slot + 1) % SMP_COLOUR_SLOTS;
    if (table->slots[slot] == SMP_NO_COLOUR && add && table->count < SMP_COLOURS) {
        memcpy(table->colours[table->count], colour, sizeof key);
        table->slots[slot] = (int16_t)table->count++;
    }
    return table->slots[slot];
}
