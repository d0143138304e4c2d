/* Predicted times as text. */
#include "lab/report/lab.h"

#include <string.h>

#include "lab/time/gpu.h"
#include "report/page.h"
#include "report/text.h"

enum { LINES = 10, COLUMN = 46 };

/* "an H100", "a B200" */
static const char *title_of(const char *name)
{
    static char text[20];
    smp_time_gpu gpu;
    if (!smp_time_gpu_find(name, &gpu))
        return name;
    snprintf(text, sizeof text, "%s %s", strchr("AHLR", gpu.title[0]) ? "an" : "a", gpu.title);
    return text;
}

static bool is_measured(const char *name)
{
    smp_time_gpu gpu;
    return smp_time_gpu_find(name, &gpu) && gpu.measured;
}

static smp_predicted *first_of(const smp_warp_result *r)
{
    return r->predictions && r->predictions->count ? &r->predictions->items[0] : NULL;
}

/* "24.8 us", "1.32 ms" */
static void put_us(FILE *to, double us)
{
    if (us < 1000)
        fprintf(to, "%.3g us", us);
    else if (us < 1e6)
        fprintf(to, "%.3g ms", us / 1000);
    else
        fprintf(to, "%.3g s", us / 1e6);
}

static void put_time(FILE *to, const smp_predicted *p)
{
    put_us(to, p->us);
    fputs(" (", to);
    put_us(to, p->low_us);
    fputs(" to ", to);
    put_us(to, p->high_us);
    fputc(')', to);
}

static void put_bound(FILE *to, const smp_predicted *p)
{
    const double shown = 0.2;
    fprintf(to, "  bound by %s", p->bound);
    bool any = false;
    for (int i = 0; i < SMP_TIME_RESOURCES; i++)
        if (p->use[i] >= shown) {
            fprintf(to, "%s %s %.0f %%", any ? "," : "; used:", smp_time_resource_names[i], 100 * p->use[i]);
            any = true;
        }
    if (p->launch_share >= shown)
        fprintf(to, "%s the launch itself %.0f %%", any ? "," : ";", 100 * p->launch_share);
    fprintf(to, "\n  %u block%s at a time on an SM, occupancy %.0f %%, %.2f waves", p->resident,
            p->resident == 1 ? "" : "s", 100 * p->occupancy, p->waves);
    if (p->tail >= shown)
        fprintf(to, ", of which the last leaves %.0f %% of the time unused", 100 * p->tail);
    fputc('\n', to);
}

static void put_memory(FILE *to, const smp_predicted *p)
{
    const double mb = 1e6;
    fprintf(
        to,
        "  DRAM %.3g MB read, %.3g MB written; L2 %.3g MB read, %.3g MB written; hits in L1 %.0f %%, in L2 %.0f %%\n",
        p->dram_read / mb, p->dram_write / mb, p->l2_read / mb, p->l2_write / mb, 100 * p->l1_hit, 100 * p->l2_hit);
}

/* The most frequent reasons of a line. */
static void put_reasons(FILE *to, const double *reasons)
{
    const double shown = 0.15;
    bool used[SMP_TIME_REASONS] = {false}, any = false;
    for (int n = 0; n < 3; n++) {
        int best = -1;
        for (int i = 0; i < SMP_TIME_REASONS; i++)
            if (!used[i] && i != SMP_TIME_SELECTED && (best < 0 || reasons[i] > reasons[best]))
                best = i;
        used[best] = true;
        if (reasons[best] < shown && any)
            return;
        fprintf(to, "%s%s %.0f %%", any ? ", " : "", smp_time_reason_names[best], 100 * reasons[best]);
        any = true;
    }
}

bool smp_lab_time_waits_for(const smp_predicted_line *l)
{
    const double most = 0.5;
    const bool elsewhere = l->for_line != l->line || l->for_file != l->file;
    return elsewhere && l->for_line && l->reasons[SMP_TIME_DRAIN] > most;
}

static void put_lines(FILE *to, const smp_warp_result *r, const smp_predicted *p, smp_lab_sources *sources,
                      const smp_paint *paint)
{
    const double least = 0.01;
    size_t chosen[LINES], count = 0;
    for (size_t i = 0; i < p->line_count; i++) { /* the largest, in order */
        size_t at = count < LINES ? count++ : LINES;
        for (; at && p->lines[chosen[at - 1]].share < p->lines[i].share; at--)
            if (at < LINES)
                chosen[at] = chosen[at - 1];
        if (at < LINES)
            chosen[at] = i;
    }
    if (count)
        fprintf(to, "%s  share  %-*s %5s  why warps wait%s\n", paint->dim, COLUMN, "source", "line", paint->off);
    for (size_t k = 0; k < count; k++) {
        const smp_predicted_line *l = &p->lines[chosen[k]];
        if (l->share < least && k)
            return;
        fprintf(to, "  %3.0f %%  ", 100 * l->share);
        smp_text_column(to, smp_lab_line(sources, smp_lab_path(r, l->file), l->line), COLUMN);
        fprintf(to, " %5u  ", l->line);
        put_reasons(to, l->reasons);
        if (smp_lab_time_waits_for(l))
            fprintf(to, ": for what %s%c%u writes", l->for_file != l->file ? smp_lab_file(r, l->for_file) : "line",
                    l->for_file != l->file ? ':' : ' ', l->for_line);
        fputc('\n', to);
    }
}

/* ------------------------------------------------------------------------------------------------ what if */

bool smp_lab_time_differs(const smp_predicted *p, double us)
{
    const double least =
        0.05; /* of two times of one launch the model tells the shorter one if they are further apart */
    return us > least * p->us || us < -least * p->us;
}

static const char *saved_text(const smp_predicted *p, double us, char *text, size_t size)
{
    const double share = 100 * us / p->us, low = p->low_us / p->us, high = p->high_us / p->us, all = us < 0 ? -us : us;
    if (!smp_lab_time_differs(p, us))
        snprintf(text, size, "no difference that the model can tell");
    else
        snprintf(text, size, "%s %.3g us (%.3g to %.3g), %.0f %%", us > 0 ? "saves" : "costs", all, all * low,
                 all * high, share < 0 ? -share : share);
    return text;
}

smp_predicted_mend *smp_lab_mend_of(smp_predicted *p, const smp_warp_row *row)
{
    for (size_t i = 0; p && i < p->mend_count; i++) {
        smp_predicted_mend *m = &p->mends[i];
        if (m->file == row->file && m->line == row->line && m->place == row->place && m->width == row->width &&
            m->space == (uint8_t)row->space && m->op == (uint8_t)row->op)
            return m;
    }
    return NULL;
}

const char *smp_lab_saved(const smp_warp_result *result, const smp_warp_row *row, char text[SMP_LAB_SAVED])
{
    smp_predicted *p = first_of(result);
    const smp_predicted_mend *m = smp_lab_mend_of(p, row);
    text[0] = 0;
    if (m) {
        memcpy(text, "; ", 2);
        saved_text(p, m->us, text + 2, SMP_LAB_SAVED - 2);
    }
    return text;
}

double smp_lab_saved_us(const smp_warp_result *result, const smp_warp_row *row)
{
    smp_predicted *p = first_of(result);
    const smp_predicted_mend *m = smp_lab_mend_of(p, row);
    return m && smp_lab_time_differs(p, m->us) ? m->us : 0;
}

uint32_t smp_lab_warps(const smp_warp_result *result)
{
    return (result->block[0] * result->block[1] * result->block[2] + SMP_WARP - 1) / SMP_WARP;
}

static void put_price(FILE *to, const smp_predicted *p, const char *what, double us)
{
    char text[SMP_LAB_SAVED];
    fprintf(to, "  without %-32s ", what);
    put_us(to, p->us - us);
    fprintf(to, ": %s\n", saved_text(p, us, text, sizeof text));
}

/* The rest of them would be shorter than what the model can tell. */
static void put_prices(FILE *to, const smp_warp_result *r, const smp_predicted *p)
{
    static const char *const waste[] = {
        [SMP_WARP_SHARED] = "conflicts", [SMP_WARP_GLOBAL] = "sectors", [SMP_WARP_LOCAL] = "memory"};
    if (!p->price_count)
        return;
    for (size_t i = 0; i < p->price_count; i++)
        if (smp_lab_time_differs(p, p->prices[i].us))
            put_price(to, p, p->prices[i].what, p->prices[i].us);
    for (size_t i = 0; i < p->mend_count && p->mend_count > 1; i++) { /* of one the advice tells */
        const smp_predicted_mend *m = &p->mends[i];
        const smp_warp_row row = {.space = (smp_warp_space)m->space, .op = (smp_warp_op)m->op};
        char what[80];
        snprintf(what, sizeof what, "%s of %.20s:%u, %s", waste[m->space], smp_lab_file(r, m->file), m->line,
                 smp_lab_access_name(&row));
        put_price(to, p, what, m->us);
    }
}

/* Blocks of other sizes, where an SM would hold other numbers of warps. */
static void put_other_sizes(FILE *to, const smp_warp_result *r)
{
    static const uint32_t sizes[] = {64, 128, 256, 512, 1024};
    bool any = false;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        smp_warp_fit fit;
        const double apart = 0.01;
        if (!smp_warp_fit_of(r->fit.arch, r->fit.registers, r->shared + r->dynamic_shared, sizes[i], &fit) ||
            (fit.occupancy < r->fit.occupancy + apart && fit.occupancy > r->fit.occupancy - apart))
            continue;
        fprintf(to, "%s %u threads %.0f %%", any ? "," : "  blocks of other sizes, at as much of each:", sizes[i],
                100 * fit.occupancy);
        any = true;
    }
    fprintf(to, "%sother block sizes are other launches: --only NAME --compare --grid '..;..' --block '..;..'\n",
            any ? "\n  " : "  ");
}

/* The same instructions at other numbers of blocks on an SM. */
static void put_fits(FILE *to, const smp_warp_result *r, const smp_predicted *p, const smp_paint *paint)
{
    if (!p->fit_count)
        return;
    fprintf(to, "%s  blocks on an SM  warps  occupancy  registers  shared bytes  time%s\n", paint->dim, paint->off);
    for (size_t i = 0; i < p->fit_count; i++) {
        const smp_predicted_fit *fit = &p->fits[i];
        const bool now = fit->blocks == p->resident;
        char registers[16], shared[16], text[SMP_LAB_SAVED];
        snprintf(registers, sizeof registers, now ? "%u" : "<= %u", now ? r->fit.registers : fit->registers);
        snprintf(shared, sizeof shared, now ? "%u" : "<= %u", now ? r->shared + r->dynamic_shared : fit->shared);
        fprintf(to, "  %s%15u  %5u  %7.0f %%  %9s  %12s%s  ", now ? paint->bold : "", fit->blocks,
                fit->blocks * smp_lab_warps(r), 100 * p->occupancy * fit->blocks / p->resident, registers, shared,
                now ? paint->off : "");
        put_us(to, fit->us);
        if (now)
            fprintf(to, ": now, limited by %s\n", r->fit.arch ? r->fit.limit : "what is not known");
        else
            fprintf(to, ": %s\n", saved_text(p, p->us - fit->us, text, sizeof text));
    }
    fputs("  of the same instructions: what fewer registers spill, and smaller tiles read again, is not in it\n", to);
    if (r->fit.arch)
        put_other_sizes(to, r);
}

/* The times of further launches of the same shape. */
static void put_others(FILE *to, const smp_warp_result *r)
{
    const smp_predictions *p = r->predictions;
    if (r->launches < 2)
        return;
    fputs("  its launches one after another:", to);
    for (size_t i = 0; i < p->count; i++) {
        fputs(i ? ", " : " ", to);
        if (p->items[i].refusal[0])
            fputs("not modelled", to);
        else
            put_us(to, p->items[i].us);
    }
    if (r->launches > p->count)
        fprintf(to, "; %llu more were not simulated", (unsigned long long)(r->launches - p->count));
    fputc('\n', to);
}

void smp_lab_time_text(FILE *to, const smp_warp_result *result, smp_lab_sources *sources, bool color)
{
    const smp_paint paint = smp_paint_for(color);
    const smp_predicted *p = first_of(result);
    if (!p)
        return;
    if (p->refusal[0]) {
        fprintf(to, "  %stime%s  not modelled: ", paint.bold, paint.off);
        smp_text_clean(to, p->refusal);
        fputc('\n', to);
        return;
    }
    fprintf(to, "  %stime%s  predicted for %s at %.2f GHz: ", paint.bold, paint.off, title_of(p->gpu), p->clock_ghz);
    put_time(to, p);
    fprintf(to, ", %.0f cycles\n", p->cycles);
    if (p->left_out[0])
        fprintf(to, "  left out of its time: %s\n", p->left_out);
    put_others(to, result);
    put_bound(to, p);
    put_memory(to, p);
    put_prices(to, result, p);
    put_fits(to, result, p, &paint);
    put_lines(to, result, p, sources, &paint);
}

void smp_lab_time_error(const char *gpu, char *text, size_t size)
{
    static const int of_others[] = {
#define TIME_INTERVAL(bound, low, high)
#define TIME_ERROR(median, most, inside) median, most, inside
#include "lab/time/errors.def"
#undef TIME_INTERVAL
#undef TIME_ERROR
    };
    if (is_measured(gpu))
        snprintf(text, size,
                 "times are predicted by a model, not measured: of programs of others that it had not seen half were "
                 "within %d %% on an H200, nine of ten within %d %%, and %d %% lay in the interval",
                 of_others[0], of_others[1], of_others[2]);
    else
        snprintf(text, size,
                 "times are predicted by a model with numbers of data sheets, which nobody has compared with a "
                 "measurement on %s; intervals are twice as wide as an H100's",
                 title_of(gpu));
}

static const smp_predicted *any_of(const smp_lab_report *report)
{
    const smp_predicted *p = NULL;
    for (size_t i = 0; i < report->count && (!p || p->refusal[0]); i++)
        p = first_of(&report->results[i]);
    return p;
}

void smp_lab_time_words(FILE *to, const smp_lab_report *report)
{
    char text[SMP_LAB_ADVICE];
    const smp_predicted *p = any_of(report);
    if (!p || p->refusal[0])
        return;
    smp_lab_time_error(p->gpu, text, sizeof text);
    smp_text_line(to, "predicted for %s at %.2f GHz: %s", title_of(p->gpu), p->clock_ghz, text);
}

void smp_lab_time_model_json(smp_json *json, const smp_lab_report *report)
{
    char text[SMP_LAB_ADVICE];
    const smp_predicted *p = any_of(report);
    if (!p)
        return;
    smp_lab_time_error(p->gpu, text, sizeof text);
    SMP_JSON_OPEN(json, "time_model", ("gpu", p->gpu), ("title", title_of(p->gpu)));
    if (!p->refusal[0])
        smp_json_number(json, "clock_ghz", p->clock_ghz);
    SMP_JSON(json, ("measured", is_measured(p->gpu)), ("error", text), ("compared", report->compared));
    smp_json_end(json, '}');
}

/* ------------------------------------------------------------------------------------------------ a plain table */

static void plain_row(FILE *to, const smp_warp_result *r, const smp_predicted *p)
{
    enum { CELL = 32, COLUMNS = 7 };
    char launch[CELL], cycles[CELL], us[CELL], low[CELL], high[CELL];
    char why[sizeof p->refusal + sizeof p->left_out + 2 * CELL];
    snprintf(launch, sizeof launch, "%u", p->order);
    snprintf(us, sizeof us, "%.4g", p->us);
    snprintf(low, sizeof low, "%.4g", p->low_us);
    snprintf(high, sizeof high, "%.4g", p->high_us);
    snprintf(cycles, sizeof cycles, "%.0f", p->cycles);
    const bool known = !p->refusal[0], leaves_out = known && p->left_out[0];
    snprintf(why, sizeof why, "%s%s%s%s", known ? "" : "not modelled: ", known ? p->bound : p->refusal,
             leaves_out ? "; left out of its time: " : "", leaves_out ? p->left_out : "");
    const char *const cells[] = {
        launch, r->kernel, known ? us : "", known ? low : "", known ? high : "", known ? cycles : "", why};
    smp_page_row(to, "td", cells, COLUMNS);
}

void smp_lab_time_plain(FILE *to, const smp_lab_report *report)
{
    static const char *const heads[] = {"launch",  "kernel", "microseconds", "at least",
                                        "at most", "cycles", "bound by"};
    char text[SMP_LAB_ADVICE];
    const smp_predicted *p = any_of(report);
    if (!p)
        return;
    smp_lab_time_error(p->gpu, text, sizeof text);
    fprintf(to, "<p>predicted for %s", title_of(p->gpu));
    if (!p->refusal[0])
        fprintf(to, " at %.2f GHz; %s", p->clock_ghz, text);
    fputs("</p>\n<table>\n", to);
    smp_page_row(to, "th", heads, sizeof heads / sizeof heads[0]);
    for (size_t i = 0; i < report->count; i++)
        for (size_t k = 0; report->results[i].predictions && k < report->results[i].predictions->count; k++)
            plain_row(to, &report->results[i], &report->results[i].predictions->items[k]);
    fputs("</table>\n", to);
}

/* ------------------------------------------------------------------------------------------------ side by side */

/* The fastest of a group whose time is known. */
static const smp_predicted *fastest(const smp_lab_report *report, size_t group)
{
    const smp_predicted *best = NULL;
    for (size_t i = 0; i < report->count; i++) {
        const smp_predicted *p = first_of(&report->results[i]);
        if (p && !p->refusal[0] && report->entries[i].group == group && (!best || p->us < best->us))
            best = p;
    }
    return best;
}

void smp_lab_time_compare(FILE *to, const smp_lab_report *report, bool color)
{
    const smp_paint paint = smp_paint_for(color);
    const bool files = smp_lab_has_files(report);
    bool any = false;
    size_t shown = SIZE_MAX;
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        const smp_predicted *p = first_of(r), *best = fastest(report, report->entries[i].group);
        if (!p)
            continue;
        if (!any)
            fprintf(to, "\n  %stime%s  predicted for %s at %.2f GHz\n", paint.bold, paint.off, title_of(p->gpu),
                    p->clock_ghz);
        any = true;
        if (files)
            smp_lab_put_file(to, &report->entries[i], &shown, &paint);
        fputs("  ", to);
        smp_text_column(to, r->kernel, 28);
        fputs("  ", to);
        if (p->refusal[0]) {
            fputs("not modelled: ", to);
            smp_text_clean(to, p->refusal);
            fputc('\n', to);
            continue;
        }
        put_time(to, p);
        fprintf(to, "  bound by %s", p->bound);
        if (p == best)
            fputs("; the fastest", to);
        else if (p->low_us <= best->high_us)
            fprintf(to, "; x %.2f of the fastest, within the error", p->us / best->us);
        else
            fprintf(to, "; x %.2f of the fastest", p->us / best->us);
        fprintf(to, "%s%s\n", p->left_out[0] ? "; left out of its time: " : "", p->left_out);
    }
}

bool smp_lab_time_sum(const smp_lab_report *report, const char *kernel, double *us)
{
    bool any = false;
    *us = 0;
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        const smp_predictions *p = r->predictions;
        if (!p || !p->count || strcmp(r->kernel, kernel) != 0)
            continue;
        for (size_t k = 0; k < p->count; k++) {
            any = any || !p->items[k].refusal[0];
            *us += p->items[k].us;
        }
    }
    return any;
}
