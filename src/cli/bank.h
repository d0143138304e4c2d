/* What `smempipe bank` found out about one access; bank.c finds it out, bank_show.c prints it. */
#ifndef SMP_CLI_BANK_H
#define SMP_CLI_BANK_H

#include "cli/cli.h"
#include "counters/elements.h"
#include "counters/pattern.h"

typedef struct smp_bank_study {
    const char *name;           /* the pattern as the user wrote it, or what stands for a list of offsets */
    const smp_pattern *pattern; /* null: a list of offsets */
    const char *op;             /* "ld" */
    char capability[16];        /* "9.0", "3.0/8" */
    smp_bank_rules rules;
    smp_bank_access access;
    smp_elements elements;
    smp_advice advice;
    smp_bank_schedule schedule;
} smp_bank_study;

extern const smp_command smp_command_bank;

void smp_bank_study_table(FILE *to, const smp_bank_study *study, bool verbose, bool color);
/* One object, or an array of them. */
void smp_bank_studies_json(FILE *to, const smp_bank_study *studies, size_t count);

/* A line each. */
void smp_bank_comparison(FILE *to, const smp_bank_study *studies, size_t count, bool color);

/* "32-way bank conflict: 32 wavefronts where 1 would do", "no bank conflict: 1 wavefront". Returns text. */
char *smp_bank_verdict(char *text, size_t size, const smp_bank_study *study);

/* How the rules of a device come about, with their sources. */
void smp_bank_explain(FILE *to, smp_bank_rules rules);

#endif
