/* Rows of one size in a file: see stored_rows.h. */
#include "io/images/stored_rows.h"

#include "base/alloc.h"
#include "base/checked.h"

/* Bytes, more than a source buffers: such reads go directly into the block. */
enum { BLOCK = 2 * SMP_SOURCE_BUFFER };

void smp_stored_rows_set(smp_stored_rows *stored, uint64_t offset, uint64_t stride, int64_t rows)
{
    *stored = (smp_stored_rows){.offset = offset, .stride = stride, .rows = rows};
    stored->most = smp_clamp_i64((int64_t)(BLOCK / stride), 1, rows);
}

uint64_t smp_stored_rows_memory(const smp_stored_rows *stored)
{
    return (uint64_t)stored->most * stored->stride;
}

uint64_t smp_stored_rows_end(const smp_stored_rows *stored)
{
    return stored->offset + (uint64_t)stored->rows * stored->stride;
}

static bool go_to(smp_source *source, uint64_t position)
{
    if (source->seekable)
        return smp_source_seek(source, position);
    uint64_t gap = position - source->position;
    return position >= source->position && smp_source_skip(source, gap) == gap;
}

smp_code smp_stored_rows_get(smp_stored_rows *stored, smp_source *source, int64_t row, const uint8_t **at,
                             smp_error *err)
{
    *at = NULL;
    if (!stored->block && !(stored->block = smp_alloc_raw((size_t)smp_stored_rows_memory(stored))))
        return smp_fail_memory(err, "rows of a picture", smp_stored_rows_memory(stored));
    if (row < stored->first || row >= stored->first + stored->count) {
        /* Going backwards: the row is the last of its block. */
        int64_t first =
            row < stored->first || (!stored->count && row + 1 == stored->rows) ? row - stored->most + 1 : row;
        first = smp_max_i64(first, 0);
        int64_t count = smp_min_i64(stored->most, stored->rows - first);
        uint64_t begin = stored->offset + (uint64_t)first * stored->stride;
        size_t size = (size_t)((uint64_t)count * stored->stride);
        stored->count = 0;
        if (!go_to(source, begin) || smp_source_read(source, stored->block, size) != size)
            return smp_source_ended(source, err);
        stored->first = first;
        stored->count = count;
    }
    *at = stored->block + (size_t)(row - stored->first) * stored->stride;
    return SMP_OK;
}

void smp_stored_rows_free(smp_stored_rows *stored)
{
    smp_free(stored->block);
    stored->block = NULL;
    stored->count = 0;
}
