/* Components that GPUs join: see union_find.h. */
#include "stages/shared/reduce/union_find.h"

#include "base/checked.h"
#include "base/stride.h"
#include "stages/shared/launch_shapes.h"

size_t smp_joins_plane(const smp_shape *in)
{
    size_t bits;
    return in->width <= INT32_MAX - 128 &&
                   smp_mul_size((size_t)smp_bits_words(in->width) * sizeof(uint32_t), (size_t)in->height, &bits)
               ? bits
               : 0;
}

bool smp_joins_place(const smp_shape *in, int planes, int64_t own, smp_joins *joins, smp_node_plan *work)
{
    enum { ROOM = 64 /* times the slots: what lies beside them has room too */ };
    const int64_t row = smp_bits_words(in->width) * SMP_JOINS_RUNS * (int64_t)sizeof(uint32_t);
    const size_t bits = smp_joins_plane(in);
    size_t slots, all;
    if (!bits || !smp_mul_size((size_t)row, (size_t)in->height, &slots) || !smp_mul_size(slots, ROOM, &all))
        return false;
    joins->fits = slots / sizeof(uint32_t) < (size_t)INT32_MAX - SMP_JOINS_THREADS * SMP_JOINS_RUNS;
    joins->head_at = (int64_t)bits * planes;
    joins->counts_at = smp_aligned_stride(own);
    joins->table_at = smp_aligned_stride(joins->counts_at + SMP_JOINS_CHUNKS * (int64_t)sizeof(uint32_t));
    joins->slots_at = smp_aligned_stride(joins->table_at + (int64_t)work->table.size);
    work->between = (smp_shape){.kind = SMP_IMAGE,
                                .width = row / (int64_t)sizeof(float),
                                .height = joins->fits ? (joins->slots_at + (int64_t)slots + row - 1) / row : 1,
                                .channels = 1,
                                .format = SMP_F32};
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)joins->head_at + sizeof(uint64_t);
    work->reduction.more_at = (size_t)joins->head_at;
    work->reduction.table_at = work->table.size ? (size_t)joins->table_at : 0;
    return true;
}

const void *smp_joins_found(const smp_joins *joins, const void *result)
{
    const char *at = (const char *)result + joins->head_at;
    uint64_t more;
    memcpy(&more, at, sizeof more);
    return more ? at + sizeof more : NULL;
}

void smp_joins_grid_words(const smp_view *picture, int64_t rows, smp_grid *grid)
{
    smp_grid_striding_line(smp_bits_words(picture->width) * rows, SMP_JOINS_BLOCK, SMP_JOINS_BLOCK, grid);
}

void smp_joins_grid_tiles(const smp_view *picture, int64_t rows, smp_grid *grid)
{
    const int64_t across = (smp_bits_words(picture->width) + SMP_JOINS_ACROSS - 1) / SMP_JOINS_ACROSS;
    smp_grid_striding_line(across * ((rows + SMP_JOINS_DOWN - 1) / SMP_JOINS_DOWN), 1, SMP_JOINS_THREADS, grid);
}

void smp_geometry_join_words(const smp_io *io, const void *kernel, smp_grid *grid)
{
    (void)kernel;
    smp_joins_grid_words(&io->second, io->second.height, grid);
}

void smp_geometry_join_tiles(const smp_io *io, const void *kernel, smp_grid *grid)
{
    (void)kernel;
    smp_joins_grid_tiles(&io->second, io->second.height, grid);
}

void smp_geometry_join_chunks(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const int64_t words = smp_bits_words(io->second.width) * io->second.height;
    (void)kernel;
    smp_grid_striding_line(words, smp_joins_chunk(words), SMP_JOINS_BLOCK, grid);
}
