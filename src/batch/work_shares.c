/* Fixed shares of a list: see work_list.h. Each piece, in their order, goes to the shard that has the least so far;
 * since large pieces come first, shares differ by small ones alone. */
#include "base/alloc.h"
#include "batch/work_list.h"

typedef struct share {
    uint64_t load; /* of pieces that are the shard's so far */
    uint32_t shard;
} share;

static bool before(const share *a, const share *b)
{
    return a->load < b->load || (a->load == b->load && a->shard < b->shard);
}

/* Moves the first entry of a binary heap down to its place. */
static void sink(share *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &heap[at]))
            return;
        const share moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

smp_code smp_work_list_shares(const smp_work_list *list, int64_t shards, uint32_t **out, smp_error *err)
{
    enum { FILE_LOAD = (int)(SMP_PIECE_BYTES / SMP_PIECE_FILES) }; /* a file is as much work as so many bytes */
    const size_t pieces = smp_work_list_pieces(list), count = (size_t)shards < pieces ? (size_t)shards : pieces;
    uint32_t *owners = *out = smp_alloc_array(pieces, sizeof *owners);
    share *heap = smp_alloc_array(count, sizeof *heap);
    if (!owners || !heap) {
        smp_free(owners);
        smp_free(heap);
        *out = NULL;
        return smp_fail_memory(err, "shares of a list", pieces * sizeof *owners);
    }
    for (size_t i = 0; i < count; i++)
        heap[i].shard = (uint32_t)i + 1;
    for (size_t i = 0; i < pieces; i++) {
        const smp_work_piece *piece = smp_work_list_piece(list, i);
        owners[i] = heap[0].shard;
        heap[0].load += piece->bytes + FILE_LOAD * piece->files;
        sink(heap, count);
    }
    smp_free(heap);
    return SMP_OK;
}
