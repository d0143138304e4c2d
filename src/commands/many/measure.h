/* Shared by the files of smempipe measure: settings, and what is told of files, measured here or read from parts. */
#pragma once

#include <limits.h>

#include "base/text/texts.h"
#include "batch/claims/work_list.h"
#include "commands/many/many.h"
#include "report/measure/measure.h"
#include "report/measure/part.h"

typedef struct smp_measure_settings {
    smp_many_settings many;
    bool json, csv, long_form, totals_only, merge;
    const char *sort, *shard, *partial, *work_list, *html;
} smp_measure_settings;

/* Files, whose numbers are those in the order of all shards' files. */
typedef struct smp_measure_files {
    struct smp_measure_files *next;
    smp_batch_file *items;
    size_t count, capacity;
} smp_measure_files;

/* The files to measure. */
typedef struct smp_measure_work {
    smp_measure_files files;
    smp_part_head head; /* but for head.work. For a list, left_out is this shard's, and there is no text of them */
    smp_found_list found;
    smp_texts texts;
    /* For a rank of a team, in place of files: */
    smp_work_list *list;
    smp_kind kind;             /* that the pipeline is for */
    bool agreed;               /* all ranks are ready: the others wait for this one */
    uint64_t *starts;          /* of each piece: the number of its first file */
    smp_measure_files *pieces; /* that were dealt */
} smp_measure_work;

/* To be freed also on failure. */
smp_code smp_measure_work_find(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                               smp_error *err);
void smp_measure_work_free(smp_measure_work *work);

typedef struct smp_measuring {
    const smp_common *common;
    const smp_measure_settings *settings;
    smp_measure_output output;
    char *page; /* of --html, until it is written: from open_memstream */
    size_t page_size;
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

/* Adds the files of a piece, but for those that the pipeline is not for; number: of its first file. */
smp_code smp_measure_add_piece(smp_measure_work *work, const smp_work_list *list, size_t piece, smp_kind kind,
                               uint64_t number, smp_measure_files *to, smp_error *err);

/* Ranks (measure_team.c). Opens the list; the next piece, for smp_batch_request.more; a folder for the part. The end,
 * with what kept this rank from going on: the parts come to rank 0, which tells what they say. */
smp_code smp_measure_team_open(const smp_measure_settings *settings, const smp_program *program, smp_measure_work *work,
                               smp_error *err);
smp_code smp_measure_team_more(smp_measure_work *work, const smp_batch_file **files, size_t *count, smp_error *err);
smp_code smp_measure_team_folder(char folder[PATH_MAX], smp_error *err);
smp_code smp_measure_team_end(const smp_measure_settings *settings, char *path, smp_code code, smp_error *err);
void smp_measure_team_close(smp_measure_work *work);

/* smempipe measure --merge. */
smp_code smp_measure_merge(const smp_measure_settings *settings, smp_error *err);
