/* What an instruction remembers of its last access to memory: how the lanes lay, and what that cost. */
#pragma once

#include <string.h>

#include "lab/machine/machine.h"

/* A processor's vector has eight lanes. Of all eights the bits. */
enum { WARP_EIGHT = 8, WARP_EIGHTS = WARP_LANES / WARP_EIGHT, WARP_EACH_EIGHT = (1 << WARP_EIGHTS) - 1 };

/* How the addresses of a whole warp lie: at one place, side by side, or otherwise. */
typedef enum warp_lie { WARP_SCATTERED, WARP_ONE, WARP_ROW } warp_lie;

/* How words lie, each eight lanes by themselves: the eights otherwise, each at one place, each side by side. */
enum { WARP_APART = 1, WARP_ONES, WARP_ROWS };

/* The last pattern that an instruction accessed: most repeat it at another place, which costs the same. Addresses are
 * told from the first lane's. */
typedef struct warp_memo {
    uint32_t delta[WARP_LANES], active, phase;
    int32_t low, high; /* the extremes of delta, and the bits that any has */
    uint32_t mixed;
    uint8_t op, width, known, lie;
    uint8_t rows, ones, fresh; /* of each eight lanes a bit: they lie side by side; at one place; as none before them */
    uint8_t plain;             /* of words of all lanes, how they lie: rows.c does the next access; else 0 */
    bool quick;                /* a word that lies in eights: the next may be loaded at once */
    uint32_t place, room;      /* in shared memory: the first lane's; the last that the lowest lane's can be */
    uint8_t same[WARP_LANES / 8]; /* the first eight lanes that lie at the same places */
    uint64_t again;               /* accesses as the last one in shared memory that are not in the counts yet */
    smp_bank_cost cost;
    uint32_t sectors, stride;
    uint64_t before;   /* the first address of the access before, in global memory */
    uint32_t leaders;  /* of lanes at one place in shared memory the first two; 0: not known yet */
    uint32_t patterns; /* its number of them (patterns.c) */
    uint64_t hash;     /* of how lanes lie in shared memory; 0: not known yet */
} warp_memo;

/* Of the memo's last access. */
static inline warp_lie warp_lie_of(const warp_memo *memo)
{
    uint32_t apart = 0, off = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        apart |= memo->delta[l];
        off |= memo->delta[l] ^ l * memo->width;
    }
    return memo->active != WARP_ALL ? WARP_SCATTERED : !apart ? WARP_ONE : !off ? WARP_ROW : WARP_SCATTERED;
}

/* Words of all lanes lie as the memo says, inside shared memory of that size. single: those of loads by themselves. */
static inline void warp_make_plain(warp_memo *memo, uint32_t size, bool single)
{
    const bool rows = memo->rows == WARP_EACH_EIGHT && memo->width == 4;
    memo->plain = memo->ones == WARP_EACH_EIGHT ? WARP_ONES : rows ? WARP_ROWS : WARP_APART;
    memo->quick = single && memo->plain != WARP_APART;
    memo->room = size - (uint32_t)(memo->high - memo->low) - memo->width;
}

/* Fills in what follows from the memo's `delta` and `width`. */
static inline void warp_shape_memo(warp_memo *memo)
{
    memo->low = memo->high = 0;
    memo->mixed = 0;
    memo->rows = memo->ones = memo->fresh = 0;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        const int32_t d = (int32_t)memo->delta[l];
        memo->low = d < memo->low ? d : memo->low;
        memo->high = d > memo->high ? d : memo->high;
        memo->mixed |= memo->delta[l];
    }
    for (uint32_t k = 0; k < WARP_EIGHTS; k++) {
        const uint32_t *delta = memo->delta + k * WARP_EIGHT;
        uint32_t apart = 0, off = 0;
        for (uint32_t l = 0; l < WARP_EIGHT; l++) {
            apart |= delta[l] ^ delta[0];
            off |= (delta[l] - delta[0]) ^ l * memo->width;
        }
        memo->rows |= (uint8_t)(!off << k);
        memo->ones |= (uint8_t)(!apart << k);
        memo->same[k] = 0;
        while (memcmp(memo->delta + memo->same[k] * WARP_EIGHT, delta, WARP_EIGHT * sizeof *delta) != 0)
            memo->same[k]++;
        memo->fresh |= (uint8_t)((memo->same[k] == k) << k);
    }
}
