/* Maps output rows to input rows: see row_map.h. */
#include "stages/row_map.h"

#include "base/checked.h"

smp_row_map smp_row_map_of(const smp_node_plan *work)
{
    if (work->access != SMP_STENCIL)
        return (smp_row_map){0};
    return (smp_row_map){.num = work->rows.num,
                         .den = work->rows.den,
                         .add = work->rows.add,
                         .up = work->rows.up,
                         .down = work->rows.down,
                         .spans = work->rows.spans ? work->table.data : NULL,
                         .span_count = work->rows.spans};
}

int64_t smp_row_map_row(const smp_row_map *map, int64_t r)
{
    if (map->spans)
        return smp_row_span_row(&map->spans[smp_row_span_of(map->spans, map->span_count, r)], r);
    if (map->den == 0 || map->num == map->den)
        return r + map->add;
    /* (2r + 1) * num would overflow for long sounds: whole multiples of 2 * den apart */
    const int64_t twice = 2 * map->den, whole = (2 * r + 1) / twice, rest = (2 * r + 1) % twice;
    return whole * map->num + rest * map->num / twice + map->add;
}

void smp_row_map_reads(const smp_row_map *map, int64_t height, int64_t from, int64_t to, int64_t *first, int64_t *end)
{
    *first = *end = 0;
    if (from >= to || height < 1)
        return;
    *first = smp_clamp_i64(smp_row_map_row(map, from) - map->up, 0, height - 1);
    *end = smp_clamp_i64(smp_row_map_row(map, to - 1) + map->down, *first, height - 1) + 1;
}

/* Input rows from the first to the last of `rows` output rows in a row, at most: such a range begins with the last row
 * of a span, or ends with the first of one. */
static int64_t most_over_pieces(const smp_row_map *map, int64_t rows)
{
    int64_t most = rows;
    for (int32_t k = 1; k < map->span_count; k++) {
        const int64_t at = map->spans[k].at, before = smp_max_i64(0, at - rows + 1);
        most = smp_max_i64(most, smp_row_map_row(map, at + rows - 2) - smp_row_map_row(map, at - 1) + 1);
        most = smp_max_i64(most, map->spans[k].from - smp_row_map_row(map, before) + 1);
    }
    return most;
}

int64_t smp_row_map_most(const smp_row_map *map, int64_t height, int64_t rows)
{
    int64_t span = smp_max_i64(0, rows - 1), most;
    if (map->spans)
        span = most_over_pieces(map, smp_max_i64(1, rows)) - 1;
    else if (map->den && map->num != map->den) /* from one row's centre to another's, rounded up */
        span = smp_mul_i64(span, map->num, &most) ? most / map->den + 1 : height;
    most = smp_min_i64(height, span) + 1;
    return smp_clamp_i64(most + map->up + map->down, smp_min_i64(1, height), height);
}

double smp_row_map_ratio(const smp_row_map *map)
{
    return map->den ? (double)map->num / (double)map->den : 1;
}
