/* Wavefronts of one warp instruction: see bank.h. A wavefront serves at most one row of each bank. */
#include "banks/bank.h"

#include <stdbool.h>
#include <string.h>

enum { CC1_BANKS = 16, CC1_LANES = 16 };

smp_bank_geometry smp_bank_geometry_of(smp_bank_rules rules)
{
    static const smp_bank_geometry geometries[] = {
        [SMP_BANKS_CC1] = {CC1_BANKS, 4, 64}, [SMP_BANKS_CC2] = {32, 4, 128}, [SMP_BANKS_CC3] = {32, 4, 256},
        [SMP_BANKS_CC3_8] = {32, 8, 256},     [SMP_BANKS_CC5] = {32, 4, 128},
    };
    return geometries[rules];
}

static bool atomic_turns(const smp_bank_access *access)
{
    return access->op == SMP_BANK_ATOMIC || access->op == SMP_BANK_ATOMIC_FLOAT;
}

/* Lanes that are served together: a phase moves at most one row, 128 bytes (3.x: 256). */
static int phase_lanes(const smp_bank_access *access, smp_bank_rules rules)
{
    if (rules == SMP_BANKS_CC1)
        return CC1_LANES;
    if (atomic_turns(access))
        return SMP_WARP;
    bool wide_rows = rules == SMP_BANKS_CC3 || rules == SMP_BANKS_CC3_8;
    int lanes = (wide_rows ? 256 : 128) / (access->width > 4 ? access->width : 4);
    lanes = lanes < SMP_WARP ? lanes : SMP_WARP;
    if (rules != SMP_BANKS_CC5 || access->op != SMP_BANK_LOAD || access->width <= 4)
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

/* One phase: lanes first .. first+count-1, and bytes from .. from+bytes-1 of each lane's access. */
typedef struct phase {
    const smp_bank_access *access;
    smp_bank_geometry geometry;
    int first, count;
    uint32_t from, bytes;
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
        uint32_t begin = (p->access->offset[lane] + p->from) / p->geometry.bank_bytes;
        uint32_t end = (p->access->offset[lane] + p->from + p->bytes - 1) / p->geometry.bank_bytes;
        for (uint32_t word = begin; word <= end; word++) {
            uint32_t bank = word % p->geometry.banks, row = word / (p->geometry.row_bytes / p->geometry.bank_bytes);
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

/* ------------------------------------------------------------------------------------------------ compute
 * capability 1.x */

static int lanes_in(uint32_t lanes)
{
    return __builtin_popcount(lanes);
}

/* Sorts a bank's cells, most lanes first: a broadcast saves most on those. */
static void sort_by_lanes(smp_bank_cell *cells, int count)
{
    for (int i = 1; i < count; i++) {
        smp_bank_cell cell = cells[i];
        int at = i;
        for (; at > 0 && lanes_in(cells[at - 1].lanes) < lanes_in(cell.lanes); at--)
            cells[at] = cells[at - 1];
        cells[at] = cell;
    }
}

/* The words of this bank that must be broadcast to finish it in `steps`; -1: impossible. */
static int broadcasts_needed(const smp_bank_cell *cells, int count, int steps)
{
    int single = 0;
    for (int i = 0; i < count; i++)
        single += lanes_in(cells[i].lanes);
    for (int k = 0; k <= count; k++) {
        if (k + single <= steps)
            return k;
        single -= k < count ? lanes_in(cells[k].lanes) : 0;
    }
    return -1;
}

/* Guide 4.2, F.3.3.2: in each step one word, of any bank, is broadcast to all lanes that read it, and every other bank
 * serves one lane. Finds the fewest steps over all choices of broadcast words. words[bank]: broadcasts of each. */
static int half_warp_steps(const wants *want, int words[CC1_BANKS])
{
    for (int steps = 0;; steps++) {
        int total = 0;
        bool enough = true;
        for (int bank = 0; bank < CC1_BANKS && enough; bank++) {
            words[bank] = broadcasts_needed(want->cells[bank], want->count[bank], steps);
            enough = words[bank] >= 0;
            total += words[bank];
        }
        if (enough && total <= steps)
            return steps;
    }
}

static void half_warp_turns(const wants *want, const int words[CC1_BANKS], int steps, smp_bank_wavefront *turns)
{
    int broadcast = 0; /* steps whose broadcast is assigned */
    for (int bank = 0; bank < CC1_BANKS; bank++) {
        const smp_bank_cell *cells = want->cells[bank];
        for (int i = 0; i < words[bank]; i++)
            turns[broadcast++].cells[bank] = cells[i];
        int step = 0;
        for (int i = words[bank]; i < want->count[bank]; i++)
            for (uint32_t rest = cells[i].lanes; rest; rest &= rest - 1) {
                while (step < steps - 1 && turns[step].cells[bank].lanes)
                    step++;
                turns[step].cells[bank] = (smp_bank_cell){rest & -rest, cells[i].row};
            }
    }
}

/* If several lanes write one address, one writes; the others cost nothing. */
static smp_bank_access writers_cc1(const smp_bank_access *access)
{
    smp_bank_access writers = *access;
    for (int lane = 0; lane < SMP_WARP; lane++)
        for (int other = lane & ~(CC1_LANES - 1); other < lane; other++)
            if (writers.active >> other & 1 && writers.offset[other] == writers.offset[lane])
                writers.active &= ~(UINT32_C(1) << lane);
    return writers;
}

/* ------------------------------------------------------------------------------------------------ asynchronous copies
 */

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
static int serve(const phase *p, smp_bank_rules rules, smp_bank_schedule *schedule, int phase_at)
{
    wants want;
    if (p->access->op == SMP_BANK_ASYNC) {
        uint32_t meets[SMP_WARP];
        int count = copy_turns(p, meets), at = schedule ? schedule->count : 0;
        if (schedule) {
            begin_turns(schedule, phase_at, count);
            copy_into_turns(p, meets, &schedule->wavefronts[at]);
        }
        return count;
    }
    bool one_by_one =
        rules == SMP_BANKS_CC1 ? p->access->op == SMP_BANK_STORE || atomic_turns(p->access) : atomic_turns(p->access);
    int turns = collect(p, !one_by_one, &want), words[CC1_BANKS], first = schedule ? schedule->count : 0;
    if (rules == SMP_BANKS_CC1 && !one_by_one) {
        for (int bank = 0; bank < CC1_BANKS; bank++)
            sort_by_lanes(want.cells[bank], want.count[bank]);
        turns = half_warp_steps(&want, words);
        if (schedule) {
            begin_turns(schedule, phase_at, turns);
            half_warp_turns(&want, words, turns, &schedule->wavefronts[first]);
        }
        return turns;
    }
    bool idle_turn = rules == SMP_BANKS_CC2 && p->access->width == 16 && turns > 0;
    int repeats = p->access->op == SMP_BANK_ATOMIC_FLOAT ? 2 : 1; /* each iteration of the loop loads and swaps */
    int total = turns * repeats + idle_turn;
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
        schedule->phase_from[0] = 0;
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

static smp_bank_cost serve_all(const smp_bank_access *given, smp_bank_rules rules, smp_bank_schedule *schedule)
{
    smp_bank_cost cost = {0, 0, 0, 0};
    smp_bank_access writers;
    const smp_bank_access *access = given;
    if (given->op == SMP_BANK_ASYNC_L2)
        return serve_sectors(given, schedule);
    if (rules == SMP_BANKS_CC1 && given->op == SMP_BANK_STORE) {
        writers = writers_cc1(given);
        access = &writers;
    }
    int lanes = phase_lanes(access, rules);
    /* 1.x splits wide accesses into requests of 4 bytes (F.3.3.4). Atomics look only at the first word. */
    uint32_t width = atomic_turns(access) && access->width > SMP_BANK_BYTES ? SMP_BANK_BYTES : (uint32_t)access->width;
    uint32_t step = rules == SMP_BANKS_CC1 && width > SMP_BANK_BYTES ? SMP_BANK_BYTES : width;
    for (uint32_t from = 0; from < width; from += step)
        for (int first = 0; first < SMP_WARP; first += lanes) {
            uint32_t taking_part = access->active & lanes_between(first, lanes);
            if (!taking_part)
                continue;
            phase p = {access, smp_bank_geometry_of(rules), first, lanes, from, step};
            int at = schedule ? schedule->phases++ : 0;
            if (schedule) {
                schedule->phase_lanes[at] = given->active & lanes_between(first, lanes);
                schedule->phase_from[at] = (int)from;
            }
            cost.wavefronts += serve(&p, rules, schedule, at);
            cost.ideal += access->op == SMP_BANK_ATOMIC_FLOAT ? 2 : 1;
        }
    cost.conflicts = cost.wavefronts - cost.ideal;
    int packed = (lanes_in(access->active) * (int)(width > SMP_BANK_BYTES ? width : SMP_BANK_BYTES) + 127) / 128;
    cost.packed = atomic_turns(access) ? cost.ideal : packed < cost.wavefronts ? packed : cost.wavefronts;
    return cost;
}

smp_bank_cost smp_bank_cost_of(const smp_bank_access *access, smp_bank_rules rules)
{
    return serve_all(access, rules, NULL);
}

void smp_bank_schedule_of(const smp_bank_access *access, smp_bank_rules rules, smp_bank_schedule *schedule)
{
    schedule->phases = schedule->count = 0;
    schedule->cost = serve_all(access, rules, schedule);
}

smp_bank_rules smp_bank_rules_for(int compute_major)
{
    if (compute_major <= 1)
        return SMP_BANKS_CC1;
    return compute_major == 2 ? SMP_BANKS_CC2 : compute_major == 3 ? SMP_BANKS_CC3 : SMP_BANKS_CC5;
}
