/* Blocks of a cluster: they are live at one time, wait for each other, and reach each other's shared memory. */
#pragma once

#include "lab/machine/machine.h"

enum { WARP_MOST_CLUSTER = SMP_WARP_MAX_CLUSTER };

/* An address of shared memory: the place in its low bits, above them 0 for the block's own, else 1 + the rank of the
 * block in the cluster whose it is. */
enum { WARP_RANK_SHIFT = 24 };
#define WARP_PLACE_MASK ((UINT32_C(1) << WARP_RANK_SHIFT) - 1)

/* The thread, and its block, that touched a granule. epoch: barriers of clusters so far. */
typedef struct warp_far_touch {
    uint64_t stamp; /* as in warp_touch */
    uint32_t epoch, inst;
    uint16_t rank;
    bool atomic;
} warp_far_touch;

/* beneath: the last plain writer, where `write` is an atomic one. Of plain readers the last, and one before it, of
 * another block where there is one; the same of atomic ones, with which atomic writers do not race. */
typedef struct warp_far {
    warp_far_touch write, beneath, readers[4];
} warp_far;

typedef struct warp_member {
    unsigned char *shared;
    const warp_granule *granules;
    warp_far *far; /* of each granule */
    uint32_t first_interval;
    bool ended, was_reached;
    warp_far_touch last; /* by another block; its thread is in the stamp */
    uint64_t last_block; /* that block */
} warp_member;

struct warp_cluster {
    uint32_t shape[3], size;
    bool is_explicit;              /* somebody asked for clusters */
    uint32_t phase, arrived, live; /* of the barrier: its number, threads that arrived, that have not ended */
    uint32_t epoch, first_epoch;   /* first: of this cluster */
    warp_member members[WARP_MOST_CLUSTER];
};

/* The lanes of `lanes` that mean the first one's block; *rank: of that block, UINT32_MAX: the own. */
uint32_t warp_same_member(const warp_block *block, uint32_t lanes, const uint32_t offset[WARP_LANES], uint32_t *rank);

/* Returns the start of its shared memory. Null: the cluster has no such block. */
unsigned char *warp_memory_of(const warp_block *block, uint32_t rank);

/* The same as warp_touch_shared for another block's memory; its bytes begin at warp_member.shared. What it costs is
 * not known, and not counted. */
uint32_t warp_touch_far(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes, uint32_t rank,
                        const uint32_t offset[WARP_LANES], const warp_access *access);

/* Counts an instruction once that reached several blocks; before: those counted before it. */
void warp_count_once(warp_block *block, const warp_inst *inst, uint64_t before);

/* Races of an access to the block's own memory with those of other blocks. */
void warp_check_near(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint32_t offset,
                     const warp_access *access);
/* Whether another block of the cluster has written it. */
bool warp_written_far(const warp_block *block, uint32_t granule);

/* Everything before is ordered before everything after. */
void warp_cluster_order(warp_block *block);

/* A block of the cluster has ended. */
void warp_leave_cluster(warp_block *block);
void warp_cluster_hangs(warp_block *block);

/* Sums up what blocks of clusters run (cooperative_launch.c): all, or those in which a chosen block is. */
smp_code warp_run_clusters(warp_block *block, const uint32_t shape[3], uint64_t *done, smp_error *err);
