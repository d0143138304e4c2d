/* The results of a batch as one page: a sample of files before and after, failures with their reasons, where the time
 * went. */
#pragma once

#include "io/read_options.h"
#include "pipe/program.h"
#include "report/report.h"

enum { SMP_PAGE_PAIRS = 6, SMP_PAGE_SLOW = 8, SMP_PAGE_FAILURES = 200 };

typedef struct smp_page_file {
    char *input, *text; /* text: the output's path; of a failure why */
    char *hint;         /* of a failure; null: none */
    uint64_t key;       /* a pair: the least hashes are the sample; else milliseconds */
} smp_page_file;

typedef struct smp_batch_page {
    size_t done, failed, skipped; /* skipped: made before, and left */
    double read, compute, write;  /* seconds of all files */
    double input_bytes;
    smp_page_file pairs[SMP_PAGE_PAIRS], slow[SMP_PAGE_SLOW], failures[SMP_PAGE_FAILURES];
    size_t pair_count, slow_count, failure_count;
} smp_batch_page;

/* Notes a file. Without memory it is left out of the samples. */
void smp_batch_page_add(smp_batch_page *page, const smp_run_report *report, const smp_error *err);

/* Work that the files went through. */
typedef struct smp_page_work {
    const char *pipe; /* the pipeline's name; null: its stages were given */
    const smp_program *program;
    const char *folder;
    double wall_seconds;
} smp_page_work;

/* Writes the page, after it sorts the failures; pictures of the sample are read again. */
void smp_batch_page_write(FILE *to, smp_batch_page *page, const smp_page_work *work, const smp_read_options *how);
void smp_batch_page_free(smp_batch_page *page);
