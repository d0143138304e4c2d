/* The first screen of a program with many kernels or shapes: the lines that cost most over all launches, the kernels
 * with their launches folded, findings, notes. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "lab/report/lab_issues.h"
#include "report/text.h"

enum { FEW = 3, LINES = 8, KERNELS = 10, FINDINGS = 6, NOTES = 3 }; /* rows of each part */
enum { PLACE = 20, SOURCE = 24, ACCESS = 13, NAME = 18, COUNT = 7, BYTES = 9, RATIO = SMP_LAB_RATIO, TEXT = 64 };

bool smp_lab_is_long(const smp_lab_report *report)
{
    return report->count > FEW;
}

/* The launches of one kernel. */
typedef struct kernel {
    const smp_warp_result *first, *most; /* most: the shape of most blocks */
    uint64_t launches, instructions, lanes;
    smp_lab_total total;
    double cost, us, low_us, high_us; /* predicted; 0: no launch was */
    const char *refusal, *left_out;   /* why a launch has no time, what its time leaves out; null: all have, nothing */
} kernel;

/* What is told of kernels: a line of a result's notes. */
typedef struct note {
    const char *text;
    size_t size;
    const char *kernel; /* that has it first */
    size_t kernels;     /* so many, where those of one name follow each other */
} note;

typedef struct screen {
    const smp_lab_report *report;
    const smp_lab_issues *issues;
    kernel *kernels;
    note *notes;
    size_t kernel_count, note_count, kernel_capacity, note_capacity;
    uint64_t launches, instructions, lanes;
    double us;
} screen;

/* ------------------------------------------------------------------------------------------------ gathering */

static void add_total(smp_lab_total *sum, const smp_lab_total *more)
{
    sum->wavefronts += more->wavefronts;
    sum->ideal += more->ideal;
    sum->conflicts += more->conflicts;
    sum->sectors += more->sectors;
    sum->sectors_ideal += more->sectors_ideal;
}

static bool add_kernel(screen *s, const smp_warp_result *r)
{
    const smp_lab_total total = smp_lab_total_of(r);
    size_t at = 0;
    if (!r->grid[0]) /* calls of the host */
        return true;
    while (at < s->kernel_count && strcmp(s->kernels[at].first->kernel, r->kernel) != 0)
        at++;
    if (at == s->kernel_count) {
        if (!smp_grow(&s->kernels, &s->kernel_capacity, at + 1, sizeof *s->kernels))
            return false;
        s->kernels[s->kernel_count++] = (kernel){.first = r, .most = r};
    }
    kernel *k = &s->kernels[at];
    k->launches += r->launches;
    k->instructions += r->instructions;
    k->lanes += r->lane_instructions;
    k->most = r->blocks > k->most->blocks ? r : k->most;
    add_total(&k->total, &total);
    for (size_t i = 0; r->predictions && i < r->predictions->count; i++) {
        k->us += r->predictions->items[i].us;
        k->low_us += r->predictions->items[i].low_us;
        k->high_us += r->predictions->items[i].high_us;
        s->us += r->predictions->items[i].us;
        if (!k->refusal && r->predictions->items[i].refusal[0])
            k->refusal = r->predictions->items[i].refusal;
        if (!k->left_out && r->predictions->items[i].left_out[0])
            k->left_out = r->predictions->items[i].left_out;
    }
    for (size_t i = 0; i < r->row_count; i++)
        k->cost += smp_lab_issue_cost(&r->rows[i]);
    s->launches += r->launches;
    s->instructions += r->instructions;
    s->lanes += r->lane_instructions;
    return true;
}

/* A note of one kernel, or of several. */
static bool add_notes(screen *s, const smp_warp_result *r)
{
    for (const char *at = r->notes; *at; at += at[0] == '\n') {
        const size_t size = strcspn(at, "\n");
        size_t i = 0;
        while (i < s->note_count && (s->notes[i].size != size || memcmp(s->notes[i].text, at, size) != 0))
            i++;
        if (i == s->note_count) {
            if (!smp_grow(&s->notes, &s->note_capacity, s->note_count + 1, sizeof *s->notes))
                return false;
            s->notes[s->note_count++] = (note){at, size, r->kernel, 1};
        } else
            s->notes[i].kernels += strcmp(s->notes[i].kernel, r->kernel) != 0;
        at += size;
    }
    return true;
}

/* By predicted time, then by what could go, then by instructions. */
static int by_weight(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    if (x->us < y->us || x->us > y->us)
        return x->us > y->us ? -1 : 1;
    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost > y->cost ? -1 : 1;
    if (x->instructions != y->instructions)
        return x->instructions > y->instructions ? -1 : 1;
    return strcmp(x->first->kernel, y->first->kernel);
}

static bool gather(screen *s)
{
    bool fits = true;
    for (size_t i = 0; i < s->report->count && fits; i++)
        fits = (!s->report->results[i].grid[0] || add_kernel(s, &s->report->results[i])) &&
               add_notes(s, &s->report->results[i]);
    if (s->kernel_count)
        qsort(s->kernels, s->kernel_count, sizeof *s->kernels, by_weight);
    return fits;
}

/* ------------------------------------------------------------------------------------------------ showing */

/* "15.9k" */
static const char *brief(uint64_t value, char text[TEXT])
{
    static const char *const units[] = {"%.0f", "%.3gk", "%.3gM", "%.3gG", "%.3gT"};
    const double thousand = 1000, shown_whole = 9999.5;
    double shown = (double)value;
    int unit = 0;
    if (shown >= shown_whole)
        for (; shown >= thousand - 0.5 && unit < 4; unit++)
            shown /= thousand;
    snprintf(text, TEXT, units[unit], shown);
    return text;
}

static void put_name(FILE *to, const char *name, uint64_t launches)
{
    char text[TEXT];
    smp_text_clean(to, name);
    if (launches > 1)
        fprintf(to, " x %s", brief(launches, text));
}

static void put_more(FILE *to, size_t count, size_t shown, const char *what, const smp_paint *paint)
{
    if (count > shown)
        fprintf(to, "  %sand %zu more %s%s%s\n", paint->dim, count - shown, what, count == shown + 1 ? "" : "s",
                paint->off);
}

static uint64_t launches_of(const screen *s, const char *name)
{
    for (size_t i = 0; i < s->kernel_count; i++)
        if (!strcmp(s->kernels[i].first->kernel, name))
            return s->kernels[i].launches;
    return 0;
}

/* "transpose.cu:18", cut in front of the line. */
static void place_of(const smp_lab_issue *l, char text[TEXT])
{
    const char *name = smp_base_name(l->path);
    const int digits = snprintf(text, TEXT, ":%u", l->line), room = PLACE - digits;
    if (strlen(name) <= (size_t)room)
        snprintf(text, TEXT, "%s:%u", name, l->line);
    else
        snprintf(text, TEXT, "%.*s\u2026:%u", room - 1, name, l->line);
}

static void put_line(FILE *to, const screen *s, const smp_lab_issue *l, const smp_paint *paint)
{
    const smp_warp_row *row = &l->sum;
    const bool shared = row->space == SMP_WARP_SHARED;
    char place[TEXT], could[TEXT], all[TEXT], text[2 * TEXT + 16];
    place_of(l, place);
    fprintf(to, "  %3.0f %%  ", 100 * l->cost / s->issues->cost);
    smp_text_column(to, place, PLACE);
    fputs("  ", to);
    smp_text_column(to, smp_lab_line(s->report->sources, l->path, row->line), SOURCE);
    fprintf(to, "  %-*s  %s", ACCESS, smp_lab_access_name(row), shared ? paint->red : paint->yellow);
    if (row->space == SMP_WARP_LOCAL)
        snprintf(text, sizeof text, "all %s sectors", brief(row->sectors, all));
    else
        snprintf(text, sizeof text, "%s of %s %s",
                 brief(shared ? row->conflicts : row->sectors - row->sectors_ideal, could),
                 brief(shared ? row->wavefronts : row->sectors, all), shared ? "wavefronts" : "sectors");
    fprintf(to, "%-*s%s  ", SOURCE, text, paint->off);
    put_name(to, l->first->kernel, launches_of(s, l->first->kernel));
    if (l->kernels > 1)
        fprintf(to, " and %zu more", l->kernels - 1);
    if (smp_lab_saved_us(l->first, row) > 0)
        fprintf(to, ", saves %.3g us", smp_lab_saved_us(l->first, row));
    fputc('\n', to);
}

static void put_lines(FILE *to, const screen *s, const smp_paint *paint)
{
    const smp_lab_issue *costs = s->issues->items + (s->issues->count - s->issues->costs);
    char advice[SMP_LAB_ADVICE + SMP_LAB_SAVED], saved[SMP_LAB_SAVED];
    if (!s->issues->costs) {
        fprintf(to, "  no line has bank conflicts or spills, and none moves more sectors than it needs\n");
        return;
    }
    fprintf(to, "%s  share  %-*s  %-*s  %-*s  %-*s  kernel%s\n", paint->dim, PLACE, "the worst lines", SOURCE, "source",
            ACCESS, "access", SOURCE, "what could go", paint->off);
    for (size_t i = 0; i < s->issues->costs && i < LINES; i++)
        put_line(to, s, &costs[i], paint);
    put_more(to, s->issues->costs, LINES, "line", paint);
    if (costs[0].sum.space != SMP_WARP_LOCAL && smp_lab_advice(costs[0].first, &costs[0].sum, advice, SMP_LAB_ADVICE)) {
        enum { AT = 22 };
        const size_t used = strlen(advice);
        snprintf(advice + used, sizeof advice - used, "%s", smp_lab_saved(costs[0].first, &costs[0].sum, saved));
        fputs("  to avoid the first: ", to);
        smp_text_wrap(to, advice, AT, AT);
    }
}

/* The line whose branches split most warps; null: none does. */
static const smp_warp_step *most_split(const screen *s, const smp_warp_result **of)
{
    const smp_warp_step *most = NULL;
    for (size_t i = 0; i < s->report->count; i++)
        for (size_t k = 0; k < s->report->results[i].steps[SMP_WARP_LINES].count; k++) {
            const smp_warp_step *step = &s->report->results[i].steps[SMP_WARP_LINES].items[k];
            if (!step->splits || !step->line || (most && step->splits <= most->splits))
                continue;
            most = step;
            *of = &s->report->results[i];
        }
    return most;
}

static void put_split(FILE *to, const screen *s)
{
    const smp_warp_result *r = NULL;
    const smp_warp_step *step = most_split(s, &r);
    if (!step)
        return;
    fprintf(to, "  branches split warps most at %s:%u, ", smp_lab_file(r, step->file), step->line);
    smp_text_clean(to, r->kernel);
    fprintf(to, ": %llu times, %.3g of 32 lanes active there\n", (unsigned long long)step->splits,
            step->runs ? (double)step->lanes / (double)step->runs : 0);
}

static void put_bytes(FILE *to, uint64_t sectors)
{
    enum { SECTOR = 32 };
    char text[TEXT];
    smp_text_bytes(text, sizeof text, (double)(sectors * SECTOR));
    fprintf(to, " %*s", BYTES, sectors ? text : "-");
}

static void put_kernel(FILE *to, const kernel *k, bool predicted, const smp_paint *paint)
{
    const smp_warp_fit *fit = &k->first->fit;
    char text[TEXT];
    const char *gpu;
    double waves;
    fputs("  ", to);
    smp_text_column(to, k->first->kernel, NAME);
    fprintf(to, " %*s", COUNT + 1, brief(k->launches, text));
    fprintf(to, " %*s", COUNT, brief(k->instructions, text));
    smp_lab_ratio(to, k->lanes, k->instructions, "", "");
    smp_lab_ratio(to, k->total.wavefronts, k->total.ideal, paint->red, paint->off);
    put_bytes(to, k->total.sectors);
    put_bytes(to, k->total.sectors_ideal);
    smp_lab_ratio(to, k->total.sectors, k->total.sectors_ideal, paint->yellow, paint->off);
    snprintf(text, sizeof text, "%u %4.0f %% %-13.13s", fit->registers, 100 * fit->occupancy, fit->limit);
    fprintf(to, " %24s", fit->arch ? text : "-");
    if (k->us > 0)
        fprintf(to, " %.3g us (%.3g to %.3g)", k->us, k->low_us, k->high_us);
    else if (predicted)
        fputs(" -", to);
    else if (smp_lab_waves(k->most, &waves, &gpu))
        fprintf(to, " %5.2g", waves);
    fputc('\n', to);
}

static void put_caveat(FILE *to, const kernel *k, const char *what, const char *text)
{
    if (!text)
        return;
    fputs("  ", to);
    smp_text_clean(to, k->first->kernel);
    fprintf(to, ": %s: ", what);
    smp_text_clean(to, text);
    fputc('\n', to);
}

static void put_kernels(FILE *to, const screen *s, const smp_paint *paint)
{
    fprintf(to, "%s  %-*s %*s %*s %*s %*s %*s %*s %*s %4s %6s %-13s %s%s\n", paint->dim, NAME, "kernel", COUNT + 1,
            "launches", COUNT, "instr.", RATIO, "lanes", RATIO, "n-way", BYTES, "moved", BYTES, "needed", RATIO,
            "ratio", "regs", "occup.", "limit", s->us > 0 ? "predicted" : "waves", paint->off);
    for (size_t i = 0; i < s->kernel_count && i < KERNELS; i++)
        put_kernel(to, &s->kernels[i], s->us > 0, paint);
    put_more(to, s->kernel_count, KERNELS, "kernel", paint);
    for (size_t i = 0; i < s->kernel_count && i < KERNELS; i++) {
        put_caveat(to, &s->kernels[i], "not modelled", s->kernels[i].refusal);
        put_caveat(to, &s->kernels[i], "left out of its time", s->kernels[i].left_out);
    }
}

static void put_finding(FILE *to, const smp_lab_issue *issue, const smp_paint *paint)
{
    char text[SMP_LAB_ADVICE];
    smp_lab_issue_text(issue, text, sizeof text);
    fprintf(to, "  %s%s%s  ", paint->red, issue->rule, paint->off);
    if (issue->line)
        fprintf(to, "%s:%u", smp_base_name(issue->path), issue->line);
    if (issue->other_line)
        fprintf(to, " and %s:%u", smp_base_name(issue->other_path), issue->other_line);
    fputs(issue->line ? ", " : "", to);
    smp_text_clean(to, issue->first->kernel);
    if (issue->kernels > 1)
        fprintf(to, " and %zu more", issue->kernels - 1);
    fputs(": ", to);
    smp_text_clean(to, text);
    if (issue->count > 1)
        fprintf(to, " (%llu times)", (unsigned long long)issue->count);
    fputc('\n', to);
}

/* Whether it is the first of its kind in its kernel. */
static bool is_first(const smp_lab_issue *issues, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(issues[i].rule, issues[at].rule) && !strcmp(issues[i].first->kernel, issues[at].first->kernel))
            return false;
    return true;
}

static void put_findings(FILE *to, const screen *s, const smp_paint *paint)
{
    const size_t count = s->issues->count - s->issues->costs;
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        if (i < FINDINGS || is_first(s->issues->items, i)) {
            put_finding(to, &s->issues->items[i], paint);
            shown++;
        }
    put_more(to, count, shown, "finding", paint);
    for (size_t i = 0; i < s->note_count && i < NOTES; i++) {
        const note *n = &s->notes[i];
        char text[400];
        snprintf(text, sizeof text, "%.*s", (int)n->size, n->text);
        fprintf(to, "  %snote%s  ", paint->yellow, paint->off);
        smp_text_clean(to, n->kernel);
        if (n->kernels > 1)
            fprintf(to, " and %zu more", n->kernels - 1);
        fputs(": ", to);
        smp_text_clean(to, text);
        fputc('\n', to);
    }
    put_more(to, s->note_count, NOTES, "note", paint);
}

void smp_lab_program(FILE *to, const smp_lab_report *report, bool color, bool tables)
{
    const smp_paint paint = smp_paint_for(color);
    screen s = {.report = report, .issues = report->issues};
    char text[TEXT];
    if (gather(&s)) {
        fprintf(to, "\n%s%llu launches of %zu kernel%s%s, %s warp instructions, %.3g of 32 lanes active\n\n",
                paint.bold, (unsigned long long)s.launches, s.kernel_count, s.kernel_count == 1 ? "" : "s", paint.off,
                brief(s.instructions, text), s.instructions ? (double)s.lanes / (double)s.instructions : 0);
        put_lines(to, &s, &paint);
        put_split(to, &s);
        fputc('\n', to);
        put_kernels(to, &s, &paint);
        if (s.issues->count > s.issues->costs || s.note_count)
            fputc('\n', to);
        put_findings(to, &s, &paint);
    }
    if (!tables)
        fprintf(to, "\n  -v shows a table of each kernel and shape, --each its instructions, --html a page\n");
    smp_free_all(s.kernels, s.notes);
}
