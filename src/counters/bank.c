/* Wavefronts of one warp instruction: see bank.h. A wavefront serves at most one word of each bank. */
#include "counters/bank.h"

#include <stdbool.h>

typedef struct geometry {
    int banks, bank_bytes;
} geometry;

/* Lanes served together, P in the rules: a phase moves at most 128 bytes. */
static int phase_lanes(const smp_bank_access *access)
{
    int lanes = access->width <= 4 ? SMP_WARP : access->width == 8 ? 16 : 8;
    if (access->op != SMP_BANK_LOAD || access->width <= 4)
        return lanes;
    /* Wide loads whose lanes agree in pairs (n with n^1, or n with n^2) need half the data: twice the lanes a phase. */
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

/* Most distinct words in one bank among lanes first .. first+count-1. */
static int distinct_words(const smp_bank_access *access, geometry g, int first, int count)
{
    uint32_t words[SMP_BANKS][SMP_WARP * 4];
    int used[SMP_BANKS] = {0}, most = 0;
    int step = g.bank_bytes;
    for (int lane = first; lane < first + count; lane++) {
        if (!(access->active >> lane & 1))
            continue;
        uint32_t begin = access->offset[lane] / (uint32_t)step;
        uint32_t end = (access->offset[lane] + (uint32_t)access->width - 1) / (uint32_t)step;
        for (uint32_t word = begin; word <= end; word++) {
            uint32_t bank = word % (uint32_t)g.banks;
            bool seen = false;
            for (int i = 0; i < used[bank] && !seen; i++)
                seen = words[bank][i] == word;
            if (!seen)
                words[bank][used[bank]++] = word;
            if (used[bank] > most)
                most = used[bank];
        }
    }
    return most;
}

/* Most active lanes on one bank: atomics, where equal addresses serialise too. */
static int lanes_on_a_bank(const smp_bank_access *access, geometry g)
{
    int used[SMP_BANKS] = {0}, most = 0;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!(access->active >> lane & 1))
            continue;
        uint32_t bank = access->offset[lane] / (uint32_t)g.bank_bytes % (uint32_t)g.banks;
        if (++used[bank] > most)
            most = used[bank];
    }
    return most;
}

/* cc 1.x: a half-warp is conflict-free when all its lanes use different banks or all read one word; of several equal
 * words one is broadcast, and lanes that read another word of a bank serialise one by one. */
static int half_warp_cc1(const smp_bank_access *access, int first)
{
    int most = 0;
    /* The broadcast word is the hardware's choice; the best choice bounds it from below: try each lane's. */
    int best = 0;
    for (int chosen = first; chosen < first + 16; chosen++) {
        if (!(access->active >> chosen & 1))
            continue;
        uint32_t broadcast = access->offset[chosen] / SMP_BANK_BYTES;
        int used[16] = {0};
        bool broadcast_used = false;
        most = 0;
        for (int lane = first; lane < first + 16; lane++) {
            if (!(access->active >> lane & 1))
                continue;
            uint32_t word = access->offset[lane] / SMP_BANK_BYTES;
            if (access->op == SMP_BANK_LOAD && word == broadcast) {
                if (broadcast_used)
                    continue;
                broadcast_used = true;
            }
            if (++used[word % 16] > most)
                most = used[word % 16];
        }
        if (!best || most < best)
            best = most;
    }
    return best;
}

smp_bank_cost smp_bank_cost_of(const smp_bank_access *access, smp_bank_rules rules)
{
    smp_bank_cost cost = {0, 0, 0};
    if (!access->active)
        return cost;
    geometry g = {SMP_BANKS, rules == SMP_BANKS_CC3_8 ? 2 * SMP_BANK_BYTES : SMP_BANK_BYTES};
    if (rules == SMP_BANKS_CC1) {
        for (int first = 0; first < SMP_WARP; first += 16) {
            int wavefronts = half_warp_cc1(access, first);
            cost.wavefronts += wavefronts;
            cost.ideal += wavefronts > 0;
        }
    } else if (access->op == SMP_BANK_ATOMIC || access->op == SMP_BANK_ATOMIC_FLOAT) {
        cost.ideal = 1;
        cost.wavefronts = lanes_on_a_bank(access, g);
        if (access->op == SMP_BANK_ATOMIC_FLOAT) { /* each turn of the loop loads and swaps */
            cost.wavefronts *= 2;
            cost.ideal = 2;
        }
    } else {
        int lanes = phase_lanes(access);
        for (int first = 0; first < SMP_WARP; first += lanes) {
            int wavefronts = distinct_words(access, g, first, lanes);
            cost.wavefronts += wavefronts;
            cost.ideal += wavefronts > 0;
        }
    }
    cost.conflicts = cost.wavefronts - cost.ideal;
    return cost;
}

smp_bank_rules smp_bank_rules_for(int compute_major)
{
    if (compute_major <= 1)
        return SMP_BANKS_CC1;
    return compute_major == 2 ? SMP_BANKS_CC2 : compute_major == 3 ? SMP_BANKS_CC3 : SMP_BANKS_CC5;
}
