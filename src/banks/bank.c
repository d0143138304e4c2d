/* Wavefronts of one warp instruction: see bank.h. A wavefront serves at most one row of each bank. */
#include "banks/bank.h"

#include <stdbool.h>
#include <string.h>

static bool atomic_turns(const smp_bank_access *access)
{
    return access->op == SMP_BANK_ATOMIC || access->op == SMP_BANK_ATOMIC_FLOAT;
}

/* Lanes that are served together: a phase moves at most one row, 128 bytes. */
static int phase_lanes(const smp_bank_access *access)
{
    if (atomic_turns(access) || access->width <= SMP_BANK_BYTES)
        return SMP_WARP;
    const int lanes = SMP_BANK_ROW / access->width;
    if (access->op != SMP_BANK_LOAD)
        return lanes;
    /* Wide loads whose lanes agree in pairs (n with n^1, or n with n^2) need half the data, so a phase serves twice the
     * lanes. */
    for (int distance = 1; distance <= 2; distance++) {
        bool agree = true;
        for (int lane = 0; lane < SMP_WARP && agree; lane++) {
            int other = lane ^ distance;
            if (access->active >> lane & 1 && access->active >> other & 1)
                agree = access->offset[lane] == access->offset[other];
        }
        if (agree)
            return 2 * lanes;
    }
    return lanes;
}

/* One phase: lanes first .. first+count-1, and the first `bytes` bytes of each lane's access. */
typedef struct phase {
    const smp_bank_access *access;
    int first, count;
    uint32_t bytes;
} phase;

/* Words that lanes want of each bank: in the order of lanes, lanes that want the same word together. */
typedef struct wants {
    int count[SMP_BANKS];
    smp_bank_cell cells[SMP_BANKS][SMP_WARP];
} wants;

/* merge: lanes that want the same row are served together. Returns the most cells of any bank. */
static int collect(const phase *p, bool merge, wants *want)
{
    int most = 0;
    memset(want->count, 0, sizeof want->count);
    for (int lane = p->first; lane < p->first + p->count; lane++) {
        if (!(p->access->active >> lane & 1))
            continue;
        const uint32_t begin = p->access->offset[lane] / SMP_BANK_BYTES;
        const uint32_t end = (p->access->offset[lane] + p->bytes - 1) / SMP_BANK_BYTES;
        for (uint32_t word = begin; word <= end; word++) {
            const uint32_t bank = word % SMP_BANKS, row = word / SMP_BANKS;
            smp_bank_cell *cells = want->cells[bank];
            int at = 0, used = want->count[bank];
            while (at < used && !(merge && cells[at].row == row))
                at++;
            if (at < used) {
                cells[at].lanes |= UINT32_C(1) << lane;
                continue;
            }
            cells[at] = (smp_bank_cell){UINT32_C(1) << lane, row};
            want->count[bank] = at + 1;
            most = at + 1 > most ? at + 1 : most;
        }
    }
    return most;
}

static int lanes_in(uint32_t lanes)
{
    return __builtin_popcount(lanes);
}

/* ------------------------------------------------------------------------------------------------ copies */

static uint32_t banks_of(uint32_t address, int width)
{
    uint32_t words = (uint32_t)width / SMP_BANK_BYTES, first = address / SMP_BANK_BYTES % SMP_BANKS;
    return ((UINT32_C(1) << words) - 1) << first; /* aligned to width, so never past the last bank */
}

/* Lanes of a phase share a wavefront unless two of them write one bank or read one bank; words are not merged. The
 * count is not the fewest possible wavefronts: it is the number of lanes that the worst lane collides with, itself
 * included. */
static int copy_turns(const phase *p, uint32_t meets[SMP_WARP])
{
    const smp_bank_access *access = p->access;
    int turns = 0;
    for (int lane = p->first; lane < p->first + p->count; lane++) {
        meets[lane] = 0;
        for (int other = p->first; other < p->first + p->count; other++) {
            if (!(access->active >> lane & access->active >> other & 1))
                continue;
            bool read = access->through_l1 >> lane & access->through_l1 >> other & 1;
            if (banks_of(access->offset[lane], access->width) & banks_of(access->offset[other], access->width) ||
                (read &&
                 banks_of(access->source[lane], access->width) & banks_of(access->source[other], access->width)))
                meets[lane] |= UINT32_C(1) << other;
        }
        turns = lanes_in(meets[lane]) > turns ? lanes_in(meets[lane]) : turns;
    }
    return turns;
}

/* Each lane goes into the first wavefront without a lane that it collides with; there always is one. */
static void copy_into_turns(const phase *p, const uint32_t meets[SMP_WARP], smp_bank_wavefront *turns)
{
    uint32_t lanes[SMP_WARP] = {0};
    for (int lane = p->first; lane < p->first + p->count; lane++) {
        int turn = 0;
        if (!meets[lane])
            continue;
        while (lanes[turn] & meets[lane])
            turn++;
        lanes[turn] |= UINT32_C(1) << lane;
        for (uint32_t at = 0; at < (uint32_t)p->access->width; at += SMP_BANK_BYTES) {
            uint32_t word = (p->access->offset[lane] + at) / SMP_BANK_BYTES;
            turns[turn].cells[word % SMP_BANKS] = (smp_bank_cell){UINT32_C(1) << lane, word / SMP_BANKS};
        }
    }
}

/* Copies that bypass the L1 cache move sectors of 32 bytes. One wavefront moves sectors of one 128-byte line to one row
 * of the banks, all by the same rotation. These go into separate wavefronts: sectors of which both halves move, only
 * the lower, only the upper, and sectors whose halves swap. Where lanes write one place, the lowest writes. */
typedef struct sector_move {
    uint32_t from_line, to_line, rotation, kind;
} sector_move;

static int sector_turns(const smp_bank_access *access, int transpose_of[SMP_WARP])
{
    enum { HALF = 16, SECTOR = 32, LINE = 128, BOTH = 2, CROSSED = 4 };
    sector_move moves[SMP_WARP];
    int turns = 0;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        const uint32_t to = access->offset[lane], from = access->source[lane];
        bool taken = !(access->active >> lane & 1), whole = false;
        transpose_of[lane] = -1;
        for (int other = 0; other < SMP_WARP && !taken; other++) {
            if (!(access->active >> other & 1))
                continue;
            taken = other < lane && access->offset[other] == to;
            whole |= access->offset[other] == (to ^ HALF) && access->source[other] == (from ^ HALF);
        }
        if (taken)
            continue;
        const uint32_t half = to / HALF % 2, crossed = half != from / HALF % 2;
        const sector_move move = {from / LINE, to / LINE, (to / SECTOR - from / SECTOR) % (LINE / SECTOR),
                                  crossed ? CROSSED + half
                                  : whole ? BOTH
                                          : half};
        int at = 0;
        while (at < turns && memcmp(&moves[at], &move, sizeof move) != 0)
            at++;
        moves[at] = move;
        turns += at == turns;
        transpose_of[lane] = at;
    }
    return turns;
}

/* ------------------------------------------------------------------------------------------------ all */

static void begin_turns(smp_bank_schedule *schedule, int phase_at, int turns)
{
    for (int i = 0; i < turns && schedule->count < SMP_BANK_MAX_WAVEFRONTS; i++) {
        smp_bank_wavefront *wavefront = &schedule->wavefronts[schedule->count++];
        *wavefront = (smp_bank_wavefront){.phase = phase_at, .turn = i};
    }
}

/* The wavefronts of one phase. schedule (may be null) gets what they serve. */
static int serve(const phase *p, smp_bank_schedule *schedule, int phase_at)
{
    const int first = schedule ? schedule->count : 0;
    wants want;
    if (p->access->op == SMP_BANK_ASYNC) {
        uint32_t meets[SMP_WARP];
        const int count = copy_turns(p, meets);
        if (schedule) {
            begin_turns(schedule, phase_at, count);
            copy_into_turns(p, meets, &schedule->wavefronts[first]);
        }
        return count;
    }
    const int repeats = p->access->op == SMP_BANK_ATOMIC_FLOAT ? 2 : 1; /* each turn of the loop loads and swaps */
    const int total = collect(p, !atomic_turns(p->access), &want) * repeats;
    if (schedule) {
        begin_turns(schedule, phase_at, total);
        for (int bank = 0; bank < SMP_BANKS; bank++)
            for (int i = 0; i < want.count[bank] * repeats; i++)
                schedule->wavefronts[first + i].cells[bank] = want.cells[bank][i / repeats];
    }
    return total;
}

static smp_bank_cost serve_sectors(const smp_bank_access *access, smp_bank_schedule *schedule)
{
    int transpose_of[SMP_WARP], bytes = 0, turns = sector_turns(access, transpose_of);
    if (schedule && turns) {
        schedule->phases = 1;
        schedule->phase_lanes[0] = access->active;
        begin_turns(schedule, 0, turns);
    }
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (transpose_of[lane] < 0)
            continue;
        bytes += access->width;
        for (uint32_t at = 0; schedule && at < (uint32_t)access->width; at += SMP_BANK_BYTES) {
            uint32_t word = (access->offset[lane] + at) / SMP_BANK_BYTES;
            schedule->wavefronts[transpose_of[lane]].cells[word % SMP_BANKS] =
                (smp_bank_cell){UINT32_C(1) << lane, word / SMP_BANKS};
        }
    }
    int packed = (bytes + 127) / 128;
    return (smp_bank_cost){turns, packed, turns - packed, packed};
}

static uint32_t lanes_between(int first, int count)
{
    return (count >= SMP_WARP ? ~UINT32_C(0) : (UINT32_C(1) << count) - 1) << first;
}

static smp_bank_cost serve_all(const smp_bank_access *access, smp_bank_schedule *schedule)
{
    smp_bank_cost cost = {0, 0, 0, 0};
    if (access->op == SMP_BANK_ASYNC_L2)
        return serve_sectors(access, schedule);
    const int lanes = phase_lanes(access);
    /* Atomics look only at the first word. */
    const uint32_t bytes =
        atomic_turns(access) && access->width > SMP_BANK_BYTES ? SMP_BANK_BYTES : (uint32_t)access->width;
    for (int first = 0; first < SMP_WARP; first += lanes) {
        const uint32_t taking_part = access->active & lanes_between(first, lanes);
        if (!taking_part)
            continue;
        const phase p = {access, first, lanes, bytes};
        const int at = schedule ? schedule->phases++ : 0;
        if (schedule)
            schedule->phase_lanes[at] = taking_part;
        cost.wavefronts += serve(&p, schedule, at);
        cost.ideal += access->op == SMP_BANK_ATOMIC_FLOAT ? 2 : 1;
    }
    cost.conflicts = cost.wavefronts - cost.ideal;
    int packed = (lanes_in(access->active) * (int)(bytes > SMP_BANK_BYTES ? bytes : SMP_BANK_BYTES) + 127) / 128;
    cost.packed = atomic_turns(access) ? cost.ideal : packed < cost.wavefronts ? packed : cost.wavefronts;
    return cost;
}

smp_bank_cost smp_bank_cost_of(const smp_bank_access *access)
{
    return serve_all(access, NULL);
}

void smp_bank_schedule_of(const smp_bank_access *access, smp_bank_schedule *schedule)
{
    schedule->phases = schedule->count = 0;
    schedule->cost = serve_all(access, schedule);
}
