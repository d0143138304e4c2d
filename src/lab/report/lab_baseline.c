/* Compares issues with those of an earlier run, as --json told it. Lines are known by their text, since they move. */
#include <string.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "lab/report/lab_issues.h"
#include "report/json_read.h"
#include "report/text.h"

/* A finding or a row that cost more than it needed, of the earlier run. */
typedef struct old_issue {
    const char *rule, *kernel, *op, *file, *text, *other; /* op: "" of findings */
    double cost;                                          /* 0: a finding */
} old_issue;

typedef struct baseline {
    smp_json_tree tree;
    old_issue *items;
    size_t count, capacity;
} baseline;

/* The text of a place in a kernel's "sources", without indentation. */
static const char *text_at(const baseline *b, const smp_json_node *kernel, const smp_json_node *place)
{
    char line[16];
    const smp_json_node *sources = smp_json_member(&b->tree, kernel, "sources");
    snprintf(line, sizeof line, "%.0f", smp_json_value(&b->tree, place, "line"));
    const smp_json_node *file = smp_json_member(&b->tree, sources, smp_json_text(&b->tree, place, "file"));
    const char *text = smp_json_text(&b->tree, file, line);
    return text + strspn(text, " \t");
}

static bool add(baseline *b, const old_issue *issue)
{
    if (!smp_grow(&b->items, &b->capacity, b->count + 1, sizeof *b->items))
        return false;
    b->items[b->count++] = *issue;
    return true;
}

static bool add_kernel(baseline *b, const smp_json_node *kernel)
{
    const smp_json_tree *t = &b->tree;
    const char *name = smp_json_text(t, kernel, "kernel");
    bool fits = true;
    const smp_json_node *at = smp_json_first(t, smp_json_member(t, kernel, "findings"));
    for (; at && fits; at = smp_json_next(t, at)) {
        const smp_json_node *here = smp_json_member(t, at, "at"), *other = smp_json_member(t, at, "other");
        const old_issue issue = {.rule = smp_json_text(t, at, "kind"),
                                 .kernel = name,
                                 .op = "",
                                 .file = smp_base_name(smp_json_text(t, here, "file")),
                                 .text = text_at(b, kernel, here),
                                 .other = other ? text_at(b, kernel, other) : ""};
        fits = add(b, &issue);
    }
    at = smp_json_first(t, smp_json_member(t, kernel, "rows"));
    for (; at && fits; at = smp_json_next(t, at)) {
        const smp_json_node *spill = smp_json_member(t, at, "spill");
        const smp_warp_row row = {.space = smp_lab_space_of(smp_json_text(t, at, "space")),
                                  .spill = spill && spill->type == 't',
                                  .width = 1,
                                  .lanes = (uint64_t)smp_json_value(t, at, "bytes"),
                                  .conflicts = (uint64_t)smp_json_value(t, at, "conflicts"),
                                  .sectors = (uint64_t)smp_json_value(t, at, "sectors"),
                                  .sectors_ideal = (uint64_t)smp_json_value(t, at, "sectors_ideal")};
        const old_issue issue = {.rule = smp_lab_rule_of(&row),
                                 .kernel = name,
                                 .op = smp_json_text(t, at, "op"),
                                 .file = smp_base_name(smp_json_text(t, at, "file")),
                                 .text = smp_json_text(t, at, "text"),
                                 .other = "",
                                 .cost = smp_lab_issue_cost(&row)};
        fits = issue.cost <= 0 || add(b, &issue);
    }
    return fits;
}

static smp_code open_baseline(baseline *b, char *json, smp_error *err)
{
    smp_code code = smp_json_read(json, &b->tree, err);
    const smp_json_node *kernels = code ? NULL : smp_json_member(&b->tree, b->tree.nodes, "kernels");
    if (!code && (!kernels || kernels->type != '['))
        code = smp_fail(err, SMP_E_DECODE, "it has no \"kernels\"");
    for (const smp_json_node *at = code ? NULL : smp_json_first(&b->tree, kernels); at && !code;
         at = smp_json_next(&b->tree, at))
        code = add_kernel(b, at) ? SMP_OK : smp_fail_memory(err, "a baseline", b->count * sizeof *b->items);
    return code;
}

static bool same_line(const old_issue *old, const smp_lab_report *report, const smp_lab_issue *issue)
{
    const char *op = issue->found ? "" : smp_lab_op_name(&issue->sum);
    const char *other = issue->other_path ? smp_lab_line(report->sources, issue->other_path, issue->other_line) : "";
    return !strcmp(old->rule, issue->rule) && !strcmp(old->op, op) && !strcmp(old->file, smp_base_name(issue->path)) &&
           !strcmp(old->text, smp_lab_line(report->sources, issue->path, issue->line)) && !strcmp(old->other, other);
}

/* Whether a kernel that has the line costs more by its rule than it did: else its line has another text alone. */
static bool kernel_is_worse(const baseline *b, const smp_lab_report *report, const smp_lab_issue *issue)
{
    for (size_t i = 0; i < report->count; i++) {
        const smp_warp_result *r = &report->results[i];
        double now = 0, before = 0;
        bool has = false;
        for (size_t k = 0; k < r->row_count && !has; k++)
            has = r->rows[k].line == issue->line && r->rows[k].space == issue->sum.space &&
                  r->rows[k].op == issue->sum.op && !strcmp(smp_lab_path(r, r->rows[k].file), issue->path);
        for (size_t n = 0; n < report->count && has; n++)
            for (size_t k = 0; k < report->results[n].row_count && !strcmp(report->results[n].kernel, r->kernel); k++)
                if (!strcmp(smp_lab_rule_of(&report->results[n].rows[k]), issue->rule))
                    now += smp_lab_issue_cost(&report->results[n].rows[k]);
        for (size_t n = 0; n < b->count && has; n++)
            if (!strcmp(b->items[n].rule, issue->rule) && !strcmp(b->items[n].kernel, r->kernel))
                before += b->items[n].cost;
        if (now > before)
            return true;
    }
    return false;
}

/* before: what lines of this text cost in the earlier run. */
static const char *state_of(const baseline *b, const smp_lab_report *report, const smp_lab_issue *issue, double *before)
{
    double now = 0;
    bool had = false;
    *before = 0;
    for (size_t i = 0; i < b->count; i++)
        if (same_line(&b->items[i], report, issue)) {
            had = true;
            *before += b->items[i].cost;
        }
    if (issue->cost <= 0)
        return had ? "unchanged" : "new";
    for (size_t i = 0; i < report->issues->count; i++) {
        const smp_lab_issue *other = &report->issues->items[i];
        if (other->sum.op == issue->sum.op && !strcmp(other->rule, issue->rule) &&
            !strcmp(smp_base_name(other->path), smp_base_name(issue->path)) &&
            !strcmp(smp_lab_line(report->sources, other->path, other->line),
                    smp_lab_line(report->sources, issue->path, issue->line)))
            now += other->cost;
    }
    if (now <= *before || !kernel_is_worse(b, report, issue))
        return "unchanged";
    return had ? "updated" : "new";
}

void smp_lab_issue_tell(FILE *to, const char *word, const smp_lab_issue *issue, double before)
{
    char text[SMP_LAB_ADVICE];
    smp_lab_issue_text(issue, text, sizeof text);
    fprintf(to, "%s: %s at ", word, issue->rule);
    smp_text_clean(to, smp_base_name(issue->path));
    fprintf(to, ":%u", issue->line);
    if (issue->other_line)
        fprintf(to, " and %s:%u", smp_base_name(issue->other_path), issue->other_line);
    fputs(issue->first->grid[0] ? ", kernel " : ", ", to);
    smp_text_clean(to, issue->first->kernel);
    fputs(": ", to);
    smp_text_clean(to, text);
    static const double units[] = {1, 2, 128}; /* of a cost: wavefronts, sectors, bytes */
    if (before > 0)
        fprintf(to, "; before %.0f", units[issue->sum.space] * before);
    fputc('\n', to);
}

void smp_lab_tell_gone(FILE *to, const smp_json_tree *tree, const char *list, const smp_lab_report *report,
                       const char *where)
{
    const smp_json_node *first = smp_json_first(tree, smp_json_member(tree, tree->nodes, list));
    for (const smp_json_node *at = first; at; at = smp_json_next(tree, at)) {
        const char *name = smp_json_text(tree, at, "kernel");
        bool known = false;
        for (size_t i = 0; i < report->count && !known; i++)
            known = !strcmp(report->results[i].kernel, name);
        for (const smp_json_node *had = first; had != at && !known; had = smp_json_next(tree, had))
            known = !strcmp(smp_json_text(tree, had, "kernel"), name);
        if (!known)
            smp_text_line(to, "not compared: %s was launched in %s alone", name, where);
    }
}

smp_code smp_lab_compare_baseline(FILE *to, char *json, const smp_lab_report *report, smp_lab_issues *issues,
                                  smp_error *err)
{
    baseline b = {.count = 0};
    const smp_code code = open_baseline(&b, json, err);
    for (size_t i = 0; i < issues->count && !code; i++) {
        double before;
        issues->items[i].state = state_of(&b, report, &issues->items[i], &before);
        if (strcmp(issues->items[i].state, "unchanged") != 0)
            smp_lab_issue_tell(to, !strcmp(issues->items[i].state, "new") ? "new" : "worse", &issues->items[i], before);
    }
    if (!code)
        smp_lab_tell_gone(to, &b.tree, "kernels", report, "the earlier run");
    smp_json_tree_free(&b.tree);
    smp_free(b.items);
    return code;
}
