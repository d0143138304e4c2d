/* Predicted times as text. */
#include "lab/report/lab.h"

#include <string.h>

#include "base/paths.h"
#include "report/page.h"
#include "report/text.h"

enum { LINES = 10, COLUMN = 46 };

static const char *title_of(const char *gpu)
{
    static const char *const titles[][2] = {{"h100", "an H100"}, {"h200", "an H200"},        {"a100", "an A100"},
                                            {"l4", "an L4"},     {"rtx4090", "an RTX 4090"}, {"b200", "a B200"}};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        if (!strcmp(titles[i][0], gpu))
            return titles[i][1];
    return gpu;
}

static bool is_measured(const char *gpu)
{
    return !strcmp(gpu, "h100") || !strcmp(gpu, "h200");
}

static const smp_predicted *first_of(const smp_warp_result *r)
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
    fprintf(to, "  bound by %s;", p->bound);
    bool any = false;
    for (int i = 0; i < SMP_TIME_RESOURCES; i++)
        if (p->use[i] >= shown) {
            fprintf(to, "%s %s %.0f %%", any ? "," : " used:", smp_time_resource_names[i], 100 * p->use[i]);
            any = true;
        }
    if (p->launch_share >= shown)
        fprintf(to, "%s the launch itself %.0f %%", any ? "," : "", 100 * p->launch_share);
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
        fputc('\n', to);
    }
}

static void put_prices(FILE *to, const smp_predicted *p)
{
    const double least = 0.01;
    for (size_t i = 0; i < p->price_count; i++) {
        const double share = p->prices[i].us / p->us;
        if (share < least && share > -least)
            continue;
        fprintf(to, "  without %-24s ", p->prices[i].what);
        put_us(to, p->us - p->prices[i].us);
        fprintf(to, ": %s %.0f %%\n", share > 0 ? "saves" : "costs", 100 * (share > 0 ? share : -share));
    }
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
    put_others(to, result);
    put_bound(to, p);
    put_memory(to, p);
    put_prices(to, p);
    put_lines(to, result, p, sources, &paint);
}

void smp_lab_time_error(const char *gpu, char *text, size_t size)
{
    if (is_measured(gpu))
        snprintf(text, size,
                 "times are predicted by a model, not measured: its mean error was 7 %% over the launches that it was "
                 "made with, and 14 %% (median 8) over programs of others that it had not seen, of which eight of ten "
                 "lay in the interval");
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
    smp_text_line(to, "%s", text);
}

void smp_lab_time_model_json(smp_json *json, const smp_lab_report *report)
{
    char text[SMP_LAB_ADVICE];
    const smp_predicted *p = any_of(report);
    if (!p)
        return;
    smp_lab_time_error(p->gpu, text, sizeof text);
    smp_json_object(json, "time_model");
    smp_json_string(json, "gpu", p->gpu);
    smp_json_string(json, "title", title_of(p->gpu));
    if (!p->refusal[0])
        smp_json_number(json, "clock_ghz", p->clock_ghz);
    smp_json_bool(json, "measured", is_measured(p->gpu));
    smp_json_string(json, "error", text);
    smp_json_bool(json, "compared", report->compared);
    smp_json_end(json, '}');
}

/* ------------------------------------------------------------------------------------------------ a plain table */

static void plain_row(FILE *to, const smp_warp_result *r, const smp_predicted *p)
{
    enum { CELL = 32, COLUMNS = 7 };
    char launch[CELL], cycles[CELL], us[CELL], low[CELL], high[CELL], why[sizeof p->refusal + CELL];
    snprintf(launch, sizeof launch, "%u", p->order);
    snprintf(us, sizeof us, "%.4g", p->us);
    snprintf(low, sizeof low, "%.4g", p->low_us);
    snprintf(high, sizeof high, "%.4g", p->high_us);
    snprintf(cycles, sizeof cycles, "%.0f", p->cycles);
    snprintf(why, sizeof why, "%s%s", p->refusal[0] ? "not modelled: " : "", p->refusal[0] ? p->refusal : p->bound);
    const bool known = !p->refusal[0];
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
    bool any = false;
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        const smp_predicted *p = first_of(r), *best = fastest(report, report->entries[i].group);
        if (!p)
            continue;
        if (!any)
            fprintf(to, "\n  %stime%s  predicted for %s at %.2f GHz\n", paint.bold, paint.off, title_of(p->gpu),
                    p->clock_ghz);
        any = true;
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
        fputc('\n', to);
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
