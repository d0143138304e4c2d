/* Mistakes in global memory: races of threads and of blocks, and reads of what nobody has written.
 *
 * A cell stands for the narrowest piece of memory that the kernel accesses. It holds who wrote it last and two who read
 * it since, strong readers (atomic or volatile) and plain ones apart, each with the time of the machine's clock
 * (warp_order.interval), which no two blocks share: barriers, fences and turns of blocks advance it. Cells of earlier
 * launches are older than the launch, so that nothing is cleared. */
#pragma once

#include "lab/machine/buffers.h"
#include "lab/machine/memo.h"

/* who: the thread, whether the access was atomic or volatile, among threads of its block alone, and the instruction. */
typedef struct warp_seen {
    uint32_t when, who;
} warp_seen;
enum {
    WARP_WHO_THREAD = 0x3ff,
    WARP_WHO_STRONG = 0x400,
    WARP_WHO_APART = 0x800,
    WARP_WHO_BLOCK = 0x1000,
    WARP_WHO_SHIFT = 13
};

typedef struct warp_cell {
    warp_seen *write, *read, *other;  /* other: an earlier reader; APART: it is of another block than `read` */
    warp_seen *strong, *strong_other; /* the same of strong readers, beside which plain ones race with strong writers */
    uint32_t *settled; /* warp_order.ordered since when further reads by plain loads of other blocks tell nothing new */
} warp_cell;

/* The cells that so many bytes hold, behind each other all of a kind. */
static inline size_t warp_cells_in(size_t bytes)
{
    return bytes / (5 * sizeof(warp_seen) + sizeof(uint32_t));
}

/* The buffer that an instruction accessed last. */
typedef struct warp_where {
    uint64_t start, end;
    warp_cell cells; /* the first; null: it is not watched */
    warp_buffer *buffer;
} warp_where;

/* From this time on the block ran. */
typedef struct warp_run_turn {
    uint32_t when;
    uint64_t block;
} warp_run_turn;

/* At an address a block has released what it did before a time. Address 0: at any. */
typedef struct warp_release {
    uint64_t address, block;       /* block + 1; 0: nothing is here */
    uint32_t before, reads_before; /* reads need no fence: a store that waits for what was read comes behind them */
    bool handed_on;                /* by one that had acquired something elsewhere */
} warp_release;

enum { WARP_WHERES = 32 };
struct warp_watch {
    uint32_t shift;   /* bytes of a cell */
    bool interleaved; /* blocks take turns */
    bool strong;      /* there were strong readers */
    bool is_new;      /* nothing was accessed since the last turn began */
    warp_where wheres[WARP_WHERES];
    uint64_t version;  /* of the buffers that they are of */
    uint64_t left_out; /* bytes of a buffer that is not watched; 0: all are */
    warp_run_turn *turns;
    size_t turn_count, turn_capacity, last;
    warp_release *releases;
    size_t release_count, release_capacity;
};

/* The lowest and highest address of lanes, and how they lie. */
typedef struct warp_extent {
    uint64_t low, high;
    warp_lie lie;
} warp_extent;

/* An access of lanes that are inside of buffers. */
void warp_watch_access(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                       const uint64_t address[WARP_LANES], const warp_extent *extent, const warp_access *access);

/* Whether an earlier access comes before one of this thread, which is not the same. */
bool warp_watch_ordered(warp_block *block, const warp_frame *frame, uint32_t thread, const warp_seen *was,
                        uint64_t address, bool was_read);
/* The block that ran at a time. */
uint64_t warp_watch_block(warp_watch *watch, uint32_t when);
/* A synchronising access to an address: one that other threads may wait for, or that sees what they did. */
void warp_watch_sync(warp_block *block, warp_frame *frame, uint64_t address, bool acquires, bool releases,
                     bool is_fence);
