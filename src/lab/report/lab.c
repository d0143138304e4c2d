/* The lab's table for people, and what its reports share. */
#include "lab/report/lab.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "lab/report/bank_map.h"
#include "report/text.h"

struct smp_lab_source {
    char *path, *text;
    char **lines;
    size_t line_count;
};

enum { MOST_SOURCE = 16 << 20 }; /* bytes of a file that is shown */

/* ------------------------------------------------------------------------------------------------ sources */

static void read_source(struct smp_lab_source *source, const char *path)
{
    size_t capacity = 0, size, lines = 0;
    smp_error err; /* of more than MOST_SOURCE bytes the first are shown */
    source->path = smp_strdup(path);
    if (!path[0] || (smp_read_file(path, MOST_SOURCE, &source->text, &size, &err) && !source->text))
        return;
    for (char *at = source->text; at && smp_grow(&source->lines, &capacity, lines + 1, sizeof *source->lines);) {
        source->lines[lines++] = at;
        at = strchr(at, '\n');
        if (at)
            *at++ = 0;
    }
    source->line_count = lines;
    for (size_t i = 0; i < lines; i++)
        source->lines[i][strcspn(source->lines[i], "\r\n")] = 0;
}

/* Null: no memory. */
static const struct smp_lab_source *find_source(smp_lab_sources *sources, const char *path)
{
    size_t at = 0;
    while (at < sources->count && sources->files[at].path && strcmp(sources->files[at].path, path) != 0)
        at++;
    if (at == sources->count) {
        if (!smp_grow(&sources->files, &sources->capacity, at + 1, sizeof *sources->files))
            return NULL;
        memset(&sources->files[at], 0, sizeof *sources->files);
        read_source(&sources->files[at], path);
        sources->count++;
    }
    return &sources->files[at];
}

const char *smp_lab_text(smp_lab_sources *sources, const char *path, uint32_t line)
{
    const struct smp_lab_source *source = find_source(sources, path);
    return source && line && line <= source->line_count ? source->lines[line - 1] : "";
}

uint32_t smp_lab_line_count(smp_lab_sources *sources, const char *path)
{
    const struct smp_lab_source *source = find_source(sources, path);
    return source && source->line_count < UINT32_MAX ? (uint32_t)source->line_count : 0;
}

const char *smp_lab_line(smp_lab_sources *sources, const char *path, uint32_t line)
{
    const char *text = smp_lab_text(sources, path, line);
    return text + strspn(text, " \t");
}

void smp_lab_sources_free(smp_lab_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        smp_free_all(sources->files[i].path, sources->files[i].text, sources->files[i].lines);
    }
    smp_free(sources->files);
    memset(sources, 0, sizeof *sources);
}

const char *smp_lab_path(const smp_warp_result *result, uint32_t file)
{
    return file < result->file_count ? result->files[file] : "";
}

const char *smp_lab_file(const smp_warp_result *result, uint32_t file)
{
    return smp_base_name(file < result->file_count ? result->files[file] : "");
}

/* ------------------------------------------------------------------------------------------------ the table */

enum { AT = 4, SOURCE = 28, ACCESS = 13, BYTES = 2, COUNT = 9, WAYS = 5, SECTORS = 11 };

void smp_lab_number(FILE *to, uint64_t value, int columns)
{
    static const char *const units[] = {"%.0f", "%.1fk", "%.1fM", "%.1fG", "%.1fT"};
    char text[32];
    double shown = (double)value;
    int unit = 0;
    for (; shown >= 99999999.5 && unit < 4; unit++)
        shown /= 1000;
    snprintf(text, sizeof text, units[unit], shown);
    fprintf(to, " %*s", columns, text);
}

const char *smp_lab_access_name(const smp_warp_row *row)
{
    static const char *const names[][4] = {{"shared load", "shared store", "shared atomic", "shared copy"},
                                           {"global load", "global store", "global atomic", "global copy"},
                                           {"local load", "local store", "local atomic", "local copy"},
                                           {"spill load", "spill store", "spill atomic", "spill copy"}};
    return names[row->spill ? SMP_WARP_LOCAL + 1 : row->space][row->op];
}

static double each(uint64_t sum, uint64_t count)
{
    return count ? (double)sum / (double)count : 0;
}

static void put_row(FILE *to, const smp_warp_result *result, const smp_warp_row *row, smp_lab_sources *sources,
                    const smp_paint *paint)
{
    const char *path = row->file < result->file_count ? result->files[row->file] : "";
    char text[40];
    fprintf(to, "  %5u  ", row->line);
    smp_text_column(to, row->instruction[0] ? row->instruction : smp_lab_line(sources, path, row->line), SOURCE);
    fprintf(to, "  %-*s %*u", ACCESS, smp_lab_access_name(row), BYTES, row->width);
    smp_lab_number(to, row->instructions, COUNT);
    if (row->space == SMP_WARP_SHARED) {
        smp_lab_number(to, row->wavefronts, COUNT);
        smp_lab_number(to, row->ideal, COUNT);
        fputs(row->conflicts ? paint->red : "", to);
        smp_lab_number(to, row->conflicts, COUNT);
        snprintf(text, sizeof text, "%.3g", each(row->wavefronts, row->ideal));
        fprintf(to, " %*s%s", WAYS, text, row->conflicts ? paint->off : "");
    } else
        fprintf(to, "%*s", 3 * (COUNT + 1) + WAYS + 1, "");
    snprintf(text, sizeof text, "%.3g", each(row->lanes, row->instructions));
    fprintf(to, " %*s", WAYS, text);
    if (row->space != SMP_WARP_SHARED) {
        const bool bad = row->sectors > row->sectors_ideal;
        snprintf(text, sizeof text, "%.3g / %.3g", each(row->sectors, row->instructions),
                 each(row->sectors_ideal, row->instructions));
        fprintf(to, " %s%*s%s", bad ? paint->yellow : "", SECTORS, text, bad ? paint->off : "");
    }
    fputc('\n', to);
}

/* With --each: an instruction that accesses no memory, or never ran. */
static void put_step(FILE *to, const smp_warp_step *step)
{
    char text[40];
    fprintf(to, "  %5u  ", step->line);
    smp_text_column(to, step->text, SOURCE);
    fprintf(to, "  %*s", ACCESS + 1 + BYTES, "");
    smp_lab_number(to, step->runs, COUNT);
    snprintf(text, sizeof text, "%.3g", each(step->lanes, step->runs));
    fprintf(to, "%*s %*s\n", 3 * (COUNT + 1) + WAYS + 1, "", WAYS, step->runs ? text : "");
}

/* Lanes, bytes, and how the blocks fill a GPU. */
static void put_work(FILE *to, const smp_warp_result *r)
{
    enum { SECTOR = 32 };
    const smp_lab_total t = smp_lab_total_of(r);
    const char *gpu;
    char moved[32], needed[32];
    double waves;
    smp_text_bytes(moved, sizeof moved, (double)(t.sectors * SECTOR));
    smp_text_bytes(needed, sizeof needed, (double)(t.sectors_ideal * SECTOR));
    fprintf(to, "  %llu warp instructions, %.3g of 32 lanes active", (unsigned long long)r->instructions,
            each(r->lane_instructions, r->instructions));
    if (t.sectors)
        fprintf(to, "; global memory: %s moved, %s needed", moved, needed);
    if (smp_lab_waves(r, &waves, &gpu)) {
        const double last = waves - floor(waves);
        fprintf(to, "; %.3g waves (%s)", waves, gpu);
        if (last > 0 && waves > 1)
            fprintf(to, ", the last fills %.0f %% of it", 100 * last);
    }
    fputc('\n', to);
}

static void put_head(FILE *to, const smp_warp_result *r, const smp_paint *paint)
{
    fprintf(to, "%s", paint->bold);
    smp_text_clean(to, r->kernel);
    if (!r->grid[0]) {
        fprintf(to, "%s\n", paint->off);
        return;
    }
    fprintf(to, "%s  grid %ux%ux%u, block %ux%ux%u, %u bytes of shared memory", paint->off, r->grid[0], r->grid[1],
            r->grid[2], r->block[0], r->block[1], r->block[2], r->shared + r->dynamic_shared);
    if (r->launches > 1)
        fprintf(to, ", %llu launches", (unsigned long long)r->launches);
    if (r->blocks_run < r->blocks)
        fprintf(to, ", %llu of its %llu blocks ran", (unsigned long long)r->blocks_run, (unsigned long long)r->blocks);
    fputc('\n', to);
    if (r->fit.arch)
        fprintf(to, "  %u registers a thread; an SM of sm_%d holds %u block%s, occupancy %.0f %%, limited by %s\n",
                r->fit.registers, r->fit.arch, r->fit.blocks, r->fit.blocks == 1 ? "" : "s", 100 * r->fit.occupancy,
                r->fit.limit);
    put_work(to, r);
    smp_lab_mix_text(to, r);
    const smp_warp_stack *s = &r->stack;
    if (s->spilled)
        fprintf(
            to,
            "  %s%u bytes of registers spilled%s to local memory, by instructions that store %u and load %u bytes\n",
            paint->yellow, s->spilled, paint->off, s->stores, s->loads);
    if (s->whole >= s->spilled + 16) /* less is what the stack is aligned by */
        fprintf(to, "  %u bytes of local memory a thread for arrays and calls\n", s->whole - s->spilled);
}

static void put_columns(FILE *to, const smp_paint *paint)
{
    fprintf(to, "%s  %5s  %-*s  %-*s %*s %*s %*s %*s %*s %*s %*s %*s%s\n", paint->dim, "line", SOURCE, "source", ACCESS,
            "access", BYTES, "B", COUNT, "instr.", COUNT, "wavefr.", COUNT, "ideal", COUNT, "conflicts", WAYS, "n-way",
            WAYS, "lanes", SECTORS, "sectors", paint->off);
}

/* ------------------------------------------------------------------------------------------------ advice */

/* The line of global memory that costs most, where another order of threads would mend it. */
static void put_scattered(FILE *to, const smp_warp_result *result)
{
    const smp_warp_row *row = smp_lab_dearest(result, 1u << SMP_WARP_GLOBAL);
    char text[SMP_LAB_ADVICE], saved[SMP_LAB_SAVED];
    if (!row || !smp_lab_advice(result, row, text, sizeof text))
        return;
    fprintf(to, "  to mend %s:%u: ", smp_lab_file(result, row->file), row->line);
    smp_text_wrap(to, text, AT, AT);
    if (smp_lab_saved(result, row, saved)[0])
        fprintf(to, "  side by side%s\n", saved);
}

static void put_advice(FILE *to, const smp_warp_result *result, bool map, bool color)
{
    const smp_warp_row *row = smp_lab_dearest(result, 1u << SMP_WARP_SHARED);
    char advice[SMP_LAB_ADVICE], saved[SMP_LAB_SAVED];
    smp_bank_access access;
    put_scattered(to, result);
    if (!row || !row->worst_active || row->worst_wavefronts <= row->worst_ideal)
        return;
    fprintf(to, "  worst: %s:%u, a %.3g-way conflict: %u wavefronts where %u would do\n",
            smp_lab_file(result, row->file), row->line, each(row->worst_wavefronts, row->worst_ideal),
            row->worst_wavefronts, row->worst_ideal);
    if (smp_lab_advice(result, row, advice, sizeof advice))
        fprintf(to, "  to avoid it: %s%s\n", advice, smp_lab_saved(result, row, saved));
    else if (smp_lab_saved(result, row, saved)[0])
        fprintf(to, "  without its conflicts%s\n", saved);
    for (size_t i = 0; i < result->array_count; i++)
        if (result->arrays[i].tip[0] && strcmp(result->arrays[i].name, row->array) != 0)
            fprintf(to, "  and: %s\n", result->arrays[i].tip);
    if (map && smp_lab_access(row, false, &access))
        smp_bank_map_text(to, &access, color);
}

/* ------------------------------------------------------------------------------------------------ findings */

static void put_place(FILE *to, const smp_warp_result *result, const smp_warp_place *p)
{
    if (!p->line)
        return;
    const char *file = smp_lab_file(result, p->file);
    smp_text_clean(to, file);
    fprintf(to, file[0] ? ":%u" : "line %u of the PTX", p->line);
    if (result->grid[0])
        fprintf(to, " thread %u,%u,%u", p->thread[0], p->thread[1], p->thread[2]);
}

static void put_measurements(FILE *to, const smp_warp_result *result, const smp_paint *paint)
{
    for (size_t i = 0; i < result->finding_count; i++) {
        const smp_warp_finding *f = &result->findings[i];
        fprintf(to, "  %s%s%s  ", paint->red, smp_warp_fault_name(f->fault), paint->off);
        put_place(to, result, &f->here);
        if (f->other.line) {
            fputs(" and ", to);
            put_place(to, result, &f->other);
        }
        if (result->grid[0])
            fprintf(to, ", block %u,%u,%u", f->block[0], f->block[1], f->block[2]);
        if (memcmp(f->block, f->other_block, sizeof f->block) != 0)
            fprintf(to, " and %u,%u,%u", f->other_block[0], f->other_block[1], f->other_block[2]);
        fputs(f->here.line ? ": " : "", to);
        smp_text_clean(to, f->text);
        if (f->count > 1)
            fprintf(to, " (%llu times)", (unsigned long long)f->count);
        fputc('\n', to);
    }
    if (result->stopped) {
        fprintf(to, "  %sstopped%s  ", paint->red, paint->off);
        smp_text_clean(to, result->error.message);
        const bool hint = result->error.hint[0] != 0; /* of PTX that cannot run: the source line that it comes from */
        if (hint || result->error.where[0]) {
            fputs(hint ? "; " : " (", to);
            smp_text_clean(to, hint ? result->error.hint : result->error.where);
            fputs(hint ? "" : ")", to);
        }
        fputc('\n', to);
    }
}

static void put_notes(FILE *to, const smp_warp_result *result, const smp_paint *paint)
{
    for (const char *at = result->notes; *at;) {
        char line[400];
        const size_t size = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)size, at);
        fprintf(to, "  %snote%s  ", paint->yellow, paint->off);
        smp_text_clean(to, line);
        fputc('\n', to);
        at += size + (at[size] == '\n');
    }
}

void smp_lab_table(FILE *to, const smp_warp_result *result, smp_lab_sources *sources, bool each_one, bool map,
                   bool color)
{
    const smp_warp_steps *steps = &result->steps[SMP_WARP_LISTING];
    size_t step = 0;
    const smp_paint paint = smp_paint_for(color);
    const char *shown = sources->program ? smp_base_name(sources->program) : NULL;
    put_head(to, result, &paint);
    smp_lab_time_text(to, result, sources, color);
    if (result->row_count || each_one)
        put_columns(to, &paint);
    for (size_t i = 0; i < result->row_count; i++) {
        for (; each_one && step < steps->count && steps->items[step].place <= result->rows[i].place + 1; step++)
            if (steps->items[step].place <= result->rows[i].place) /* the row's own is told by it */
                put_step(to, &steps->items[step]);
        const char *file = smp_lab_file(result, result->rows[i].file);
        if (shown && file[0] && strcmp(file, shown) != 0)
            fprintf(to, "  %s%s%s\n", paint.dim, file, paint.off);
        shown = file;
        put_row(to, result, &result->rows[i], sources, &paint);
    }
    for (; each_one && step < steps->count; step++)
        put_step(to, &steps->items[step]);
    put_advice(to, result, map, color);
    put_notes(to, result, &paint);
    put_measurements(to, result, &paint);
}
