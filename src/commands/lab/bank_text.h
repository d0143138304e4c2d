/* Texts that tables and JSON of `smempipe bank` share (bank_show.c). */
#pragma once

#include "commands/lab/bank.h"

/* n-way: 0 where no lane takes part. */
double smp_bank_ways(smp_bank_cost cost);

/* All that one bank serves in one phase, over its turns. */
typedef struct smp_bank_sharing {
    int phase, bank, turns;
    uint32_t lanes[SMP_WARP]; /* of each turn */
    uint32_t all;
} smp_bank_sharing;

/* The sharing of a bank in a phase; false when it serves fewer than two turns. */
bool smp_bank_sharing_of(const smp_bank_study *study, int phase, int bank, smp_bank_sharing *out);

/* The words of a bank that lanes access, in the order of lanes; words are as wide as banks. Returns their number. */
int smp_bank_words_of(const smp_bank_study *study, const smp_bank_sharing *s, uint32_t words[SMP_WARP]);

/* "float [32][33] column": the array with `pad` elements at the end of each row. */
void smp_bank_array_text(char *text, size_t size, const smp_bank_study *study, int64_t pad);

/* "r", "(r >> 2)", "(r * 2)", "(i/32 % 8)": what a swizzle adds to the column. */
void smp_bank_swizzle_text(char *text, size_t size, const smp_bank_study *study, const smp_layout *layout);
