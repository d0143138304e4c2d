/* smempipe batch: many files through a pipeline. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/paths.h"
#include "batch/todo.h"
#include "cli/mistakes.h"
#include "cli/shard.h"
#include "cli/shipped.h"
#include "cli/team.h"
#include "cli/write_options.h"
#include "commands/many/batch_meter.h"
#include "io/files/tar.h"

static const char *const on_error_words[] = {"continue", "stop", NULL};
static const char *const pages_words[] = {"one", "all", NULL};
static const char *const sync_words[] = {"file", "piece", NULL};
enum { SYNC_PIECE = 1, PAGES_ALL = 1 };
#define HEADERS "2000"

const smp_option smp_batch_options[] = {
    {"output", 'o', SMP_O_STRING, offsetof(smp_batch_settings, folder), .argument = "OUT_DIR",
     .help = "the folder to write to; made when it is not there. Folders in the input become folders in it"},
    {"name", 0, SMP_O_STRING, offsetof(smp_batch_settings, pattern), .fallback = SMP_BATCH_NAMES, .argument = "PATTERN",
     .help =
         "names of the outputs: {stem} is the input's name without extension; {ext} its extension (png where that "
         "cannot be written), {name} both, {from} the input's own whatever is written; {date}, {time}, {camera}, "
         "{title}, {width}, {height} are its header's; '{stem}.jpg' writes JPEGs; {shard}, of tar files, is {stem}"},
    {"to", 0, SMP_O_STRING, offsetof(smp_batch_settings, to), .argument = "EXT",
     .help = "the format of the outputs, by its extension: png, jpg, npy, flac; the inputs' own unless said"},
    {"resume", 0, SMP_O_FLAG, offsetof(smp_batch_settings, resume),
     .help = "go on where a run was interrupted or killed, with what is new or changed; a journal in the output folder "
             "knows what is done"},
    {"redo-changed", 0, SMP_O_FLAG, offsetof(smp_batch_settings, redo_changed),
     .help = "with --resume: redo outputs that were changed since a batch wrote them; without it they are named and "
             "left as they are",
     .flags = SMP_O_ADVANCED},
    {"skip-existing", 0, SMP_O_FLAG, offsetof(smp_batch_settings, skip_existing),
     .help = "keep outputs that are there, whatever made them; with --resume those that were changed since, too"},
    {"in-place", 0, SMP_O_FLAG, offsetof(smp_batch_settings, in_place),
     .help = "replace the inputs; each is written beside, read back and renamed, so that there is always the old file "
             "or the new one, whole, with the old one's permissions and owner. A mark (an extended attribute) keeps "
             "the same command from doing it twice; after a kill it does the rest, and with --force all. Links are "
             "followed, other names of a file (hard links) keep what was there, read-only files are left"},
    {"backup", 0, SMP_O_STRING, offsetof(smp_batch_settings, backup), .argument = "SUFFIX",
     .help = "with --in-place: the old file stays, with this behind its name, as in --backup .orig; a file that is "
             "there is never replaced",
     .flags = SMP_O_ADVANCED},
    {"on-error", 0, SMP_O_CHOICE, offsetof(smp_batch_settings, on_error), .fallback = "continue", .argument = "HOW",
     .choices = on_error_words, .help = "after a file failed: continue with the others, or stop"},
    {"pages", 0, SMP_O_CHOICE, offsetof(smp_batch_settings, pages), .fallback = "one", .argument = "WHICH",
     .choices = pages_words,
     .help = "of files that hold several pages (TIFF): one, the first or that of --page; all: each to an output of its "
             "own, with its number behind the name, as in scan-1.png, scan-2.png"},
    {"skip-level", 0, SMP_O_STRING, offsetof(smp_batch_settings, skip_level), .argument = "LEVEL",
     .help = "leave out files that have this loudness already, within 0.5 LU, as in --skip-level=-16LUFS with "
             "normalize lufs=-16; all are measured first",
     .flags = SMP_O_ADVANCED},
    {"dry-run", 'n', SMP_O_FLAG, offsetof(smp_batch_settings, dry_run),
     .help = "read headers, check outputs, list what would be done, write nothing; damage behind the headers shows in "
             "a run alone"},
    {"report", 0, SMP_O_STRING, offsetof(smp_batch_settings, report), .argument = "FILE.jsonl",
     .help = "write one JSON object a file; its status, error, size, milliseconds of every part, what was measured; - "
             "is standard output"},
    {"shard", 0, SMP_O_STRING, offsetof(smp_batch_settings, shard), .argument = "K/N",
     .help = "do the K-th of N parts of the files, chosen by their names; with --list of its pieces; for several "
             "machines that share a folder. auto: as Slurm, MPI, PBS or Grid Engine number this process; auto/N where "
             "they do not tell how many there are"},
    {0},
};

/* Options of batch alone: a page, and what clusters need. */
static const smp_option album_options[] = {
    {"album", 0, SMP_O_STRING, offsetof(smp_batch_settings, album), .argument = "LEVEL",
     .help = "one gain for all files: measure them all first, and set the pipeline's parameter `gain` to what brings "
             "them together to this loudness, as in --album=-16LUFS with the pipeline album",
     .flags = SMP_O_ADVANCED},
    {0},
};

static const smp_option share_options[] = {
    {"html", 0, SMP_O_STRING, offsetof(smp_batch_settings, html), .argument = "FILE",
     .help = "write a page about the run: a sample of pictures before and after, failures, where the time went",
     .flags = SMP_O_ADVANCED},
    {"list", 0, SMP_O_STRING, offsetof(smp_batch_settings, work_list), .argument = "FILE",
     .help = "do the files of a list that 'smempipe list' made, a piece at a time, instead of those in folders",
     .flags = SMP_O_ADVANCED},
    {"claim", 0, SMP_O_FLAG, offsetof(smp_batch_settings, claim),
     .help = "with --list: take pieces that nobody has taken, until there are none; any number of processes that see "
             "the output folder share a list so, started and ended at any time; pieces that are done stay, also with "
             "--force",
     .flags = SMP_O_ADVANCED},
    {"retake", 0, SMP_O_STRING, offsetof(smp_batch_settings, retake), .argument = "AGE",
     .help = "with --list --resume: also take up pieces of processes on other hosts that have been silent so long "
             "(10m, 2h; they speak every 20 s)",
     .flags = SMP_O_ADVANCED},
    {"sync", 0, SMP_O_CHOICE, offsetof(smp_batch_settings, sync), .fallback = "file", .argument = "WHAT",
     .choices = sync_words,
     .help = "make sure that outputs are on disk file by file, or once for some thousand files: quicker, and after a "
             "crash of the machine --resume makes those again",
     .flags = SMP_O_ADVANCED},
    {"grace", 0, SMP_O_STRING, offsetof(smp_batch_settings, grace), .argument = "TIME",
     .help = "after the first SIGTERM or Ctrl-C drop files in flight that take longer (20s); as long as they take "
             "unless said",
     .flags = SMP_O_ADVANCED},
    {"headers", 0, SMP_O_INT, offsetof(smp_batch_settings, headers), .fallback = HEADERS, .argument = "N", .min = 0,
     .max = 1e15, .help = "with --dry-run: headers to read, of files evenly spread; 0: all", .flags = SMP_O_ADVANCED},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(smp_batch_settings, many.pipe), .unless = "stage", .refuse = smp_shipped_refuse,
     .help = "the pipeline: a file, or the name of one that 'smempipe pipelines' lists"},
    {"DIR|FILE", offsetof(smp_batch_settings, many.inputs), .many = true, .unless = "files-from,list",
     .help = "folders and files to read"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ settings */

static smp_code parse_time(const char *name, const char *text, double *out, smp_error *err)
{
    if (!text || smp_parse_duration(text, out))
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "'%.80s' is not a valid value for --%s", text, name);
    return smp_hint(err, "it takes seconds, or a number with s, m, h or d, as in 90s and 2h");
}

static smp_code parse_times(const smp_batch_settings *settings, double *retake, double *grace, smp_error *err)
{
    SMP_TRY(parse_time("retake", settings->retake, retake, err));
    return parse_time("grace", settings->grace, grace, err);
}

/* Options that a list makes no sense with, and those that need one. */
static smp_code check_list(const smp_batch_settings *s, smp_error *err)
{
    if (s->work_list)
        SMP_TRY(smp_many_beside_list(&s->many, s->pages == PAGES_ALL ? "--pages all" : NULL, err));
    if (s->claim && !s->work_list)
        return smp_fail(err, SMP_E_USAGE, "--claim needs a list, whose pieces are shared"),
               smp_hint(err, "smempipe list DIR -r -o work.list; then --list work.list --claim");
    if (s->claim && s->shard)
        return smp_fail(err, SMP_E_USAGE, "--claim and --shard exclude each other"),
               smp_hint(err, "with --claim, tasks take pieces as they come; with --shard K/N, each has its own");
    if (s->retake && !(s->work_list && s->resume))
        return smp_fail(err, SMP_E_USAGE, "--retake is for pieces of a list that --resume takes up again"),
               smp_hint(err, "write --list FILE --resume --retake %.20s", s->retake);
    return SMP_OK;
}

/* Refuses what ranks of a team cannot do. */
static smp_code check_team(const smp_batch_settings *s, smp_error *err)
{
    if (!s->work_list)
        return smp_fail(err, SMP_E_USAGE, "ranks share a list, and there is none"),
               smp_hint(err, "smempipe list DIR -r -o work.list; then --list work.list in place of the folder");
    if (s->claim || s->shard) {
        smp_fail(err, SMP_E_USAGE, "rank 0 deals the pieces, which %s would do too", s->claim ? "--claim" : "--shard");
        return smp_hint(err, "leave it out, or write smempipe batch in place of smempipe-mpi batch");
    }
    if (s->dry_run)
        return smp_fail(err, SMP_E_USAGE, "--dry-run needs no ranks"),
               smp_hint(err, "write smempipe batch --dry-run ...");
    return SMP_OK;
}

static smp_code check_settings(const smp_batch_settings *settings, smp_error *err)
{
    double level; /* first, since it may be the option behind it */
    if (settings->backup)
        return smp_fail(err, SMP_E_USAGE, "--backup is for files that are replaced"),
               smp_hint(err, "write --in-place --backup %.40s", settings->backup);
    if (settings->album && smp_batch_meter_level("album", settings->album, &level, err))
        return err->code;
    if (settings->skip_level && smp_batch_meter_level("skip-level", settings->skip_level, &level, err))
        return err->code;
    if (!settings->folder || !settings->folder[0]) {
        smp_fail(err, SMP_E_USAGE, "the folder to write to is missing");
        const char *last = smp_cli_last_as_output(&settings->many.inputs);
        return smp_hint(err, "write -o %.200s", last ? last : "OUT_DIR");
    }
    if (!strcmp(settings->folder, "-"))
        return smp_fail(err, SMP_E_USAGE, "many files cannot go to standard output");
    if (settings->redo_changed && !settings->resume)
        return smp_fail(err, SMP_E_USAGE, "--redo-changed needs the journal of an earlier run"),
               smp_hint(err, "write --resume --redo-changed; --force makes all outputs again");
    if (settings->skip_existing && settings->many.plan.base.common.force)
        return smp_fail(err, SMP_E_USAGE,
                        "--force and --skip-existing exclude each other: one replaces outputs that "
                        "are there, and one keeps them");
    if (settings->album && (settings->work_list || settings->shard || settings->resume))
        return smp_fail(err, SMP_E_USAGE, "--album and %s exclude each other: it measures all files together",
                        settings->work_list ? "--list"
                        : settings->shard   ? "--shard"
                                            : "--resume"),
               smp_hint(err, "measure once, with `smempipe measure`, and write --set gain=");
    if (settings->skip_level && (settings->work_list || settings->shard || settings->album)) {
        smp_fail(err, SMP_E_USAGE, "--skip-level and %s exclude each other: it measures all files, each by itself",
                 settings->work_list ? "--list"
                 : settings->shard   ? "--shard"
                                     : "--album");
        return smp_hint(err, "`normalize lufs=-16 within=0.5LU` leaves the samples of a sound that is level already");
    }
    if (settings->pages == PAGES_ALL && settings->many.plan.base.common.read.page)
        return smp_fail(err, SMP_E_USAGE, "--pages all and --page exclude each other");
    SMP_TRY(settings->to ? smp_cli_check_extension("to", settings->to, err) : SMP_OK);
    SMP_TRY(smp_cli_check_variant(&settings->many.plan, err));
    if (smp_cli_team)
        SMP_TRY(check_team(settings, err));
    return check_list(settings, err);
}

smp_hash smp_batch_work(const smp_batch_settings *settings, const smp_program *program, const smp_diags *diags,
                        bool any_version)
{
    smp_hash hash = smp_many_work(&settings->many, program, diags, any_version);
    const smp_write_settings *write = &settings->write;
    const int64_t page = settings->many.plan.base.common.read.page;
    const int64_t numbers[] = {settings->many.plan.base.common.fast_decode, write->strip, page};
    smp_write_options options = {0};
    smp_hash_add(&hash, numbers, sizeof numbers);
    smp_cli_write_options(write, &options);
    for (size_t i = 0; i < options.values.count; i++) {
        const int64_t value = options.values.items[i].value;
        smp_hash_text(&hash, options.values.items[i].option->name);
        smp_hash_add(&hash, &value, sizeof value);
    }
    if (settings->many.plan.base.common.raw)
        smp_hash_text(&hash, settings->many.plan.base.common.raw);
    for (size_t i = 0; i < write->change.tag_count; i++)
        smp_hash_text(&hash, write->change.tags[i]);
    if (write->untag)
        smp_hash_text(&hash, "untag");
    smp_hash_add(&hash, write->change.cover.data, write->change.cover.size);
    return hash;
}

/* ------------------------------------------------------------------------------------------------ the command */

static smp_todo_request ask_of(const smp_batch_settings *settings, const smp_program *program, smp_diags *diags)
{
    smp_todo_request ask = {
        .given = settings->many.inputs.items,
        .given_count = settings->many.inputs.count,
        .walk = smp_many_walk(&settings->many, program),
        .pages = settings->pages == PAGES_ALL ? &settings->many.plan.base.common.read : NULL,
        .list = settings->work_list,
        .folder = settings->folder,
        .pattern = settings->pattern,
        .extension = settings->to ? settings->to + (settings->to[0] == '.') : NULL,
        .program = program,
        .work = smp_batch_work(settings, program, diags, false),
        .force = settings->many.plan.base.common.force,
        .resume = settings->resume,
        .redo_changed = settings->redo_changed,
        .skip_existing = settings->skip_existing,
        .brief = !settings->report,
        .sync_pieces = settings->sync == SYNC_PIECE,
        .claim = settings->claim,
        .leave = settings->level ? smp_batch_is_level : NULL,
        .context = settings->level,
    };
    if (ask.extension && ask.walk.kind == SMP_KIND_NONE) /* the pipeline gives what it gets */
        (void)smp_writer_extension(ask.extension, &ask.walk.kind, NULL);
    return ask;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_batch_settings *settings = given;
    smp_batch_job job = {.settings = settings, .began = smp_now()};
    smp_shard shard;
    smp_cli_warn_of_no_stage(&settings->many.plan.base.common, settings->many.pipe, program);
    smp_todo_request ask = ask_of(settings, program, diags);
    SMP_TRY(smp_many_operands(program, diags, err));
    SMP_TRY(parse_times(settings, &ask.retake, &job.grace, err));
    SMP_TRY(
        smp_cli_shard(&settings->many.plan.base.common, settings->shard, settings->claim || smp_cli_team, &shard, err));
    ask.shard = shard.number;
    ask.shards = shard.count;
    if (smp_cli_team) {
        ask.shard = smp_cli_team->rank + 1;
        ask.shards = smp_cli_team->size;
        ask.deal = smp_cli_team->deal;
    }
    smp_code code = smp_todo_make(&ask, &job.todo, err);
    if (!code && !settings->work_list)
        code = smp_many_check(&settings->many, ask.walk.kind, job.todo.found.count + job.todo.count.others,
                              &job.todo.left_out, err);
    if (!code && job.todo.list && !smp_work_list_pieces(job.todo.list))
        code = smp_many_fail_list(settings->work_list, 0, err);
    code = code ? code : smp_batch_report_check(&job, program, diags, err);
    if (!code && settings->to)
        smp_cli_idle_options(&settings->many.plan.base.common, &settings->write, "-", settings->to, program);
    if (!code && settings->dry_run)
        code = smp_batch_dry_run(&job, program, diags, err);
    else if (!code)
        code = smp_batch_do(&job, program, diags, err);
    smp_failures_free(&job.failures);
    smp_remarks_free(&job.remarks);
    smp_todo_free(&job.todo);
    return code;
}

/* The pipeline album does nothing to levels by itself. */
static void warn_of_album(const smp_batch_settings *settings)
{
    const smp_pipeline_settings *base = &settings->many.plan.base;
    bool set = false;
    for (size_t i = 0; i < base->settings.count; i++)
        set = set || !strncmp(base->settings.items[i], "gain=", 5);
    if (settings->many.pipe && !strcmp(settings->many.pipe, "album") && !set)
        smp_cli_warning(&base->common, "album leaves levels as they are without --album: "
                                       "write smempipe batch album --album=-16LUFS DIR -o OUT_DIR");
}

/* -o out/{shard}.tar is -o out --name {shard}.tar. */
static smp_code take_shard_names(smp_batch_settings *settings, char **folder, smp_error *err)
{
    if (!settings->folder || !smp_is_tar(settings->folder))
        return SMP_OK;
    if (strcmp(settings->pattern, SMP_BATCH_NAMES) != 0)
        return smp_fail(err, SMP_E_USAGE, "-o %.200s and --name both name the outputs", settings->folder);
    settings->pattern = smp_base_name(settings->folder);
    *folder = smp_folder_part(settings->folder);
    SMP_NEED(*folder, "a path", strlen(settings->folder), err);
    settings->folder = *folder;
    return SMP_OK;
}

smp_code smp_cli_batch(smp_batch_settings *settings, smp_error *err)
{
    if (settings->in_place)
        return smp_cli_in_place(settings, err);
    char *folder = NULL;
    smp_code code = take_shard_names(settings, &folder, err);
    code = code ? code : check_settings(settings, err);
    code = code ? code : smp_many_open(&settings->many, err);
    char album[64];
    if (!code && settings->album)
        code = smp_batch_album(settings, album, sizeof album, err);
    else if (!code)
        warn_of_album(settings);
    smp_batch_level level = {0};
    if (!code && settings->skip_level)
        code = smp_batch_level_measure(settings, &level, err);
    settings->level = settings->skip_level ? &level : NULL;
    if (!code && settings->many.inputs.count)
        settings->many.plan.base.input = smp_name_kind(settings->many.inputs.items[0]);
    if (!code)
        code = smp_cli_with_program(&settings->many.plan.base, settings->many.pipe, run_program, settings, err);
    smp_batch_level_free(&level);
    smp_many_close(&settings->many);
    smp_free(folder);
    return code;
}

static smp_code batch(void *settings, smp_error *err)
{
    return smp_cli_batch(settings, err);
}

const smp_command smp_command_batch = {
    .name = "batch",
    .help = "run a pipeline over many files",
    .about =
        "Several files are read, computed and written at once; outputs are the same bytes that run writes. A file that "
        "cannot be read or written is listed at the end, the others are done, and the exit status is 1. In folders, "
        "hidden files are passed over, and files that are something else by their names (films and notes beside "
        "photographs, formats that are not read, sounds where the pipeline is for pictures), and counted; every other "
        "file is tried, whatever it is called. --include '*' tries all.\n"
        "Before the first byte is written: no two inputs may have one output, no output may be an input or lie in an "
        "input folder, and no output may exist (--resume, --skip-existing and --force say what to do with those that "
        "do).\n"
        "The first Ctrl-C finishes the files in flight; the second stops. After either, or a kill, --resume does the "
        "rest; outputs that were changed since are named and left, or made again with --redo-changed. Files that a "
        "pipeline saves get the output's name in front: cat-edges.png.\n"
        "--device cuda is every GPU of the machine, cuda:0,2 some of them, several files in flight on each; cpu,cuda: "
        "processors take files too, each kind those that it is better at by what the first ones took. auto does that "
        "where a GPU pays. --threads bounds the processors that compute in all, --max-memory the memory of all files "
        "at once: one that finds too little waits until it is alone.\n"
        "On several machines: --shard K/N, or a list and --claim (docs/clusters.md). Batches of one folder that would "
        "do the same files exclude each other.",
    .settings_size = sizeof(smp_batch_settings),
    .shares = true,
    .groups = {{"options", smp_batch_options},
               SMP_WRITE_GROUP(smp_batch_settings, write),
               {"options for albums", album_options},
               {"options for lists and clusters", share_options},
               SMP_MANY_GROUP,
               SMP_PIPELINE_GROUP,
               SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe batch scan-clean.pipe photos/ -o pages/ --name '{stem}.png'", "every photo as a page"},
                 {"smempipe batch thumbnail shards/*.tar -o 'small/{shard}.tar'",
                  "pictures in tar files, into tar files"},
                 {"smempipe batch blur.pipe photos/ -r -o out/ --resume --report run.jsonl",
                  "what an interrupted run left, and what each file cost"}},
    .run = batch,
};
