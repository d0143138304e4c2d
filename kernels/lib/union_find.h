/* Joining on GPUs: which runs of a bit plane's set pixels hang together (label, canny).
 *
 * The scratch picture holds, at the places that smp_union_find has:
 *   slots   uint32_t [height][words][SMP_UNION_FIND_RUNS]: a slot for each run of set bits in a word, in raster order.
 * Its number is that of the slot from the beginning. While components are joined, a slot holds the number of another of
 * its component, smaller than its own, or its own: a root (union-find, whose representative is the smallest: any order
 * of joining gives the same). See union_find.cuh. counts  uint32_t [SMP_UNION_FIND_CHUNKS]: of roots, or of components
 * to keep, in the chunks of a launch table   as io->table The result begins with the bit plane, and has at head_at how
 * many bytes of the scratch picture the host gets (smp_node_plan.reduction.more_at); 0 where the host joins: slots have
 * no room, or there is no scratch picture. */
#pragma once

#include "lib/bits.h"

typedef struct smp_union_find {
    int32_t near;                          /* 1: pixels that touch at corners belong together */
    int32_t fits;                          /* slots have numbers of 31 bits: the device joins */
    int64_t head_at;                       /* in the result, bytes */
    int64_t counts_at, table_at, slots_at; /* in the scratch picture, bytes */
} smp_union_find;

enum {
    SMP_UNION_FIND_RUNS = 16,     /* of a word, at most */
    SMP_UNION_FIND_ACROSS = 4,    /* words of a tile */
    SMP_UNION_FIND_DOWN = 32,     /* rows of a tile; where strips begin */
    SMP_UNION_FIND_THREADS = 128, /* a word each: a tile */
    SMP_UNION_FIND_BLOCK = 256,   /* threads of launches over words or records */
    SMP_UNION_FIND_CHUNKS = 4096  /* at most, in which these are numbered */
};

/* Items of a chunk, of `items` in all: whole blocks of threads. */
SMP_HOST_DEVICE int64_t smp_union_find_chunk(int64_t items)
{
    const int64_t unit = (int64_t)SMP_UNION_FIND_CHUNKS * SMP_UNION_FIND_BLOCK;
    return (items > unit ? (items + unit - 1) / unit : 1) * SMP_UNION_FIND_BLOCK;
}
