/* Rows of equal size in a file, read in either direction: many formats store the bottom row first. Rows are read in
 * blocks, with few reads and little memory. */
#pragma once

#include "io/files/source.h"

typedef struct smp_stored_rows {
    uint64_t offset; /* bytes before the first row that is stored */
    uint64_t stride; /* bytes from a row to the next */
    int64_t rows;
    uint8_t *block; /* stored rows first .. first + count - 1 */
    int64_t first, count, most;
} smp_stored_rows;

/* Sets where the rows are, and how many a block holds. Allocates nothing: before the first row the caller checks
 * smp_stored_rows_memory against its limits. */
void smp_stored_rows_set(smp_stored_rows *stored, uint64_t offset, uint64_t stride, int64_t rows);

/* Bytes of the block. */
uint64_t smp_stored_rows_memory(const smp_stored_rows *stored);

/* The least size of an input that holds all rows. */
uint64_t smp_stored_rows_end(const smp_stored_rows *stored);

/* The stored row `row`, in *at, valid until the next call. A source that cannot seek gives rows only in stored order.
 */
smp_code smp_stored_rows_get(smp_stored_rows *stored, smp_source *source, int64_t row, const uint8_t **at,
                             smp_error *err);
void smp_stored_rows_free(smp_stored_rows *stored);
