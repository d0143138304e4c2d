/* Connected components by runs: see components.h. */
#include "stages/shared/reduce/components.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/pool.h"
#include "stages/shared/launch_shapes.h"

static uint64_t word_at(const char *row, int64_t k)
{
    uint64_t word;
    memcpy(&word, row + k * (int64_t)sizeof word,
           sizeof word); /* little endian: word x / 64 has pixel x at bit x % 64 */
    return word;
}

static const char *row_at(const void *bits, int64_t width, int64_t y)
{
    return (const char *)bits + y * smp_bits_words(width) * (int64_t)sizeof(uint32_t);
}

static size_t runs_of_row(const char *row, int64_t words)
{
    size_t count = 0;
    uint64_t before = 0;
    for (int64_t k = 0; k < words; k++) {
        const uint64_t word = word_at(row, k);
        count += (size_t)__builtin_popcountll(word & ~(word << 1 | before));
        before = word >> 63;
    }
    return count;
}

/* Writes the runs of a row: bits that differ from the one before are where runs begin and end in turn. */
static smp_pixel_run *write_runs(smp_pixel_run *run, const char *row, int64_t words)
{
    uint64_t before = 0;
    for (int64_t k = 0; k < words; k++) {
        const uint64_t word = word_at(row, k);
        uint64_t changes = word ^ (word << 1 | before);
        bool inside = before != 0;
        for (; changes; changes &= changes - 1, inside = !inside) {
            const int32_t x = (int32_t)(k * 64 + __builtin_ctzll(changes));
            if (inside)
                run++->to = x;
            else
                run->from = x;
        }
        before = word >> 63;
    }
    if (before)
        run++->to = (int32_t)(words * 64);
    return run;
}

/* Roots are found by halving paths; `part` is the parent while components are joined. */
static uint32_t root_of(smp_pixel_run *runs, uint32_t at)
{
    while (runs[at].part != at) {
        runs[at].part = runs[runs[at].part].part;
        at = runs[at].part;
    }
    return at;
}

static void join(smp_pixel_run *runs, uint32_t a, uint32_t b)
{
    a = root_of(runs, a);
    b = root_of(runs, b);
    if (a < b)
        runs[b].part = a;
    else
        runs[a].part = b;
}

/* Joins the runs of a row with those above that they touch. */
static void join_rows(smp_pixel_run *runs, size_t above, size_t here, size_t end, int32_t near)
{
    size_t up = above;
    for (size_t i = here; i < end; i++) {
        while (up < here && runs[up].to + near <= runs[i].from)
            up++;
        for (size_t k = up; k < here && runs[k].from < runs[i].to + near; k++)
            join(runs, (uint32_t)i, (uint32_t)k);
    }
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static void add_run(smp_component *part, const smp_pixel_run *run, int64_t y)
{
    const int64_t n = run->to - run->from;
    if (!part->area)
        *part = (smp_component){.left = run->from, .right = run->to - 1, .top = (int32_t)y};
    part->area += (uint64_t)n;
    part->left = least(part->left, run->from);
    part->right = most(part->right, run->to - 1);
    part->bottom = (int32_t)y;
    part->sum_x += (uint64_t)((run->from + (int64_t)run->to - 1) * n / 2);
    part->sum_y += (uint64_t)(y * n);
}

/* ------------------------------------------------------------------------------------------------ bands */

/* Rows that a thread takes. Components are numbered, and measured, within the band at first. */
typedef struct band {
    int64_t from, to; /* rows */
    smp_component *parts;
    size_t count;
    uint32_t before; /* components of the bands above */
    bool failed;     /* for want of memory */
} band;

typedef struct search {
    const void *bits;
    int64_t width, words; /* words of 64 bits */
    int32_t near;
    smp_components *found;
    band *bands;
    int count;
    uint32_t *of; /* by before + number in the band: at first another one of its component, then the number of that */
} search;

static void count_rows(void *context, int part)
{
    const search *s = context;
    for (int64_t y = s->bands[part].from; y < s->bands[part].to; y++)
        s->found->first[y + 1] = runs_of_row(row_at(s->bits, s->width, y), s->words);
}

/* A run's parent comes before it, so that one walk in order numbers all. */
static void number_band(const search *s, band *b)
{
    smp_pixel_run *runs = s->found->runs;
    const size_t *first = s->found->first;
    for (size_t i = first[b->from]; i < first[b->to]; i++)
        b->count += runs[i].part == i;
    b->parts = smp_alloc_array(b->count + 1, sizeof *b->parts);
    b->failed = !b->parts;
    uint32_t next = 0;
    for (int64_t y = b->from; y < b->to && !b->failed; y++)
        for (size_t i = first[y]; i < first[y + 1]; i++) {
            runs[i].part = runs[i].part == i ? next++ : runs[runs[i].part].part;
            add_run(&b->parts[runs[i].part], &runs[i], y);
        }
}

static void join_band(void *context, int part)
{
    const search *s = context;
    band *b = &s->bands[part];
    smp_pixel_run *runs = s->found->runs;
    const size_t *first = s->found->first;
    for (int64_t y = b->from; y < b->to; y++) {
        write_runs(runs + first[y], row_at(s->bits, s->width, y), s->words);
        for (size_t i = first[y]; i < first[y + 1]; i++)
            runs[i].part = (uint32_t)i;
        if (y > b->from)
            join_rows(runs, first[y - 1], first[y], first[y + 1], s->near);
    }
    number_band(s, b);
}

static void number_runs(void *context, int part)
{
    const search *s = context;
    const band *b = &s->bands[part];
    for (size_t i = s->found->first[b->from]; i < s->found->first[b->to]; i++)
        s->found->runs[i].part = s->of[b->before + s->found->runs[i].part];
}

/* ------------------------------------------------------------------------------------------------ across bands */

static uint32_t top_of(uint32_t *of, uint32_t at)
{
    while (of[at] != at)
        at = of[at] = of[of[at]];
    return at;
}

/* Joins the components of band b's first row with those of the band above. */
static void join_seam(const search *s, int b)
{
    const smp_pixel_run *runs = s->found->runs;
    const size_t *first = s->found->first + s->bands[b].from;
    size_t up = first[-1];
    for (size_t i = first[0]; i < first[1]; i++) {
        while (up < first[0] && runs[up].to + s->near <= runs[i].from)
            up++;
        for (size_t k = up; k < first[0] && runs[k].from < runs[i].to + s->near; k++) {
            const uint32_t x = top_of(s->of, s->bands[b].before + runs[i].part);
            const uint32_t y = top_of(s->of, s->bands[b - 1].before + runs[k].part);
            s->of[x > y ? x : y] = x > y ? y : x;
        }
    }
}

static void add_component(smp_component *to, const smp_component *more)
{
    to->area += more->area;
    to->left = least(to->left, more->left);
    to->top = least(to->top, more->top);
    to->right = most(to->right, more->right);
    to->bottom = most(to->bottom, more->bottom);
    to->sum_x += more->sum_x;
    to->sum_y += more->sum_y;
}

/* Numbers all in order: those of a component come behind the first, which is the one that they hang below. */
static smp_code join_bands(search *s, smp_error *err)
{
    size_t all = 0;
    for (int b = 0; b < s->count; b++) {
        s->bands[b].before = (uint32_t)all;
        all += s->bands[b].count;
    }
    s->of = smp_alloc_array(all + 1, sizeof *s->of);
    s->found->parts = smp_alloc_array(all + 1, sizeof *s->found->parts);
    SMP_NEED(s->of && s->found->parts, "components", all * sizeof *s->found->parts, err);
    for (size_t i = 0; i < all; i++)
        s->of[i] = (uint32_t)i;
    for (int b = 1; b < s->count; b++)
        join_seam(s, b);
    for (int b = 0; b < s->count; b++)
        for (size_t i = 0; i < s->bands[b].count; i++) {
            const size_t at = s->bands[b].before + i;
            const bool first = s->of[at] == at;
            const uint32_t number = first ? (uint32_t)s->found->count++ : s->of[s->of[at]];
            s->of[at] = number;
            if (first)
                s->found->parts[number] = s->bands[b].parts[i];
            else
                add_component(&s->found->parts[number], &s->bands[b].parts[i]);
        }
    return SMP_OK;
}

/* ------------------------------------------------------------------------------------------------ all */

/* Cuts as many bands as there are threads, if each has enough to do for one to begin. */
static smp_code cut(search *s, int64_t height, int threads, smp_error *err)
{
    enum { WORTH = 1 << 14 }; /* words of 64 bits */
    const int64_t worth = smp_max_i64(1, smp_min_i64(s->words * height / WORTH, height));
    s->count = (int)smp_clamp_i64(threads, 1, worth);
    s->bands = smp_alloc_array((size_t)s->count, sizeof *s->bands);
    SMP_NEED(s->bands, "bands of rows", (size_t)s->count * sizeof *s->bands, err);
    for (int b = 0; b < s->count; b++)
        s->bands[b] = (band){.from = height * b / s->count, .to = height * (b + 1) / s->count};
    return SMP_OK;
}

static smp_code search_in(search *s, smp_pool *pool, int64_t height, smp_error *err)
{
    smp_components *found = s->found;
    smp_pool_run(pool, s->count, count_rows, s);
    for (int64_t y = 0; y < height; y++)
        found->first[y + 1] += found->first[y];
    const size_t runs = found->first[height];
    if (runs >= UINT32_MAX)
        return smp_fail(err, SMP_E_PROCESS, "the picture has more parts than can be numbered");
    found->runs = smp_alloc_array(runs + 1, sizeof *found->runs);
    SMP_NEED(found->runs, "components", (uint64_t)runs * sizeof *found->runs, err);
    smp_pool_run(pool, s->count, join_band, s);
    for (int b = 0; b < s->count; b++)
        if (s->bands[b].failed)
            return smp_fail_memory(err, "components", s->bands[b].count * sizeof *found->parts);
    if (s->count == 1) {
        found->parts = s->bands[0].parts;
        found->count = s->bands[0].count;
        s->bands[0].parts = NULL;
        return SMP_OK;
    }
    SMP_TRY(join_bands(s, err));
    smp_pool_run(pool, s->count, number_runs, s);
    return SMP_OK;
}

smp_code smp_components_find(const void *bits, int64_t width, int64_t height, int connectivity, int threads,
                             smp_components *found, smp_error *err)
{
    search s = {
        .bits = bits, .width = width, .words = smp_bits_words(width) / 2, .near = connectivity == 8, .found = found};
    smp_pool *pool = NULL;
    *found = (smp_components){.first = smp_alloc_array((size_t)height + 1, sizeof *found->first)};
    smp_code code = found->first ? SMP_OK : smp_fail_memory(err, "components", (uint64_t)height * sizeof *found->first);
    code = code ? code : cut(&s, height, threads, err);
    code = code ? code : smp_pool_open(s.count, &pool, err);
    code = code ? code : search_in(&s, pool, height, err);
    if (pool)
        smp_pool_close(pool);
    for (int b = 0; b < s.count && s.bands; b++)
        smp_free(s.bands[b].parts);
    smp_free_all(s.bands, s.of);
    return code;
}

void smp_components_free(smp_components *found)
{
    smp_free_all(found->runs, found->first, found->parts);
    *found = (smp_components){0};
}

void smp_bits_set(uint32_t *words, int64_t from, int64_t to)
{
    while (from < to) {
        const int64_t bit = from % SMP_BITS_WORD, n = smp_min_i64(to - from, SMP_BITS_WORD - bit);
        words[from / SMP_BITS_WORD] |= (n == SMP_BITS_WORD ? UINT32_MAX : (1u << n) - 1) << bit;
        from += n;
    }
}

void smp_geometry_bit_words(const smp_io *io, const void *kernel, smp_grid *grid)
{
    const smp_io words = smp_grid_over(io, smp_bits_words(io->in.width), io->out.rows, 1);
    smp_geometry_samples(&words, kernel, grid);
}

smp_io smp_grid_over_bits(const smp_io *io)
{
    return smp_grid_over(io, smp_bits_words(io->in.width) * SMP_BITS_WORD, io->out.rows, 1);
}
