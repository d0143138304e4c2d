/* Fixed shares of a list: see work_list.h. Each piece, in their order, goes to the shard that has the least so far;
 * since large pieces come first, shares differ by small ones alone. */
#include "base/alloc.h"
#include "batch/claims/work_list.h"

typedef struct shard_load {
    uint64_t load; /* of pieces that are the shard's so far */
    uint32_t shard;
} shard_load;

static bool before(const shard_load *a, const shard_load *b)
{
    return a->load < b->load || (a->load == b->load && a->shard < b->shard);
}

/* Moves the first entry of a binary heap down to its place. */
static void sink(shard_load *heap, size_t count)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &heap[at]))
            return;
        const shard_load moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

smp_code smp_work_list_shares(const smp_work_list *list, int64_t shards, uint32_t **out, smp_error *err)
{
    enum { FILE_LOAD = (int)(SMP_PIECE_BYTES / SMP_PIECE_FILES) }; /* a file is as much work as so many bytes */
    const size_t pieces = smp_work_list_pieces(list), count = (size_t)shards < pieces ? (size_t)shards : pieces;
    uint32_t *owners = *out = smp_alloc_array(pieces, sizeof *owners);
    shard_load *heap = smp_alloc_array(count, sizeof *heap);
    if (!owners || !heap) {
        smp_free_all(owners, heap);
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

smp_code smp_list_share_open(const smp_work_list *list, int64_t shard, int64_t shards, smp_list_share *share,
                             smp_error *err)
{
    uint32_t *owners = NULL;
    SMP_TRY(shards > 0 ? smp_work_list_shares(list, shards, &owners, err) : SMP_OK);
    *share = (smp_list_share){.pieces = smp_work_list_pieces(list), .owners = owners, .shard = (uint32_t)shard};
    return SMP_OK;
}

bool smp_list_share_has(const smp_list_share *share, size_t piece)
{
    return !share->owners || share->owners[piece] == share->shard;
}

bool smp_list_share_next(smp_list_share *share, size_t *piece)
{
    if (share->deal)
        return share->deal(share->pieces, piece);
    while (share->next < share->pieces && !smp_list_share_has(share, share->next))
        share->next++;
    *piece = share->next++;
    return *piece < share->pieces;
}

void smp_list_share_close(smp_list_share *share)
{
    smp_free((void *)(uintptr_t)share->owners);
    *share = (smp_list_share){.pieces = 0};
}
