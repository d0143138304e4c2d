/* Blocks of a launch that is watched, side by side. Each thread of the host has a table of the buffers of its own, with
 * its own notes of who accessed a cell and of which bytes are written. When all have ended the cells tell whether
 * blocks of two threads met: one of them wrote what the other accessed. Then what they found holds no more, and the
 * launch is done again by one thread. Blocks that did not meet find what they would find one after another. */
#include "lab/machine/apart.h"

#include <string.h>

#include "base/alloc.h"

bool warp_worth_apart(const smp_warp_launch *launch)
{
    enum { WORTH = 1 << 14 /* threads */, EACH = 64 /* bytes a thread */ };
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint64_t threads = blocks * warp_block_threads(launch->block);
    uint64_t bytes = 0; /* all their cells are looked at */
    for (size_t i = 0; i < launch->memory->count; i++)
        bytes += launch->memory->buffers[i].size;
    return threads >= WORTH && bytes / EACH <= threads;
}

bool warp_open_shadow(const smp_warp_memory *memory, smp_warp_memory *shadow)
{
    *shadow = *memory;
    shadow->capacity = shadow->count = 0;
    shadow->buffers = NULL;
    if (!smp_grow(&shadow->buffers, &shadow->capacity, memory->count + 1, sizeof *shadow->buffers))
        return false;
    for (; shadow->count < memory->count; shadow->count++) {
        const warp_buffer *from = &memory->buffers[shadow->count];
        warp_buffer *b = &shadow->buffers[shadow->count];
        *b = *from;
        b->cells = NULL;
        b->cells_size = 0;
        b->known = from->known ? smp_alloc_raw(from->size / 8 + 1) : NULL;
        if (from->known && !b->known)
            return false;
        if (from->known)
            memcpy(b->known, from->known, from->size / 8 + 1);
    }
    return true;
}

void warp_close_shadow(smp_warp_memory *shadow)
{
    for (size_t i = 0; i < shadow->count; i++)
        warp_forget_buffer(shadow, &shadow->buffers[i]);
    smp_free(shadow->buffers);
    shadow->buffers = NULL;
    shadow->count = 0;
}

/* Adds the accesses to a buffer by blocks of another thread. True: some of them met. */
static bool add_cells(warp_buffer *sum, warp_buffer *more)
{
    const size_t count = warp_cells_in(sum->cells_size);
    uint32_t met = 0;
    if (!sum->cells) {
        const warp_buffer other = *sum;
        sum->cells = more->cells;
        sum->cells_size = more->cells_size;
        more->cells = other.cells;
        more->cells_size = other.cells_size;
        return false;
    }
    for (size_t i = 0; i < count && more->cells; i++) {
        struct warp_seen *write = &sum->cells[i], *read = &sum->cells[count + i];
        const uint32_t wrote = more->cells[i].when,
                       others = more->cells[count + i].when | more->cells[2 * count + i].when;
        met |= (write->when && (wrote | others)) | (wrote && (read->when | sum->cells[2 * count + i].when));
        if (wrote) /* pages that nobody accessed are not made */
            write->when |= wrote;
        if (others)
            read->when |= others;
    }
    return met;
}

bool warp_shadows_meet(smp_warp_memory *sum, smp_warp_memory *more)
{
    bool met = false;
    for (size_t i = 0; i < sum->count && !met; i++)
        met = add_cells(&sum->buffers[i], &more->buffers[i]);
    return met;
}

void warp_join_shadow(smp_warp_memory *memory, smp_warp_memory *shadow)
{
    for (size_t i = 0; i < memory->count; i++) {
        warp_buffer *b = &memory->buffers[i], *more = &shadow->buffers[i];
        if (b->unknown && !more->unknown)
            b->unknown = 0;
        else if (b->unknown && more->known && !b->known) {
            b->known = more->known;
            b->unknown = more->unknown;
            more->known = NULL;
        } else
            for (size_t k = 0; b->unknown && more->known && k < b->size / 8 + 1; k++) {
                b->unknown -= (uint32_t)__builtin_popcount(more->known[k] & ~b->known[k] & 0xff);
                b->known[k] |= more->known[k];
            }
    }
    memory->clock = shadow->clock > memory->clock ? shadow->clock : memory->clock;
}
