/* What the pages of compare and kernel share: the look, an axis for bars, maps of banks with their sentences, tables
 * that a click sorts. One file without network; it fits a phone, follows dark mode and prints. */
#ifndef SMP_LAB_REPORT_KERNEL_PAGE_H
#define SMP_LAB_REPORT_KERNEL_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "banks/bank.h"

/* Up to <body>. command: "compare". */
void smp_kernel_page_begin(FILE *to, const char *command, const char *title);

/* Version and script: clicks on heads sort tables of the class "sorted", and what is folded is opened for paper. */
void smp_kernel_page_end(FILE *to);

/* A paragraph that says what wavefronts, banks and n-way conflicts are; sectors: and what a sector is. */
void smp_kernel_page_terms(FILE *to, bool sectors);

/* A head of a sorted table: cells of <th>, ended by a null. "<access": of a column of text, aligned to the left. */
void smp_kernel_page_heads(FILE *to, const char *const *names);

/* Where bars end. Ticks are evenly spaced from the left edge, every `tick` per cent. */
typedef struct smp_axis {
    bool logarithmic; /* each tick is ten times the one before */
    double from, to;  /* values at both edges */
    double tick;
    int ticks;
} smp_axis;

/* For values from least to most, at least a tenth of a decade of room. may_be_logarithmic: and is so where most is more
 * than 30 times the least, so that short bars can be told apart. All zero when most is not positive. */
smp_axis smp_axis_for(double least, double most, bool may_be_logarithmic);

/* Per cent of the way along. */
double smp_axis_at(const smp_axis *axis, double value);

/* The labels, in a box that is as wide as the bars. seconds: with units of time, else counts. */
void smp_axis_put(FILE *to, const smp_axis *axis, bool seconds);

/* "12.3 &micro;s", as HTML. */
void smp_page_seconds(FILE *to, double seconds);

/* A map with its sentence and, of an access with conflicts, the advice. open: shown, else folded behind `summary`,
 * which is text. name: of the array; null: unknown. Nothing for an access without lanes. */
void smp_kernel_page_map(FILE *to, const smp_bank_access *access, const char *summary, const char *name, bool open);

#endif
