/* See lab_issues.h. */
#include "lab/report/lab_issues.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *smp_lab_rule_of(const smp_warp_row *row)
{
    static const char *const rules[] = {"conflicts", "uncoalesced", "local"};
    return row->spill ? "spills" : rules[row->space];
}

double smp_lab_issue_cost(const smp_warp_row *row)
{
    const double wavefront = 128; /* bytes that an SM's first-level cache moves a clock */
    return row->space == SMP_WARP_LOCAL ? (double)row->lanes * row->width / wavefront : smp_lab_cost(row);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_issue(const smp_lab_issue *a, const smp_lab_issue *b)
{
    if (a->line != b->line || a->other_line != b->other_line || strcmp(a->rule, b->rule) != 0)
        return false;
    if (!a->path[0] && strcmp(a->first->kernel, b->first->kernel) != 0) /* no place: kernels are told apart */
        return false;
    if (a->found && b->found && !smp_warp_finding_same(a->found, b->found))
        return false;
    if (!a->line && a->found && strcmp(a->found->text, b->found ? b->found->text : "") != 0)
        return false;
    return a->sum.op == b->sum.op && (a->sum.space != SMP_WARP_LOCAL || a->sum.width == b->sum.width) &&
           same_text(a->path, b->path) && same_text(a->other_path, b->other_path);
}

static bool add(smp_lab_issues *issues, size_t from, const smp_lab_issue *more)
{
    size_t at = from;
    while (at < issues->count && !same_issue(&issues->items[at], more))
        at++;
    if (at == issues->count) {
        if (!smp_grow(&issues->items, &issues->capacity, at + 1, sizeof *issues->items))
            return false;
        issues->items[issues->count++] = *more;
        return true;
    }
    smp_lab_issue *had = &issues->items[at];
    had->count += more->count;
    had->cost += more->cost;
    had->saved_us += more->saved_us;
    had->kernels += strcmp(had->first->kernel, more->first->kernel) != 0;
    had->sum.instructions += more->sum.instructions;
    had->sum.lanes += more->sum.lanes;
    had->sum.wavefronts += more->sum.wavefronts;
    had->sum.ideal += more->sum.ideal;
    had->sum.conflicts += more->sum.conflicts;
    had->sum.sectors += more->sum.sectors;
    had->sum.sectors_ideal += more->sum.sectors_ideal;
    return true;
}

static bool add_findings(smp_lab_issues *issues, const smp_warp_result *r)
{
    bool fits = true;
    for (size_t i = 0; i < r->finding_count && fits; i++) {
        const smp_warp_finding *f = &r->findings[i];
        const smp_lab_issue issue = {.rule = smp_warp_fault_name(f->fault),
                                     .first = r,
                                     .found = f,
                                     .path = smp_lab_path(r, f->here.file),
                                     .line = f->here.line,
                                     .other_path = f->other.line ? smp_lab_path(r, f->other.file) : NULL,
                                     .other_line = f->other.line,
                                     .count = f->count,
                                     .kernels = 1};
        fits = add(issues, 0, &issue);
    }
    return fits;
}

/* By predicted time, where that is known. */
static int by_cost(const void *a, const void *b)
{
    const smp_lab_issue *x = a, *y = b;
    const int path = strcmp(x->path, y->path);
    if (x->saved_us < y->saved_us || x->saved_us > y->saved_us)
        return x->saved_us > y->saved_us ? -1 : 1;
    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost > y->cost ? -1 : 1;
    return path ? path : x->line < y->line ? -1 : x->line > y->line;
}

bool smp_lab_issues_of(const smp_warp_result *results, size_t count, smp_lab_issues *out)
{
    bool fits = true;
    *out = (smp_lab_issues){.count = 0};
    for (size_t i = 0; i < count && fits; i++)
        fits = add_findings(out, &results[i]);
    for (size_t i = 0; i < count && fits; i++) {
        const smp_lab_issue stop = {
            .rule = "stopped", .first = &results[i], .path = "", .count = results[i].launches, .kernels = 1};
        fits = !results[i].stopped || add(out, 0, &stop);
    }
    const size_t from = out->count;
    for (size_t i = 0; i < count && fits; i++)
        for (size_t k = 0; k < results[i].row_count && fits; k++) {
            const smp_warp_row *row = &results[i].rows[k];
            const smp_lab_issue cost = {.rule = smp_lab_rule_of(row),
                                        .first = &results[i],
                                        .path = smp_lab_path(&results[i], row->file),
                                        .line = row->line,
                                        .sum = *row,
                                        .count = row->instructions,
                                        .cost = smp_lab_issue_cost(row),
                                        .saved_us = smp_lab_saved_us(&results[i], row) * (double)results[i].launches,
                                        .kernels = 1};
            fits = cost.cost <= 0 || add(out, from, &cost);
            out->cost += cost.cost;
        }
    out->costs = out->count - from;
    if (out->costs)
        qsort(out->items + from, out->costs, sizeof *out->items, by_cost);
    return fits;
}

void smp_lab_issues_tell(smp_lab_issues *issues, const smp_lab_issue *issue, const char *text)
{
    if (!smp_grow(&issues->items, &issues->capacity, issues->count + 1, sizeof *issues->items))
        return;
    smp_lab_issue *at = issues->items + issues->count++ - issues->costs;
    memmove(at + 1, at, issues->costs * sizeof *at);
    *at = *issue;
    at->path = "";
    at->count = at->kernels = 1;
    at->told = smp_strdup(text);
}

void smp_lab_issues_free(smp_lab_issues *issues)
{
    for (size_t i = 0; i < issues->count; i++)
        smp_free(issues->items[i].told);
    smp_free(issues->items);
    *issues = (smp_lab_issues){.count = 0};
}

void smp_lab_issue_text(const smp_lab_issue *issue, char *text, size_t size)
{
    const smp_warp_row *row = &issue->sum;
    if (issue->told || issue->found)
        snprintf(text, size, "%s", issue->told ? issue->told : issue->found->text);
    else if (issue->cost <= 0)
        snprintf(text, size, "%s", issue->first->error.message);
    else if (row->space == SMP_WARP_SHARED)
        snprintf(text, size, "%llu of %llu wavefronts of a %s are bank conflicts", (unsigned long long)row->conflicts,
                 (unsigned long long)row->wavefronts, smp_lab_access_name(row));
    else if (row->space == SMP_WARP_LOCAL)
        snprintf(text, size, "%llu bytes move by a %s", (unsigned long long)(row->lanes * row->width),
                 smp_lab_access_name(row));
    else
        snprintf(text, size, "%llu of %llu sectors of a %s are more than its bytes need",
                 (unsigned long long)(row->sectors - row->sectors_ideal), (unsigned long long)row->sectors,
                 smp_lab_access_name(row));
}
