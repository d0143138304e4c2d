/* The study of one access for `smempipe bank`: bank_rows.c lists accesses, bank.c studies them, bank_show.c prints. */
#pragma once

#include "cli/cli.h"
#include "lab/counters/elements.h"
#include "lab/counters/pattern.h"

enum { SMP_BANK_DEFINES = 16 };

typedef struct smp_bank_study {
    const char *text;             /* the pattern as the user wrote it, or what stands for a list of offsets */
    char *name;                   /* with the member and the values of -D; from smp_alloc */
    const smp_pattern *pattern;   /* null: a list of offsets */
    const smp_pattern_part *part; /* of the pattern; null: its elements have no type */
    bool owner;                   /* of the pattern, which the next rows may share */
    smp_pattern_define defines[SMP_BANK_DEFINES];
    size_t define_count;
    const char *op, *op_text; /* "ld", "loads" */
    bool matrix;              /* ldmatrix, stmatrix */
    char capability[16];      /* "9.0" */
    smp_bank_access access;
    smp_elements elements;
    smp_advice advice;
    smp_bank_schedule schedule;
} smp_bank_study;

extern const smp_command smp_command_bank;

typedef struct smp_bank_rows {
    smp_bank_study *items;
    size_t count, capacity, expected; /* expected: with those that have mistakes */
    char **names;                     /* of defines, which studies refer to */
    size_t name_count;
} smp_bank_rows;

/* Fills a study whose text, name, pattern and part are set. Mistakes go into diagnostics. */
typedef smp_code smp_bank_study_one(const void *settings, smp_bank_study *study, smp_diags *diags, smp_error *err);

/* Studies all patterns, for all choices of the values in defines ("stride=1,2,4"). A pattern with a mistake has
 * diagnostics and no row; the others are studied all the same. */
smp_code smp_bank_rows_of(const smp_strings *patterns, const smp_strings *defines, smp_diags *diags,
                          smp_bank_study_one *study_one, const void *settings, smp_bank_rows *rows, smp_error *err);
void smp_bank_rows_free(smp_bank_rows *rows);

/* "32", "32x8", "8x8x4" */
smp_code smp_bank_block(const char *text, smp_pattern_block *out, smp_error *err);

void smp_bank_study_table(FILE *to, const smp_bank_study *study, bool color);
/* One object, or (many) an array of them. */
void smp_bank_studies_json(FILE *to, const smp_bank_study *studies, size_t count, bool many);

/* A line each. */
void smp_bank_comparison(FILE *to, const smp_bank_study *studies, size_t count, bool color);

/* "32-way bank conflict: 32 wavefronts where 1 would do", "no bank conflict: 1 wavefront". Returns text. */
char *smp_bank_verdict(char *text, size_t size, const smp_bank_study *study);

/* Explains the rules, with their sources. */
void smp_bank_explain(FILE *to);
