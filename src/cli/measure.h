/* What the files of smempipe measure share: settings, and what is told of files, measured here or read from parts. */
#ifndef SMP_CLI_MEASURE_H
#define SMP_CLI_MEASURE_H

#include "cli/many.h"
#include "report/measure.h"
#include "report/part.h"

typedef struct smp_measure_settings {
    smp_many_settings many;
    bool json, csv, long_form, totals_only, merge;
    const char *sort, *shard, *partial;
} smp_measure_settings;

typedef struct smp_measuring {
    const smp_common *common;
    const smp_measure_settings *settings;
    smp_measure_output output;
    smp_totals totals; /* the caller adds to them */
    smp_failures failures;
    smp_remarks remarks;
} smp_measuring;

/* Begins to tell what is measured, on standard output; then each file in its order (why: what it failed of); at the end
 * the totals, warnings and failures. SMP_E_PROCESS, with no message: files failed. */
void smp_measuring_begin(smp_measuring *m, const smp_measure_settings *settings);
smp_code smp_measuring_file(smp_measuring *m, const smp_run_report *report, const smp_error *why, smp_error *err);
smp_code smp_measuring_end(smp_measuring *m, size_t done, size_t failed, smp_error *err);
void smp_measuring_free(smp_measuring *m);

/* Says that so many files were passed over by their names. */
void smp_measuring_others(const smp_common *common, uint64_t count, const char *text);

/* smempipe measure --merge. */
smp_code smp_measure_merge(const smp_measure_settings *settings, smp_error *err);

#endif
