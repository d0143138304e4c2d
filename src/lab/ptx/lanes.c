/* The table of a machine's instruction set. */
#include "lab/ptx/lanes.h"

#include <string.h>

#include "lab/machine/rows.h"

static const warp_lane_row *search(const warp_lane_row *rows, const char *name)
{
    const size_t length = strlen(name);
    for (; rows->names; rows++)
        for (const char *at = rows->names; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (!strncmp(at, name, length) && (at[length] == ' ' || !at[length]))
                return rows;
    return NULL;
}

const warp_lane_row *warp_lane_row_find(const char *name)
{
    const warp_lane_row *const tables[] = {WARP_FOR_ISA(warp_rows_integer), WARP_FOR_ISA(warp_rows_float),
                                           WARP_FOR_ISA(warp_rows_convert)};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const warp_lane_row *row = search(tables[i], name);
        if (row)
            return row;
    }
    return NULL;
}
