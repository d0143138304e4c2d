/* Connected components by runs: see components.h. */
#include "stages/shared/components.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
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

static void add_run(smp_component *part, const smp_pixel_run *run, int64_t y)
{
    const int64_t n = run->to - run->from;
    if (!part->area)
        *part = (smp_component){.left = run->from, .right = run->to - 1, .top = y};
    part->area += n;
    part->left = smp_min_i64(part->left, run->from);
    part->right = smp_max_i64(part->right, run->to - 1);
    part->bottom = y;
    part->sum_x += (run->from + (int64_t)run->to - 1) * n / 2;
    part->sum_y += y * n;
}

/* A run's parent comes before it, so that one walk in order numbers all. */
static smp_code number(smp_components *found, int64_t height, smp_error *err)
{
    smp_pixel_run *runs = found->runs;
    for (size_t i = 0; i < found->run_count; i++)
        found->count += runs[i].part == i;
    found->parts = smp_alloc_array(found->count + 1, sizeof *found->parts);
    if (!found->parts)
        return smp_fail_memory(err, "components", found->count * sizeof *found->parts);
    uint32_t next = 0;
    for (int64_t y = 0; y < height; y++)
        for (size_t i = found->first[y]; i < found->first[y + 1]; i++) {
            runs[i].part = runs[i].part == i ? next++ : runs[runs[i].part].part;
            add_run(&found->parts[runs[i].part], &runs[i], y);
        }
    return SMP_OK;
}

smp_code smp_components_find(const void *bits, int64_t width, int64_t height, int connectivity, smp_components *found,
                             smp_error *err)
{
    const int64_t words = smp_bits_words(width) / 2;
    *found = (smp_components){.first = smp_alloc_array((size_t)height + 1, sizeof *found->first)};
    if (!found->first)
        return smp_fail_memory(err, "components", (uint64_t)height * sizeof *found->first);
    for (int64_t y = 0; y < height; y++)
        found->first[y + 1] = found->first[y] + runs_of_row(row_at(bits, width, y), words);
    found->run_count = found->first[height];
    if (found->run_count >= UINT32_MAX)
        return smp_fail(err, SMP_E_PROCESS, "the picture has more parts than can be numbered");
    found->runs = smp_alloc_array(found->run_count + 1, sizeof *found->runs);
    if (!found->runs)
        return smp_fail_memory(err, "components", (uint64_t)found->run_count * sizeof *found->runs);
    for (int64_t y = 0; y < height; y++) {
        const size_t here = found->first[y], end = found->first[y + 1];
        write_runs(found->runs + here, row_at(bits, width, y), words);
        for (size_t i = here; i < end; i++)
            found->runs[i].part = (uint32_t)i;
        if (y > 0)
            join_rows(found->runs, found->first[y - 1], here, end, connectivity == 8);
    }
    return number(found, height, err);
}

void smp_components_free(smp_components *found)
{
    smp_free(found->runs);
    smp_free(found->first);
    smp_free(found->parts);
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
