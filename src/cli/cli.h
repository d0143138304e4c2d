/* Shared by the subcommands: common settings, printing of errors, pipelines named on the command line, signals. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "batch/batch.h"
#include "cli/options.h"
#include "device/device.h"
#include "io/media.h"
#include "pipe/program.h"
#include "run/run.h"

/* ------------------------------------------------------------------------------------------------ settings */

/* Every command's settings begin with these. */
typedef struct smp_common {
    bool help, version, quiet, verbose, force;
    int color; /* index into auto, always, never */
    const char *device;
    int64_t threads;
    bool no_sandbox;
    const char *raw; /* the text of read.raw; null: inputs have headers */
    smp_read_options read;
    bool fast_decode; /* of smp_run_request */
    uint64_t gpu_jpeg;
} smp_common;

extern const smp_option smp_common_options[];
#define SMP_COMMON_GROUP                                                                                               \
    {                                                                                                                  \
        "common options", smp_common_options                                                                           \
    }

/* Settings of commands that take a pipeline begin with these. */
typedef struct smp_pipeline_settings {
    smp_common common;
    smp_strings stages;         /* -e */
    const char *stages_from;    /* what messages about them name; null: -e */
    smp_strings settings;       /* --set name=value */
    smp_strings readable;       /* --allow-read */
    bool trust;                 /* of the author of its kernels */
    int64_t seed, epoch, index; /* of random values: smp_cli_draw */
    int diagnostics;            /* index into text, json */
    smp_kind input;             /* what is read, by its name; none: not known */
    bool makes;                 /* the pipeline may make its input (stages/origins) */
    bool lenient;               /* a compiler of kernels that is missing is a warning */
} smp_pipeline_settings;

extern const smp_option smp_pipeline_options[];
/* Rows about what random values are drawn for; `at`: where the pipeline settings lie in the command's. */
#define SMP_SEED_OPTION(at)                                                                                            \
    {                                                                                                                  \
        "seed", 0, SMP_O_INT, (at) + offsetof(smp_pipeline_settings, seed),                                            \
            .fallback = "0", .argument = "N", .min = 0, .max = 9e15,                                                   \
            .help = "what the pipeline's random values are drawn by: the same seed, the same values",                  \
            .flags = SMP_O_DEVICE | SMP_O_ADVANCED                                                                     \
    }
#define SMP_INDEX_OPTION(at)                                                                                           \
    {                                                                                                                  \
        "index", 0, SMP_O_INT, (at) + offsetof(smp_pipeline_settings, index),                                          \
            .fallback = "0", .argument = "N", .min = 0, .max = 9e15,                                                   \
            .help = "draw random values as for this picture of a data set that smempipe.Feed reads",                   \
            .flags = SMP_O_ADVANCED                                                                                    \
    }
smp_draw smp_cli_draw(const smp_pipeline_settings *settings);
#define SMP_PIPELINE_GROUP                                                                                             \
    {                                                                                                                  \
        "pipeline options", smp_pipeline_options                                                                       \
    }

/* Settings of commands that plan or run a pipeline begin with these. */
typedef struct smp_plan_settings {
    smp_pipeline_settings base;
    const char *variant;
    int isa; /* index into auto, base, v3, v4; see smp_cli_isa */
    int64_t strip_rows;
    bool plain_storage, no_fuse;
} smp_plan_settings;

extern const smp_option smp_plan_options[];
#define SMP_PLAN_GROUPS                                                                                                \
    SMP_COMMON_GROUP,                                                                                                  \
    {                                                                                                                  \
        "plan options", smp_plan_options                                                                               \
    }

/* The words of --isa, for smp_plan_settings.isa. */
extern const char *const smp_isa_words[];

/* The instruction set asked for, null for the best. */
const char *smp_cli_isa(const smp_plan_settings *settings);

/* A run over one file: the device that is asked for, and a request with it, the program, the input, limits and plan
 * options. Outputs and progress are the caller's to fill in. */
typedef struct smp_cli_job {
    smp_device *device;
    char note[160]; /* which device was chosen, and why */
    smp_run_request request;
} smp_cli_job;

/* *job is to be closed also on failure. */
smp_code smp_cli_job_open(const smp_plan_settings *settings, const smp_program *program, smp_diags *diags,
                          const char *input, smp_cli_job *job, smp_error *err);
void smp_cli_job_close(smp_cli_job *job);

/* A variant that no stage has is SMP_E_USAGE. */
smp_code smp_cli_check_variant(const smp_plan_settings *settings, smp_error *err);

/* ------------------------------------------------------------------------------------------------ output */

/* The program: its exit status. */
int smp_cli_main(int argc, char **argv);

/* Is colour wanted on stdout (1) or stderr (2)? --color, then NO_COLOR, then whether it is a terminal. */
bool smp_cli_color(const smp_common *common, int fd);

/* "smempipe: WHERE: error: MESSAGE" and "  = hint: HINT" on stderr; nothing when the message is empty, so that an error
 * is said once: whoever prints it clears it. */
void smp_cli_error(const smp_common *common, smp_error *err);

/* "smempipe: warning: ..." on stderr unless --quiet. */
void smp_cli_warning(const smp_common *common, const char *format, ...) SMP_PRINTF(2, 3);
/* Warns of samples that a writer clipped, where there are some. */
void smp_cli_clipped(const smp_common *common, const char *path, uint64_t samples);

/* Warns of each step that clipped more than one sample in twenty, since the picture may be ruined by it, and of what a
 * step says itself. */
void smp_cli_step_warnings(const smp_common *common, const char *path, const smp_run_report *report);

/* Notes about a file as warnings. path "-" is named standard input or, when it was written, standard output. */
void smp_cli_notes(const smp_common *common, const char *path, bool written, const smp_notes *notes);

/* Commits a file, and warns of what it lost, at its end too. */
smp_code smp_cli_commit(const smp_common *common, const char *path, smp_writer *writer, smp_error *err);

/* Flushes and closes stdout: a full disk behind it is SMP_E_WRITE, not silence. */
smp_code smp_cli_close_stdout(smp_error *err);

/* SIGINT, SIGTERM, SIGHUP and SIGPIPE remove unfinished files and end the program: the first two with status 130 and
 * 143. */
void smp_cli_catch_signals(void);

/* From now on the first SIGINT or SIGTERM only sets this to its number, for work that ends in good order; the second
 * ends the program as before. */
extern volatile sig_atomic_t smp_cli_stopped;
void smp_cli_stop_gently(void);

/* Refuses to write pictures to a terminal and to wait for one from it; path "-" is the one or the other. */
smp_code smp_cli_check_stdin(const char *path, smp_error *err);
smp_code smp_cli_check_stdout(const char *path, smp_error *err);

/* The same for an input, which cannot come from standard input when the pipeline does (null: -e stages). */
smp_code smp_cli_check_input(const char *pipe, const char *in, smp_error *err);

/* Refuses to replace a file that does not begin like what is written: a picture by a page, names by a list. begins: at
 * most 64 bytes. */
smp_code smp_cli_keep_other(const char *path, const char *begins, const char *what, smp_error *err);

/* Refuses a report that would overwrite a file that the command uses, existing or yet to be made. Null or "-": never.
 */
smp_code smp_cli_refuse_report(const char *path, const char *used, smp_error *err);

/* Refuses a report that cannot be written, before the work that it tells of: what smp_output_open refuses. Null or "-":
 * never. */
smp_code smp_cli_check_report(const char *path, bool force, smp_error *err);

/* Writes what render() prints of data to a file, which appears whole or not at all (io/files/output.h). */
typedef void smp_cli_render(FILE *to, const void *data);
smp_code smp_cli_write_file(const char *path, bool force, smp_cli_render *render, const void *data, smp_error *err);

/* Opens the device that --device and --threads ask for. For `auto` the work is guessed from the header of the input at
 * path (null, - or unreadable: unknown, taken as none) and the stages. */
smp_code smp_cli_device(const smp_common *common, const char *isa, const char *path, const smp_program *program,
                        smp_device **out, char *note, size_t note_size, smp_error *err);

/* ------------------------------------------------------------------------------------------------ pipelines */

/* Reads and parses the pipe file at path ("-": stdin), or the -e stages when path is null. *out is null on failure. */
smp_code smp_cli_parse(const smp_pipeline_settings *settings, const char *path, smp_diags *diags, smp_program **out,
                       smp_error *err);

/* The same of a text that would be the pipe file's at path, which need not exist. text null: it is read. */
smp_code smp_cli_parse_text(const smp_pipeline_settings *settings, const char *path, const char *text, smp_diags *diags,
                            smp_program **out, smp_error *err);

/* Prints the comment at the beginning of a pipe file or an installed pipeline, and its parameters. */
smp_code smp_cli_show_pipeline(const smp_common *common, const char *name, smp_error *err);

/* Prints the diagnostics (warnings alone not with --quiet). When they hold an error, or with --diagnostics=json, err is
 * said with them and cleared. */
void smp_cli_diagnostics(const smp_pipeline_settings *settings, const smp_diags *diags, smp_error *err);

/* Warns of a pipeline without any statement; path: its file, null: there is none. */
void smp_cli_warn_of_no_stage(const smp_common *common, const char *path, const smp_program *program);

/* Parses the pipeline, has `work` do its work with it, and prints the diagnostics of both. */
typedef smp_code smp_cli_work(void *context, const smp_program *program, smp_diags *diags, smp_error *err);
smp_code smp_cli_with_program(const smp_pipeline_settings *settings, const char *path, smp_cli_work *work,
                              void *context, smp_error *err);

/* ------------------------------------------------------------------------------------------------ progress */

typedef struct smp_progress {
    bool shown, enabled, watched;
    double began, last; /* seconds */
    const char *name;
    pthread_t watcher; /* while watched */
    atomic_int mille;  /* of the work is done */
    atomic_bool ended;
} smp_progress;

/* A bar on stderr for work of over a second, only on a terminal and not with --quiet. */
void smp_progress_begin(smp_progress *progress, const smp_common *common, const char *name);
smp_code smp_progress_step(void *progress, int64_t done, int64_t total);

/* From now on the bar is drawn by a thread, so that it is seen also while one step takes long. After
 * smp_progress_begin. */
void smp_progress_watch(smp_progress *progress);
void smp_progress_end(smp_progress *progress);

/* The same for many files: how many, files a second, time left. */
void smp_progress_files(smp_progress *progress, const smp_batch_count *count);

/* ------------------------------------------------------------------------------------------------ help */

/* The commands; the commands, topics and stages. */
void smp_help_short(FILE *to);
void smp_help_overview(FILE *to);
void smp_help_command(FILE *to, const smp_command *command, bool brief); /* brief: one screen */
void smp_help_usage(FILE *to, const smp_command *command);               /* without the options */
smp_code smp_help_topic(const smp_common *common, const char *topic, smp_error *err);

/* Whether a stage makes each sample from those around it, and so has a rule for what lies outside the picture. */
bool smp_help_is_filter(const smp_stage *stage);

/* Writes text with {stencil}, {point}, {reduce} and {whole} replaced by examples of such stages; a tab goes on to the
 * column of remarks. */
void smp_help_expand(FILE *to, const char *text);

/* The reference of one stage. */
void smp_stage_reference(FILE *to, const smp_stage *stage, bool color);
