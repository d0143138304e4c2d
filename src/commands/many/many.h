/* Shared by commands over many files: which files, how many at once, the list of failures at the end. */
#pragma once

#include "base/hash/hash.h"
#include "batch/batch.h"
#include "batch/find_files.h"
#include "cli/cli.h"

/* Settings of commands over many files begin with these. */
typedef struct smp_many_settings {
    smp_plan_settings plan;
    const char *pipe;
    smp_strings inputs;
    smp_strings include, exclude;
    const char *list; /* --files-from */
    char *listed;     /* its text, which inputs point into */
    bool recursive;
    int64_t jobs;
} smp_many_settings;

extern const smp_option smp_many_options[];
#define SMP_MANY_GROUP                                                                                                 \
    {                                                                                                                  \
        "options for many files", smp_many_options                                                                     \
    }

/* Adds the files that --files-from names to the inputs. smp_many_close frees what that took. */
smp_code smp_many_open(smp_many_settings *settings, smp_error *err);
void smp_many_close(smp_many_settings *settings);

smp_find_options smp_many_walk(const smp_many_settings *settings, const smp_program *program);

/* Whether files that the pipeline reads are there, before the first of many is begun. */
smp_code smp_many_operands(const smp_program *program, smp_diags *diags, smp_error *err);

/* Refuses options that say which files, beside a list that does. other: one of the command that says so too, or null.
 */
smp_code smp_many_beside_list(const smp_many_settings *settings, const char *other, smp_error *err);

/* No file to work on is an error that says where was looked. */
smp_code smp_many_check(const smp_many_settings *settings, smp_kind wanted, size_t files, smp_left_out *left_out,
                        smp_error *err);

/* Says that so many files were passed over by their names; text: which, or null. */
void smp_many_others(const smp_common *common, uint64_t count, const char *text);

/* No file in a list of work, of which so many files are something else by their names. */
smp_code smp_many_fail_list(const char *list, size_t left_out, smp_error *err);

/* The files that inputs name; none is an error. paths: theirs, from smp_alloc, then null; may be null. */
smp_code smp_many_find(const smp_many_settings *settings, const smp_find_options *walk, smp_found_list *found,
                       const char ***paths, smp_error *err);

/* Makes the request for every file's run; files, count and callbacks are the command's. */
smp_batch_request smp_many_request(const smp_many_settings *settings, const smp_program *program, smp_diags *diags);

/* All that decides what is computed of a file: the texts of the pipeline, pictures in it, parameters and, but for
 * any_version, the version. */
smp_hash smp_many_work(const smp_many_settings *settings, const smp_program *program, const smp_diags *diags,
                       bool any_version);

/* Returns a hash of the files found: their paths and sizes, in their order. */
smp_hash smp_many_list(const smp_found_list *found);

/* Failures as they come, shown at the end. */
typedef struct smp_failures {
    char **lines;  /* "FILE: what is wrong", and behind its null byte the hint, which may be empty */
    char *pattern; /* "*.txt": of the first file that is in no format by its name either; null: none */
    size_t kept, capacity, count;
} smp_failures;

void smp_failures_add(smp_failures *failures, const char *input, const smp_error *err);
void smp_failures_show(smp_failures *failures, const smp_common *common, size_t files);
void smp_failures_free(smp_failures *failures);

/* Notes of the report's input and output as they come, shown as warnings at the end. */
typedef struct smp_remarks {
    char **lines; /* "FILE: note" */
    size_t kept, capacity, count;
} smp_remarks;

void smp_remarks_add(smp_remarks *remarks, const smp_run_report *report);
void smp_remarks_show(smp_remarks *remarks, const smp_common *common);
void smp_remarks_free(smp_remarks *remarks);
