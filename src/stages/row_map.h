/* Maps an output row to the input rows that it needs: pure arithmetic that the schedule, the runner and the tests
 * share. Output row r is centred on input row floor((2r + 1) * num / (2 * den)) + add, and wants `up` rows above that
 * one and `down` rows below it. Rows outside the picture stand for its first or last row, so that at least one row is
 * wanted always. 1/1 is a stencil; a stage that halves the height has 2/1, and one that makes 160 frames of 441 has
 * 441/160. */
#pragma once

#include "lib/row_spans.h"
#include "stages/stage.h"

typedef struct smp_row_map {
    int64_t num, den; /* input rows for each output row: 1 .. SMP_ROW_MAP_MOST each; den 0: 1/1 */
    int64_t add;
    int64_t up, down;
    const smp_row_span *spans; /* instead of num, den and add, which then say about how many; null: none */
    int32_t span_count;
} smp_row_map;

/* Returns the map of a stage's plan; a stage that is not a stencil needs its own row. */
smp_row_map smp_row_map_of(const smp_node_plan *work);

/* The input row that output row r >= 0 is centred on; may lie outside the picture. */
int64_t smp_row_map_row(const smp_row_map *map, int64_t r);

/* The input rows first .. end-1 of `height` that output rows from .. to-1 want; none when from >= to. */
void smp_row_map_reads(const smp_row_map *map, int64_t height, int64_t from, int64_t to, int64_t *first, int64_t *end);

/* The most input rows of `height` that any `rows` output rows in a row want. */
int64_t smp_row_map_most(const smp_row_map *map, int64_t height, int64_t rows);

/* Input rows for each output row, as a number. */
double smp_row_map_ratio(const smp_row_map *map);
