/* Draws one warp's access to shared memory: 32 banks across, a wavefront a line, in each cell the lane that the bank
 * serves. For terminals, as an SVG file, and as JSON for pages, which draw it. */
#pragma once

#include <stdio.h>

#include "banks/bank.h"
#include "report/json.h"

/* At most SMP_TEXT_WIDTH columns. With colour, the first wavefronts of a phase are green and conflicts red; without,
 * the line numbers tell the same. */
void smp_bank_map_text(FILE *to, const smp_bank_access *access, bool color);

/* A picture about 620 px wide, with XML namespace, styles and background. Every cell has a tooltip with lanes and
 * bytes. title: a line above the map, and the picture's name for screen readers; subtitle: a second line. Any UTF-8,
 * cut at the picture's edge; null: none. */
void smp_bank_map_svg(FILE *to, const smp_bank_access *access, const char *title, const char *subtitle);

/* The member `key`: the byte address of each lane, null of one that is not active. */
void smp_bank_offsets_json(smp_json *json, const char *key, const smp_bank_access *access);

/* The member "access": what the access costs, which lanes take turns, which layout of the array
 * `name` (null: unknown) would spare that, the share of memory that its pad adds, and for each wavefront the pairs of a
 * bank and the lanes (bit n: lane n) that it serves. Nothing without active lanes. */
void smp_bank_access_json(smp_json *json, const smp_bank_access *access, const char *name);

/* "0-7 9 12-15": the lanes of a mask, runs separated by `separator`. Returns text. */
char *smp_bank_lanes_text(char *text, size_t size, uint32_t lanes, const char *separator);
