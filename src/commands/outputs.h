/* Settings of the commands that write outputs: run, batch, and convert, which is a front of both without a pipeline. */
#pragma once

#include "batch/todo.h"
#include "cli/write_options.h"
#include "commands/many/many.h"
#include "report/measure/batch_page.h"

typedef struct smp_run_settings {
    smp_plan_settings plan;
    const char *pipe, *in, *out; /* pipe null: the stages of plan.base */
    const char *report;          /* null: none, "": table on stderr, else a file */
    const char *format;          /* of standard output: an extension; null: the usual */
    bool counters, frames;
    smp_write_settings write;
} smp_run_settings;

/* smempipe run, with the command line checked and parsed. */
smp_code smp_cli_run(smp_run_settings *settings, smp_error *err);

/* convert.c: options that are stages, as they are given; null: they are not. */
typedef struct smp_option_stages {
    const char *resize, *rate, *channels;
} smp_option_stages;
enum { SMP_OPTION_STAGES = 3 };

/* Adds their statements to stages. texts: SMP_OPTION_STAGES of them, zeroed, which the caller frees. *from: what to
 * call the stages where no others are written. */
smp_code smp_cli_option_stages(const smp_option_stages *settings, smp_strings *stages, char **texts, const char **from,
                               smp_error *err);

enum { SMP_ON_ERROR_STOP = 1 }; /* of --on-error */

/* Files that are as loud as --skip-level says. */
typedef struct smp_batch_level {
    char **paths;
    size_t count;
} smp_batch_level;

typedef struct smp_batch_settings {
    smp_many_settings many;
    const char *folder, *pattern, *to, *report, *html, *shard, *work_list, *retake, *grace, *album, *skip_level;
    const char *backup; /* with in_place: what is put behind the names of the files that were there */
    bool in_place, skip_existing, resume, redo_changed, dry_run, claim;
    int on_error;           /* index into continue, stop */
    int sync;               /* index into file, piece */
    int pages;              /* index into one, all */
    int64_t headers;        /* that --dry-run reads */
    smp_batch_level *level; /* null unless --skip-level is given */
    smp_write_settings write;
} smp_batch_settings;

/* Settings that hold these options begin with smp_batch_settings. */
extern const smp_option smp_batch_options[];
#define SMP_BATCH_NAMES "{stem}.{ext}" /* of outputs, by default */

/* smempipe batch, the same. */
smp_code smp_cli_batch(smp_batch_settings *settings, smp_error *err);

/* in_place.c: smempipe batch and convert --in-place. */
smp_code smp_cli_in_place(smp_batch_settings *settings, smp_error *err);

/* All that decides what outputs look like. any_version: of the program, which may change them. */
smp_hash smp_batch_work(const smp_batch_settings *settings, const smp_program *program, const smp_diags *diags,
                        bool any_version);

/* One run of a batch. */
typedef struct smp_batch_job {
    const smp_batch_settings *settings;
    smp_todo todo;
    smp_progress progress;
    smp_failures failures;
    smp_remarks remarks;
    FILE *report, *html; /* html: of the page, which is written at the end */
    int report_failed;   /* the system's number of what kept a line from being written; 0: nothing */
    smp_batch_page page;
    bool told;         /* that it is being stopped, */
    double stopped;    /* when, and */
    double grace;      /* how long files in flight may take then; 0: as long as they do */
    smp_error journal; /* the first that could not be noted */
    double began;
    size_t left_out;      /* samples of tar files */
    pthread_mutex_t lock; /* of failures, remarks, report, page and journal, while the batch runs */
} smp_batch_job;

/* batch_album.c: measures all files, and adds to --set what brings them together to the level of --album. set: room for
 * its text, which is used from then on. */
smp_code smp_batch_album(smp_batch_settings *settings, char *set, size_t size, smp_error *err);

/* batch_level.c: measures all files; sorts the paths. */
smp_code smp_batch_level_measure(const smp_batch_settings *settings, smp_batch_level *level, smp_error *err);
bool smp_batch_is_level(void *context, const char *path); /* context: an smp_batch_level */
void smp_batch_level_free(smp_batch_level *level);

/* batch_run.c: does what is to be done. */
smp_code smp_batch_do(smp_batch_job *job, const smp_program *program, smp_diags *diags, smp_error *err);

/* --report and --html (batch_report.c): the report may be none of the files of the work, whatever --force and --resume
 * say; it is opened, and closed. The name of a shard's report has the shard in it. */
smp_code smp_batch_report_check(const smp_batch_job *job, const smp_program *program, const smp_diags *diags,
                                smp_error *err);
smp_code smp_batch_report_open(smp_batch_job *job, smp_error *err);
smp_code smp_batch_report_close(smp_batch_job *job, const smp_program *program, smp_error *err);

/* Files that need nothing have a line too, so that the report is complete; outputs that were changed since they were
 * made are failures. */
void smp_batch_report_skipped(smp_batch_job *job, const smp_work_unit *unit);

/* --dry-run (batch_dry.c): the headers that it reads, of files evenly spread. */
typedef struct smp_trial {
    smp_run_request request; /* for every file */
    size_t seen, tried, wanted, all;
} smp_trial;

smp_code smp_trial_open(smp_trial *trial, const smp_batch_settings *settings, const smp_program *program,
                        smp_diags *diags, size_t files, smp_error *err);
/* What a run of the file would fail by, if its turn has come: its header, the plan for it, the names of its outputs. */
smp_code smp_trial_file(smp_trial *trial, const smp_batch_file *file, smp_error *err);
/* Says how many of them it read. */
void smp_trial_close(smp_trial *trial, const smp_common *common);

/* What would become of every file; files that would fail are named as after a run. */
smp_code smp_batch_dry_run(smp_batch_job *job, const smp_program *program, smp_diags *diags, smp_error *err);

/* Before an input is opened or a thread is started: the program gives up all but what it needs. Not with --no-sandbox,
 * and not where a GPU's driver may be opened. For a batch, after its folder and its journal are made. */
void smp_cli_confine_run(const smp_run_settings *settings, const smp_program *program);
/* The same for many inputs, from which files are made in the folder of `output` (null: none). */
void smp_cli_confine_many(const smp_many_settings *many, const smp_program *program, const smp_found_list *found,
                          const char *output);
/* The same for one input, from which files are made in a folder that is there. */
void smp_cli_confine_folder(const smp_common *common, const smp_program *program, const char *in, const char *folder);
/* The same for pipelines that are yet to be written, in a text that lies at `pipe` and is saved to another path. */
smp_code smp_cli_confine_edit(const smp_common *common, const char *in, const char *pipe, const char *save_to,
                              smp_error *err);
/* The same for a page that needs no file. */
void smp_cli_confine_page(const smp_common *common);
/* The same for files that are replaced where they lie. */
void smp_cli_confine_in_place(const smp_many_settings *many, const smp_program *program, const smp_found_list *found,
                              const smp_batch_file *files, size_t count);
void smp_cli_confine_batch(const smp_batch_settings *settings, const smp_program *program, const smp_todo *todo);
