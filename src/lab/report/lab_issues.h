/* What is wrong in all launches of a program, each place once: findings, kernels that stopped, and source lines that
 * cost more than they need. First screens, SARIF, JUnit and comparisons with an earlier run tell these. */
#pragma once

#include "lab/report/lab.h"

/* One place, by kind and source lines. */
typedef struct smp_lab_issue {
    const char *rule;              /* "race", ..., "stopped", "slower", "conflicts", "uncoalesced", ... */
    const smp_warp_result *first;  /* the result that has it first */
    const smp_warp_finding *found; /* null: a line's cost, or a kernel that stopped */
    const char *path, *other_path; /* of the source; other_path null: there is one place alone */
    uint32_t line, other_line;     /* 0: not known */
    smp_warp_row sum;              /* of a cost: over all launches */
    uint64_t count;                /* how often */
    double cost;                   /* smp_lab_issue_cost of all */
    double saved_us;               /* predicted without it, of all launches; 0: not known, or none that can be told */
    size_t kernels;                /* kernels of other names that have it, and one */
    bool fails;                    /* the caller's: it fails the run */
    const char *state;             /* the caller's: "new", "updated" (worse), "unchanged"; null: nothing to compare */
    char *told;                    /* what else is told of its kernel; null: nothing */
} smp_lab_issue;

typedef struct smp_lab_issues {
    smp_lab_issue
        *items; /* findings in the order of launches, what stopped, what was added, costs, the largest first */
    size_t count, capacity, costs; /* costs: so many at the end */
    double cost;                   /* of all */
} smp_lab_issues;

/* False: no memory. Texts are the results'. */
bool smp_lab_issues_of(const smp_warp_result *results, size_t count, smp_lab_issues *out);
void smp_lab_issues_free(smp_lab_issues *issues);
/* Adds one of a kernel, with its text. */
void smp_lab_issues_tell(smp_lab_issues *issues, const smp_lab_issue *issue, const char *text);

/* The rule by which a row is told, and what it costs beyond its ideal, in clocks of an SM: smp_lab_cost, and all of
 * local memory. */
const char *smp_lab_rule_of(const smp_warp_row *row);
double smp_lab_issue_cost(const smp_warp_row *row);

/* Sets the state of each issue by what `smempipe kernel --json` told of an earlier run, and tells what is new or worse.
 * json changes. */
smp_code smp_lab_compare_baseline(FILE *to, char *json, const smp_lab_report *report, smp_lab_issues *issues,
                                  smp_error *err);

/* Tells of kernels in a list of an earlier run's --json that are launched no more. where: what that run is called. */
struct smp_json_tree;
void smp_lab_tell_gone(FILE *to, const struct smp_json_tree *tree, const char *list, const smp_lab_report *report,
                       const char *where);

/* Tells one in a line: "worse: conflicts at a.cu:3, kernel f: ...; before 1". before: its cost then, or 0. */
void smp_lab_issue_tell(FILE *to, const char *word, const smp_lab_issue *issue, double before);

/* What is told of it: "15872 of 16384 wavefronts of a shared load are bank conflicts". */
void smp_lab_issue_text(const smp_lab_issue *issue, char *text, size_t size);
