/* The table of a machine's instruction set. */
#include "lab/ptx/lanes.h"

#include <string.h>

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
    const warp_lane_row *const base[] = {warp_rows_integer_base, warp_rows_float_base, warp_rows_convert_base};
    const warp_lane_row *const *tables = base;
#ifdef SMP_WARP_V3
    const warp_lane_row *const v3[] = {warp_rows_integer_v3, warp_rows_float_v3, warp_rows_convert_v3};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        tables = v3;
#endif
    for (size_t i = 0; i < sizeof base / sizeof base[0]; i++) {
        const warp_lane_row *row = search(tables[i], name);
        if (row)
            return row;
    }
    return NULL;
}
