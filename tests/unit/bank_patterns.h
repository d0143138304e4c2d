/* Reads tests/data/h100_bank_patterns.csv: one row an address pattern, with what an H100 counted for it. */
#ifndef SMP_TESTS_BANK_PATTERNS_H
#define SMP_TESTS_BANK_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/bank.h"

typedef struct bank_pattern {
    char op[16], pattern[32];
    smp_bank_access access;
    int wavefronts, conflicts;
} bank_pattern;

/* Smoke and failure alike end the test here: the file belongs to the source tree. */
static inline FILE *bank_patterns_open(void)
{
    FILE *file = fopen(SMP_SOURCE_DIR "/tests/data/h100_bank_patterns.csv", "r");
    if (!file)
        abort();
    return file;
}

static inline bool bank_patterns_next(FILE *file, bank_pattern *row)
{
    static const struct {
        const char *name;
        smp_bank_op op;
    } ops[] = {
        {"ld", SMP_BANK_LOAD},
        {"st", SMP_BANK_STORE},
        {"atom_inc", SMP_BANK_COUNT},
        {"atom_add", SMP_BANK_ATOMIC},
        {"atom_add_ret", SMP_BANK_ATOMIC},
        {"atom_add_f32", SMP_BANK_ATOMIC_FLOAT},
    };
    char line[1024];
    while (fgets(line, sizeof line, file)) {
        int at = 0, lane = 0;
        memset(row, 0, sizeof *row);
        if (sscanf(line, "%15[^,],%d,%31[^,],%x,%d,%d,%n", row->op, &row->access.width, row->pattern,
                   &row->access.active, &row->wavefronts, &row->conflicts, &at) != 6 ||
            !at)
            continue; /* the comment and the heading */
        char *p = line + at;
        for (; lane < SMP_WARP; lane++) {
            char *end;
            row->access.offset[lane] = (uint32_t)strtoul(p, &end, 10);
            if (end == p)
                break;
            p = end;
        }
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
            if (!strcmp(ops[i].name, row->op)) {
                row->access.op = ops[i].op;
                if (lane == SMP_WARP)
                    return true;
            }
        abort(); /* a row that is not understood */
    }
    return false;
}

#endif
