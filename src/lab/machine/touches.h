/* What a block keeps of the threads that touched its shared memory, of which watch.c tells races. */
#pragma once

#include <stdint.h>

/* The thread that touched a granule of shared memory. stamp: interval << 32 | turn << 16 | thread. */
typedef struct warp_touch {
    uint64_t stamp;
    uint32_t inst;
    uint32_t how; /* the group of cp.async << 1 | atomic; in one word, since parts of it are slow to read back */
} warp_touch;

/* other: an earlier reader, of another warp or thread */
typedef struct warp_readers {
    warp_touch read, other;
} warp_readers;

/* Atomic readers are apart from plain ones, with which alone atomic writers race. beneath: the last plain writer, where
 * `write` is an atomic one. */
typedef struct warp_granule {
    warp_touch write, beneath;
    warp_readers plain, atomic;
} warp_granule;

/* Of each granule when it was written last (UINT32_MAX: by an asynchronous copy) and read last, and the floor since
 * which a further read tells nothing new: what vectors look at. Null: not kept. */
typedef struct warp_times {
    uint32_t *written, *read, *settled;
} warp_times;

/* Reads of shared memory since the block's last barrier that are not noted yet: they need not be where nobody writes
 * before the next one. Those of a floor; after `noted` they are noted at once. */
enum { WARP_PENDING = 512 };
typedef struct warp_pending {
    uint32_t count, floor, noted;
    struct {
        uint64_t stamp; /* of the first lane */
        uint32_t inst, base;
    } reads[WARP_PENDING];
} warp_pending;

/* Of lanes of a warp that __syncwarp named, as warp_order.known: what came before for lane `to` is at [to][from]. */
typedef uint32_t warp_lane_times[32][32];
