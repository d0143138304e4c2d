/* Parts of the page of a comparison, for compare_html.c. */
#ifndef SMP_REPORT_COMPARE_COMPARE_HTML_H
#define SMP_REPORT_COMPARE_COMPARE_HTML_H

#include "report/compare/compare.h"

/* What a step's numbers say. */
typedef struct smp_compare_finding {
    const smp_compare_variant *fastest; /* of those that were timed; null: none was */
    double share;                       /* of the sum of the fastest variants of all steps */
    double share_from, share_to;        /* where it lies, as far as the quartiles say */
    const smp_compare_variant *least;   /* with fewest wavefronts beyond the ideal, of those that use shared memory;
                                           null: none does */
    const smp_compare_variant *of;      /* the variant whose site is meant: `least` where it has conflicts, else any */
    const smp_compare_site *site;       /* with most conflicts worth telling; null: there is none */
    bool uncounted, wrong;
} smp_compare_finding;

smp_compare_finding smp_compare_find(const smp_compare *compare, const smp_compare_step *step);

/* The most conflicts of one line of any variant, or `least` where that is more. */
uint64_t smp_compare_most_conflicts(const smp_compare_step *step, uint64_t least);

/* Wavefronts beyond the ideal. */
uint64_t smp_compare_conflicts(const smp_shared_count *count);

/* Whether conflicts are worth telling: one in a hundred of all wavefronts of the kernel that has them. */
bool smp_compare_worth_telling(uint64_t conflicts, uint64_t wavefronts);

/* The wavefronts of all shared accesses, of which a variant's sites have a part. */
uint64_t smp_compare_wavefronts(const smp_compare_variant *variant);

/* The first screen: what to look at, a sentence for each step. */
void smp_compare_html_head(FILE *to, const smp_compare *compare);

/* Bars of all steps and variants on one axis, for times and for wavefronts. */
void smp_compare_ladder(FILE *to, const smp_compare *compare);

/* Source lines by their conflicts, and the banks of each. */
void smp_compare_lines(FILE *to, const smp_compare *compare);

/* Folded: a table of all numbers that a click sorts; device, clocks, rates, versions. */
void smp_compare_numbers(FILE *to, const smp_compare *compare);
void smp_compare_html_environment(FILE *to, const smp_compare *compare);

#endif
