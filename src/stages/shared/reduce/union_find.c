/* Components that GPUs join: see union_find.h. */
#include "stages/shared/reduce/union_find.h"

#include "base/checked.h"
#include "base/stride.h"
#include "stages/shared/launch_shapes.h"

size_t smp_union_find_plane(const smp_shape *in)
{
    size_t bits;
    return in->width <= INT32_MAX - 128 &&
                   smp_mul_size((size_t)smp_bits_words(in->width) * sizeof(uint32_t), (size_t)in->height, &bits)
               ? bits
               : 0;
}

bool smp_union_find_place(const smp_shape *in, int planes, int64_t own, smp_union_find *sets, smp_node_plan *work)
{
    enum { ROOM = 64 /* times the slots: what lies beside them has room too */ };
    const int64_t row = smp_bits_words(in->width) * SMP_UNION_FIND_RUNS * (int64_t)sizeof(uint32_t);
    const size_t bits = smp_union_find_plane(in);
    size_t slots, all;
    if (!bits || !smp_mul_size((size_t)row, (size_t)in->height, &slots) || !smp_mul_size(slots, ROOM, &all))
        return false;
    sets->fits = slots / sizeof(uint32_t) < (size_t)INT32_MAX - SMP_UNION_FIND_THREADS * SMP_UNION_FIND_RUNS;
    sets->head_at = (int64_t)bits * planes;
    sets->counts_at = smp_aligned_stride(own);
    sets->table_at = smp_aligned_stride(sets->counts_at + SMP_UNION_FIND_CHUNKS * (int64_t)sizeof(uint32_t));
    sets->slots_at = smp_aligned_stride(sets->table_at + (int64_t)work->table.size);
    work->between = (smp_shape){.kind = SMP_IMAGE,
                                .width = row / (int64_t)sizeof(float),
                                .height = sets->fits ? (sets->slots_at + (int64_t)slots + row - 1) / row : 1,
                                .channels = 1,
                                .format = SMP_F32};
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)sets->head_at + sizeof(uint64_t);
    work->reduction.more_at = (size_t)sets->head_at;
    work->reduction.table_at = work->table.size ? (size_t)sets->table_at : 0;
    return true;
}

const void *smp_union_find_found(const smp_union_find *sets, const void *result)
{
    const char *at = (const char *)result + sets->head_at;
    uint64_t more;
    memcpy(&more, at, sizeof more);
    return more ? at + sizeof more : NULL;
}

void smp_union_find_grid_words(const smp_view *picture, int64_t rows, smp_grid *grid)
{
    smp_grid_striding_line(smp_bits_words(picture->width) * rows, SMP_UNION_FIND_BLOCK, SMP_UNION_FIND_BLOCK, grid);
}

void smp_union_find_grid_tiles(const smp_view *picture, int64_t rows, smp_grid *grid)
{
    const int64_t across = (smp_bits_words(picture->width) + SMP_UNION_FIND_ACROSS - 1) / SMP_UNION_FIND_ACROSS;
    smp_grid_striding_line(across * ((rows + SMP_UNION_FIND_DOWN - 1) / SMP_UNION_FIND_DOWN), 1, SMP_UNION_FIND_THREADS,
                           grid);
}

void smp_geometry_union_find_words(const smp_io *io, const void *, smp_grid *grid)
{
    smp_union_find_grid_words(&io->second, io->second.height, grid);
}

void smp_geometry_union_find_tiles(const smp_io *io, const void *, smp_grid *grid)
{
    smp_union_find_grid_tiles(&io->second, io->second.height, grid);
}

void smp_geometry_union_find_chunks(const smp_io *io, const void *, smp_grid *grid)
{
    const int64_t words = smp_bits_words(io->second.width) * io->second.height;
    smp_grid_striding_line(words, smp_union_find_chunk(words), SMP_UNION_FIND_BLOCK, grid);
}
