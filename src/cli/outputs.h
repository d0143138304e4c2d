/* Settings of the commands that write outputs: run, batch, and convert, which is a front of both without a pipeline. */
#ifndef SMP_CLI_OUTPUTS_H
#define SMP_CLI_OUTPUTS_H

#include "batch/todo.h"
#include "cli/many.h"
#include "cli/write_options.h"

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

typedef struct smp_batch_settings {
    smp_many_settings many;
    const char *folder, *pattern, *to, *report, *shard;
    bool skip_existing, resume, redo_changed, dry_run;
    int on_error; /* index into continue, stop */
    int pages;    /* index into one, all */
    smp_write_settings write;
} smp_batch_settings;

/* Settings that hold these options begin with smp_batch_settings. */
extern const smp_option smp_batch_options[];
#define SMP_BATCH_NAMES "{stem}.{ext}" /* of outputs, by default */

/* smempipe batch, the same. */
smp_code smp_cli_batch(smp_batch_settings *settings, smp_error *err);

/* Before an input is opened or a thread is started: the program gives up all but what it needs. Not with --no-sandbox,
 * and not where a GPU's driver may be opened. Of a batch, after its folder and its journal are made. */
void smp_cli_confine_run(const smp_run_settings *settings, const smp_program *program);
/* The same for one input, from which files are made in a folder that is there. */
void smp_cli_confine_folder(const smp_common *common, const smp_program *program, const char *in, const char *folder);
void smp_cli_confine_batch(const smp_batch_settings *settings, const smp_program *program, const smp_todo *todo);

#endif
