/* Layouts of arrays in shared memory, and the search for one without conflicts: see elements.h. */
#include "lab/counters/elements.h"

#include <string.h>

static int64_t row_of(const smp_elements *elements, const smp_layout *layout, int lane, int64_t *column)
{
    const int64_t *at = elements->at[lane];
    if (elements->dims == 1) {
        int64_t period = layout->period > 0 ? layout->period : 1;
        *column = at[0] % period;
        return at[0] / period;
    }
    *column = at[elements->dims - 1];
    return at[elements->dims - 2];
}

void smp_elements_place(const smp_elements *elements, const smp_layout *layout, int width, uint32_t offset[SMP_WARP])
{
    for (int lane = 0; lane < SMP_WARP; lane++) {
        offset[lane] = 0;
        if (!(elements->active >> lane & 1))
            continue;
        int64_t column, row = row_of(elements, layout, lane, &column), lines = row, length = layout->period;
        if (elements->dims > 1) {
            length = elements->dim[elements->dims - 1];
            lines = 0;
            for (int i = 0; i < elements->dims - 1; i++)
                lines = lines * elements->dim[i] + elements->at[lane][i];
        } else if (length <= 0)
            length = 1;
        column ^= (layout->shift < 0 ? row << -layout->shift : row >> layout->shift) & layout->mask;
        const int size = elements->size ? elements->size : width;
        offset[lane] = (uint32_t)((lines * (length + layout->pad) + column) * size + elements->from);
    }
}

void smp_elements_walk(smp_walk walk, int64_t rows, int64_t columns, int64_t from, smp_elements *out)
{
    *out = (smp_elements){.dims = 2, .dim = {rows, columns}};
    for (int64_t lane = 0; lane < SMP_WARP; lane++) {
        int64_t row, column, element = lane + from * (walk == SMP_WALK_COLUMN ? rows : columns);
        switch (walk) {
        case SMP_WALK_COLUMN:
            row = element % rows, column = element / rows;
            break;
        case SMP_WALK_DIAGONAL:
            row = lane % rows, column = (from + row + lane / rows) % columns;
            element = lane;
            break;
        case SMP_WALK_ANTIDIAGONAL:
            row = lane % rows, column = columns - 1 - (from + row + lane / rows) % columns;
            element = lane;
            break;
        default:
            row = element / columns, column = element % columns;
        }
        if (element >= rows * columns)
            continue;
        out->active |= UINT32_C(1) << lane;
        out->at[lane][0] = row;
        out->at[lane][1] = column;
    }
}

/* ------------------------------------------------------------------------------------------------ advice */

enum { IMPOSSIBLE = 1 << 20 /* wavefronts of a layout that the instruction cannot have */ };

typedef struct search {
    const smp_elements *elements;
    smp_bank_op op;
    int width;
} search;

static smp_bank_cost cost_with(const search *s, const smp_elements *elements, const smp_layout *layout)
{
    smp_bank_access access = {.op = s->op, .width = s->width, .active = elements->active};
    smp_elements_place(elements, layout, s->width, access.offset);
    for (int lane = 0; lane < SMP_WARP; lane++)
        if (access.offset[lane] % (uint32_t)s->width) /* an instruction that takes several elements */
            return (smp_bank_cost){IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE};
    return smp_bank_cost_of(&access);
}

static int size_of(const search *s)
{
    return s->elements->size ? s->elements->size : s->width;
}

static int greatest_common_divisor(int a, int b)
{
    return b ? greatest_common_divisor(b, a % b) : a;
}

/* Elements in a row of the banks: the effect of pads and strides repeats with this period. */
static int64_t bank_row(const search *s)
{
    return SMP_BANK_ROW / greatest_common_divisor(SMP_BANK_ROW, size_of(s));
}

/* The fewest wavefronts of any layout. Atomics on one address serialise; all other accesses can be spread over the
 * banks. */
static int least_wavefronts(const search *s, smp_bank_cost cost)
{
    smp_layout plain = {0};
    uint32_t offset[SMP_WARP];
    int most = 0;
    if (s->op != SMP_BANK_ATOMIC && s->op != SMP_BANK_ATOMIC_FLOAT)
        return cost.ideal;
    smp_elements_place(s->elements, &plain, s->width, offset);
    for (int lane = 0; lane < SMP_WARP; lane++) {
        int same = 0;
        for (int other = 0; other < SMP_WARP; other++)
            same += (s->elements->active >> other & 1) && (s->elements->active >> lane & 1) &&
                    offset[other] == offset[lane];
        most = same > most ? same : most;
    }
    return s->op == SMP_BANK_ATOMIC_FLOAT ? 2 * most : most;
}

static bool free_of_conflicts(smp_bank_cost cost, int least)
{
    return cost.wavefronts <= least;
}

static bool try_pads(const search *s, int64_t period, int least, smp_advice *out)
{
    for (int64_t pad = 1; pad <= bank_row(s); pad++) {
        smp_layout layout = {.period = period, .pad = pad};
        smp_bank_cost cost = cost_with(s, s->elements, &layout);
        if (free_of_conflicts(cost, least)) {
            out->pad = layout;
            out->pad_cost = cost;
            return true;
        }
        if (cost.wavefronts < (out->best_pad.pad ? out->best_pad_cost : out->cost).wavefronts) {
            out->best_pad = layout;
            out->best_pad_cost = cost;
        }
    }
    return false;
}

/* A plain index has no rows of its own: tries a row of the banks first (i + i / 32), then longer and shorter ones. */
static void find_pad(const search *s, int least, smp_advice *out)
{
    if (s->elements->dims > 1) {
        try_pads(s, 0, least, out);
        return;
    }
    int64_t row = bank_row(s);
    bool found = try_pads(s, row, least, out);
    for (int64_t factor = 2; factor <= 32 && !found; factor *= 2)
        found = try_pads(s, row * factor, least, out) || (row / factor && try_pads(s, row / factor, least, out));
}

static void find_stride(const search *s, int least, smp_advice *out)
{
    const smp_elements *e = s->elements;
    int first = -1, second = -1;
    if (e->dims > 1)
        return;
    for (int lane = 0; lane < SMP_WARP; lane++) {
        if (!(e->active >> lane & 1))
            continue;
        if (first < 0)
            first = lane;
        else if (second < 0)
            second = lane;
    }
    if (second < 0 || (e->at[second][0] - e->at[first][0]) % (second - first))
        return;
    int64_t stride = (e->at[second][0] - e->at[first][0]) / (second - first);
    for (int lane = 0; lane < SMP_WARP; lane++)
        if ((e->active >> lane & 1) && e->at[lane][0] != e->at[first][0] + stride * (lane - first))
            return;
    if (stride <= 0)
        return;
    out->stride = stride;
    for (int64_t more = 1; more <= bank_row(s) && !out->better_stride; more++) {
        smp_elements wider = *e;
        smp_layout plain = {0};
        for (int lane = 0; lane < SMP_WARP; lane++)
            wider.at[lane][0] += more * (lane - first);
        wider.active = e->active;
        if (wider.at[first][0] < 0)
            return;
        smp_bank_cost cost = cost_with(s, &wider, &plain);
        if (free_of_conflicts(cost, least)) {
            out->better_stride = stride + more;
            out->stride_cost = cost;
        }
    }
}

static void find_swizzle(const search *s, int least, smp_advice *out)
{
    const smp_elements *e = s->elements;
    int64_t length = e->dims > 1 ? e->dim[e->dims - 1] : bank_row(s);
    if (length <= 0 || length & (length - 1)) /* no power of two */
        return;
    static const int shifts[] = {0, -1, 1, -2, 2, -3, 3, -4, 4, 5};
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++)
        for (int64_t mask = length - 1; mask > 0; mask >>= 1) {
            smp_layout layout = {.period = e->dims > 1 ? 0 : length, .shift = shifts[i], .mask = mask};
            smp_bank_cost cost = cost_with(s, e, &layout);
            if (free_of_conflicts(cost, least)) {
                out->swizzle = layout;
                out->swizzle_cost = cost;
                return;
            }
        }
}

/* A struct with an odd number of words has no conflicts where lanes access one member of neighbours. */
static void find_size(const search *s, int least, smp_advice *out)
{
    enum { WORD = 4, MOST_WORDS = 16 };
    smp_elements wider = *s->elements;
    smp_layout plain = {0};
    const int size = size_of(s);
    if (size <= s->width || size % WORD)
        return;
    for (int words = 1; words <= MOST_WORDS; words++) {
        wider.size = size + words * WORD;
        const smp_bank_cost cost = cost_with(s, &wider, &plain);
        if (free_of_conflicts(cost, least)) {
            out->better_size = wider.size;
            out->size_cost = cost;
            return;
        }
    }
}

void smp_advise(const smp_elements *elements, smp_bank_op op, int width, smp_advice *out)
{
    search s = {elements, op, width};
    smp_layout plain = {0};
    memset(out, 0, sizeof *out);
    out->cost = cost_with(&s, elements, &plain);
    out->least = least_wavefronts(&s, out->cost);
    if (free_of_conflicts(out->cost, out->least))
        return;
    find_stride(&s, out->least, out);
    find_pad(&s, out->least, out);
    find_swizzle(&s, out->least, out);
    find_size(&s, out->least, out);
}

bool smp_advise_access(const smp_bank_access *access, smp_advice *advice)
{
    smp_elements elements = {.active = access->active, .dims = 1};
    if (!access->active || access->op >= SMP_BANK_ASYNC)
        return false;
    for (int l = 0; l < SMP_WARP; l++)
        elements.at[l][0] = access->offset[l] / (uint32_t)access->width;
    smp_advise(&elements, access->op, access->width, advice);
    return true;
}

bool smp_advise_change(const smp_bank_access *access, smp_bank_change *change)
{
    smp_advice advice;
    if (!smp_advise_access(access, &advice))
        return false;
    const bool frees = advice.pad.pad, pads = frees || (advice.best_pad.pad && !advice.swizzle.mask);
    const smp_layout *pad = frees ? &advice.pad : &advice.best_pad;
    if (!pads && !advice.swizzle.mask)
        return false;
    change->wavefronts = frees  ? advice.pad_cost.wavefronts
                         : pads ? advice.best_pad_cost.wavefronts
                                : advice.swizzle_cost.wavefronts;
    change->pad_share = pads ? (double)pad->pad / (double)pad->period : 0;
    return true;
}
