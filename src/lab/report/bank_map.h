/* Draws one warp's access to shared memory: 32 banks across, a wavefront a line, in each cell the lane that the bank
 * serves. For terminals, and as SVG for files and pages. */
#ifndef SMP_LAB_REPORT_BANK_MAP_H
#define SMP_LAB_REPORT_BANK_MAP_H

#include <stdbool.h>
#include <stdio.h>

#include "banks/bank.h"

/* At most SMP_TEXT_WIDTH columns. With colour, the first wavefronts of a phase are green and conflicts red; without,
 * the line numbers tell the same. */
void smp_bank_map_text(FILE *to, const smp_bank_access *access, smp_bank_rules rules, bool color);

typedef struct smp_bank_map_svg_options {
    const char *title;    /* a line above the map, and the picture's name for screen readers; any UTF-8; null: none */
    const char *subtitle; /* a second line; null: none. Both are cut at the picture's edge */
    bool file;            /* a file of its own: with XML namespace, styles and background */
    int most_wavefronts;  /* draw at most so many and say how many are left out; 0: all */
} smp_bank_map_svg_options;

/* One <svg> element about 620 px wide, made to scale down (viewBox, no fixed width in pages). Every cell has a tooltip
 * with lanes and bytes. For a page: options->file false, and smp_bank_map_css() once in a <style>. */
void smp_bank_map_svg(FILE *to, const smp_bank_access *access, smp_bank_rules rules,
                      const smp_bank_map_svg_options *options);

/* The rules for svg.bank-map: light, dark and print. */
const char *smp_bank_map_css(void);

/* "0-7 9 12-15": the lanes of a mask, runs separated by `separator`. Returns text. */
char *smp_bank_lanes_text(char *text, size_t size, uint32_t lanes, const char *separator);

#endif
