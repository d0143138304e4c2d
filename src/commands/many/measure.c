/* smempipe measure: what a pipeline's measuring stages find in files, and in all of them together. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/shard.h"
#include "cli/shipped.h"
#include "cli/team.h"
#include "commands/many/measure.h"

static const smp_option options[] = {
    {"json", 0, SMP_O_FLAG, offsetof(smp_measure_settings, json), .help = "write JSON"},
    {"csv", 0, SMP_O_FLAG, offsetof(smp_measure_settings, csv),
     .help = "write CSV: a row a file, a column a value (mean_r, p50_g)"},
    {"long", 0, SMP_O_FLAG, offsetof(smp_measure_settings, long_form),
     .help = "with --csv: a row a value, also those of histograms"},
    {"html", 0, SMP_O_STRING, offsetof(smp_measure_settings, html), .argument = "FILE",
     .help =
         "write a page instead: what stands out, histograms, how values are spread over the files, a table to sort; "
         "- is standard output"},
    {"sort", 0, SMP_O_STRING, offsetof(smp_measure_settings, sort), .argument = "COLUMN",
     .help = "with --csv: files in the order of this column, the largest first with - before its name"},
    {"together", 't', SMP_O_FLAG, offsetof(smp_measure_settings, totals_only),
     .help = "only what all files are together, not each by itself"},
    {"shard", 0, SMP_O_STRING, offsetof(smp_measure_settings, shard), .argument = "K/N",
     .help =
         "with --partial: measure the K-th of N parts of the files, chosen by their names, or of the "
         "pieces of a list, for N processes or machines. auto: as Slurm, MPI, PBS or Grid Engine number this process"},
    {"list", 0, SMP_O_STRING, offsetof(smp_measure_settings, work_list), .argument = "FILE",
     .help = "measure the files of a list that 'smempipe list' made; a shard reads its own pieces of it alone"},
    {"partial", 0, SMP_O_STRING, offsetof(smp_measure_settings, partial), .argument = "FILE",
     .help = "write what was measured to a file, for --merge, instead of telling it"},
    {"merge", 0, SMP_O_FLAG, offsetof(smp_measure_settings, merge),
     .help = "IN are files of --partial, all N: tell what one process over all files would tell, to the last byte"},
    {0},
};

static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(smp_measure_settings, many.pipe), .unless = "stage,merge", .refuse = smp_shipped_refuse,
     .help = "the pipeline: a file, or the name of one that 'smempipe pipelines' lists"},
    {"IN", offsetof(smp_measure_settings, many.inputs), .many = true, .unless = "files-from,list",
     .help = "files and folders to read; - is standard input"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ telling */

void smp_measuring_begin(smp_measuring *m, const smp_measure_settings *settings)
{
    const smp_common *common = &settings->many.plan.base.common;
    *m = (smp_measuring){.common = common,
                         .settings = settings,
                         .output = {.to = stdout,
                                    .format = settings->html        ? SMP_MEASURE_HTML
                                              : settings->json      ? SMP_MEASURE_JSON
                                              : settings->long_form ? SMP_MEASURE_LONG
                                              : settings->csv       ? SMP_MEASURE_CSV
                                                                    : SMP_MEASURE_TABLE,
                                    .sort = settings->sort,
                                    .read = &common->read,
                                    .color = smp_cli_color(common, STDOUT_FILENO),
                                    .totals_only = settings->totals_only}};
    if (settings->html && strcmp(settings->html, "-") != 0)
        m->output.to = open_memstream(&m->page, &m->page_size);
    if (m->output.to)
        smp_measure_begin(&m->output);
}

static void render_page(FILE *to, const void *given)
{
    const smp_measuring *m = given;
    fwrite(m->page, 1, m->page_size, to);
}

static smp_code write_page(smp_measuring *m, smp_error *err)
{
    const bool failed = ferror(m->output.to) != 0;
    const bool closed = fclose(m->output.to) == 0;
    m->output.to = NULL;
    if (failed || !closed)
        return smp_fail_memory(err, "the page", m->page_size);
    const smp_measure_settings *used = m->settings;
    smp_code code = smp_cli_refuse_report(used->html, used->many.pipe, err);
    code = code ? code : smp_cli_refuse_report(used->html, used->work_list, err);
    code = code ? code : smp_cli_refuse_report(used->html, used->many.list, err);
    for (size_t i = 0; !code && i < used->many.inputs.count; i++) /* with --merge they are parts */
        code = smp_cli_refuse_report(used->html, used->many.inputs.items[i], err);
    return code ? code : smp_cli_write_file(m->settings->html, m->common->force, render_page, m, err);
}

smp_code smp_measuring_file(smp_measuring *m, const smp_run_report *report, const smp_error *why, smp_error *err)
{
    SMP_TRY(smp_cli_refuse_report(m->settings->html, report->input, err));
    if (report->status) {
        smp_failures_add(&m->failures, report->input, why);
        return SMP_OK;
    }
    smp_remarks_add(&m->remarks, report);
    SMP_NEED(m->output.to, "the page", 0, err);
    return smp_measure_file(&m->output, report, err);
}

smp_code smp_measuring_end(smp_measuring *m, size_t done, size_t failed, smp_error *err)
{
    const char *sort = m->settings->sort;
    SMP_NEED(m->output.to, "the page", 0, err);
    if (m->output.wide.lists && !m->settings->html && !m->common->quiet)
        smp_cli_warning(m->common, "histograms have no columns; --csv --long writes them");
    const bool wide = m->output.format == SMP_MEASURE_CSV && m->output.totals_only;
    for (size_t i = 0; wide && i < m->totals.count; i++)
        if (!m->totals.items[i].partial)
            smp_cli_warning(m->common, "'%s': these results do not add up over files, and have no row",
                            m->totals.items[i].label);
    m->output.failures = (const char *const *)m->failures.lines;
    m->output.failure_count = m->failures.kept;
    SMP_TRY(smp_measure_end(&m->output, &m->totals, done, failed, err));
    if (m->settings->html && m->output.to != stdout)
        SMP_TRY(write_page(m, err));
    if (m->output.unsorted && !m->common->quiet)
        smp_cli_warning(m->common,
                        "%zu of %zu rows have no '%s' and come last: other channels, or another kind of file",
                        m->output.unsorted, m->output.rows, sort + (sort[0] == '-'));
    smp_remarks_show(&m->remarks, m->common);
    smp_failures_show(&m->failures, m->common, done + failed);
    return failed ? SMP_E_PROCESS : SMP_OK;
}

void smp_measuring_free(smp_measuring *m)
{
    if (m->settings->html && m->output.to && m->output.to != stdout)
        fclose(m->output.to);
    free(m->page);
    smp_wide_free(&m->output.wide);
    smp_failures_free(&m->failures);
    smp_remarks_free(&m->remarks);
    smp_totals_free(&m->totals);
}

/* ------------------------------------------------------------------------------------------------ measuring */

/* One process that measures: it tells what it finds, or writes a part. */
typedef struct run {
    smp_measuring told;
    smp_part_writer part;
    smp_measure_work *work;
    bool partial;
    smp_progress progress;
    smp_error broken; /* why results could not be kept */
    smp_error failed; /* why the first file that failed did */
} run;

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    run *r = context;
    if (report->status && !r->failed.code)
        r->failed = *err;
    if (isatty(STDOUT_FILENO) && r->progress.shown && !report->status && !r->partial)
        smp_progress_end(&r->progress);
    if (r->broken.code)
        return;
    if (r->partial)
        smp_part_add(&r->part, file->number, report, err, &r->broken);
    else
        smp_measuring_file(&r->told, report, err, &r->broken);
    if (!r->broken.code && !report->status)
        smp_totals_add(&r->told.totals, file->number, report, &r->broken);
}

static void tick(void *context, const smp_batch_count *count)
{
    run *r = context;
    if (!isatty(STDOUT_FILENO) || r->told.output.totals_only || r->partial)
        smp_progress_files(&r->progress, count);
}

static smp_code more(void *context, const smp_batch_file **files, size_t *count, smp_error *err)
{
    run *r = context;
    return smp_measure_team_more(r->work, files, count, err);
}

static smp_code run_batch(run *r, const smp_measure_settings *settings, const smp_program *program, smp_diags *diags,
                          smp_batch_count *done, smp_error *err)
{
    const smp_common *common = &settings->many.plan.base.common;
    smp_batch_request request = smp_many_request(&settings->many, program, diags);
    char note[400];
    request.files = r->work->files.items;
    request.count = r->work->files.count;
    request.partials = request.in_order = true;
    request.finished = finished;
    request.tick = tick;
    request.context = r;
    smp_progress_begin(&r->progress, common, "measure");
    smp_code code = SMP_OK;
    if (r->work->list) {
        request.more = more;
        request.expected = (size_t)r->work->head.files / (size_t)smp_cli_team->size;
        code = more(r, &request.files, &request.count, err);
    }
    code = code ? code : smp_batch_run(&request, done, note, sizeof note, err);
    smp_progress_end(&r->progress);
    if (common->verbose && !common->quiet && note[0])
        fprintf(stderr, "smempipe: %s\n", note);
    if (!code && (code = r->broken.code))
        *err = r->broken;
    return code;
}

static smp_code measure_files(const smp_measure_settings *settings, smp_measure_work *work, const smp_program *program,
                              smp_diags *diags, smp_error *err)
{
    smp_batch_count count = {0};
    run r = {.work = work};
    smp_measuring_begin(&r.told, settings);
    smp_code code = run_batch(&r, settings, program, diags, &count, err);
    code = code ? code : smp_measuring_end(&r.told, count.done, count.failed, err);
    smp_many_others(r.told.common, work->head.left_out, work->head.others);
    smp_measuring_free(&r.told);
    return code;
}

/* ------------------------------------------------------------------------------------------------ a shard */

static smp_hash work_of(const smp_measure_settings *settings, const smp_program *program, const smp_diags *diags)
{
    smp_hash hash = smp_many_work(&settings->many, program, diags, false);
    const int64_t page = settings->many.plan.base.common.read.page;
    smp_hash_add(&hash, &page, sizeof page);
    return hash;
}

/* Opens the part, which may be none of its own files. */
static smp_code create_part(const smp_measure_settings *settings, const smp_measure_work *work, smp_part_writer *part,
                            smp_error *err)
{
    const char **inputs = smp_alloc_array(work->files.count + 2, sizeof *inputs);
    SMP_NEED(inputs, "the list of files", work->files.count * sizeof *inputs, err);
    for (size_t i = 0; i < work->files.count; i++)
        inputs[i] = work->files.items[i].input;
    inputs[work->files.count] = settings->many.pipe && strcmp(settings->many.pipe, "-") ? settings->many.pipe : NULL;
    const bool force = settings->many.plan.base.common.force;
    const smp_code code = smp_part_create(settings->partial, force, inputs, &work->head, part, err);
    smp_free(inputs);
    return code ? smp_at(err, "%s", settings->partial) : SMP_OK;
}

static smp_code measure_part(const smp_measure_settings *settings, smp_measure_work *work, const smp_program *program,
                             smp_diags *diags, smp_error *err)
{
    const smp_common *common = &settings->many.plan.base.common;
    run r = {.partial = true, .work = work, .told = {.common = common}};
    smp_batch_count done = {0};
    work->head.work = work_of(settings, program, diags);
    smp_code code = create_part(settings, work, &r.part, err);
    if (work->list && !code)
        code = smp_cli_team->agree(SMP_OK);
    work->agreed = !code;
    code = code ? code : run_batch(&r, settings, program, diags, &done, err);
    r.part.left_out = work->head.left_out; /* of a rank it grows */
    code = code ? code : smp_part_commit(&r.part, &r.told.totals, err);
    if (code == SMP_E_WRITE && !err->where[0])
        smp_at(err, "%s", settings->partial);
    if (!code && done.failed && !done.done && !work->list) { /* of a rank's files rank 0 tells */
        smp_fail(err, SMP_E_PROCESS, "all %zu files failed, the first: %s", done.failed, r.failed.message);
        smp_at(err, "%s", r.failed.where[0] ? r.failed.where : work->files.items[0].input);
        code = smp_hint(err, "%s was written all the same, and --merge names them", settings->partial);
    } else if (!code && done.failed)
        smp_cli_warning(common, "%zu of %zu files failed; --merge names them", done.failed, work->files.count);
    smp_part_abort(&r.part);
    smp_totals_free(&r.told.totals);
    return code;
}

/* A rank of a team: it measures a part, for rank 0 to merge. */
static smp_code measure_rank(const smp_measure_settings *settings, smp_measure_work *work, const smp_program *program,
                             smp_diags *diags, smp_error *err)
{
    char folder[PATH_MAX], path[PATH_MAX + sizeof "/part"];
    smp_measure_settings own = *settings;
    SMP_TRY(smp_measure_team_folder(folder, err));
    snprintf(path, sizeof path, "%s/part", folder);
    own.partial = path;
    smp_code code = smp_measure_team_open(settings, program, work, err);
    code = code ? code : measure_part(&own, work, program, diags, err);
    if (work->agreed)
        code = smp_measure_team_end(settings, path, code, err);
    unlink(path);
    rmdir(folder);
    return code;
}

static smp_code run_program(void *given, const smp_program *program, smp_diags *diags, smp_error *err)
{
    const smp_measure_settings *settings = given;
    smp_measure_work work = {0};
    smp_code code = smp_program_measures(program, err);
    code = code ? code : smp_many_operands(program, diags, err);
    work.head = (smp_part_head){.shard = 1, .shards = 1, .totals_only = settings->totals_only};
    if (!code && smp_cli_team) {
        code = measure_rank(settings, &work, program, diags, err);
        smp_measure_work_free(&work);
        return code;
    }
    code = code ? code : smp_measure_work_find(settings, program, &work, err);
    if (!code)
        code = (settings->partial ? measure_part : measure_files)(settings, &work, program, diags, err);
    smp_measure_work_free(&work);
    return code;
}

static smp_code check_settings(const smp_measure_settings *s, smp_error *err)
{
    const bool tells = s->json || s->csv || s->long_form || s->sort || s->html;
    if (s->merge && (s->shard || s->partial || s->work_list || s->many.pipe || s->many.plan.base.stages.count))
        return smp_fail(err, SMP_E_USAGE, "--merge reads parts; it measures nothing"),
               smp_hint(err, "write smempipe measure --merge PART...");
    if (smp_cli_team && (s->merge || s->shard || s->partial || !s->work_list))
        return smp_fail(err, SMP_E_USAGE,
                        s->work_list ? "rank 0 merges what all ranks measure by itself"
                                     : "ranks share a list, and there is none"),
               smp_hint(err, s->work_list ? "leave out --shard, --partial and --merge, or write smempipe measure"
                                          : "smempipe list DIR -r -o work.list; then --list work.list in place of DIR");
    if (s->shard && !s->partial)
        return smp_fail(err, SMP_E_USAGE, "--shard measures a part of the files, which tells nothing of all"),
               smp_hint(err, "write it to a file: --shard %s --partial FILE; --merge joins all parts", s->shard);
    if (s->html && (s->json || s->csv || s->totals_only))
        return smp_fail(err, SMP_E_USAGE, "--html and %s exclude each other",
                        s->json  ? "--json"
                        : s->csv ? "--csv"
                                 : "--together"),
               smp_hint(err, "the page has the files and all of them together");
    if (smp_cli_check_report(s->html, s->many.plan.base.common.force, err))
        return err->code;
    if (s->many.plan.base.common.force && !s->partial && !s->html)
        return smp_fail(err, SMP_E_USAGE, "--force replaces the file of --partial or --html, and there is none"),
               smp_hint(err, "measure writes no other files: leave out --force");
    if (s->partial && tells)
        return smp_fail(err, SMP_E_USAGE, "--partial writes a file for --merge, which chooses how results are told"),
               smp_hint(err, "leave out --json, --csv, --long, --sort and --html; give them to measure --merge");
    if (s->json && s->csv)
        return smp_fail(err, SMP_E_USAGE, "--json and --csv exclude each other"), smp_hint(err, "choose one");
    if ((s->sort || s->long_form) && !s->csv)
        return smp_fail(err, SMP_E_USAGE, "%s is for CSV", s->sort ? "--sort" : "--long"),
               smp_hint(err, "write --csv %s%s", s->sort ? "--sort " : "--long", s->sort ? s->sort : "");
    if (s->sort && s->long_form)
        return smp_fail(err, SMP_E_USAGE, "--sort and --long exclude each other"),
               smp_hint(err, "files are sorted in the form of a row a file");
    smp_common quiet = s->many.plan.base.common; /* what auto takes is said when it is used */
    smp_shard shard;
    quiet.quiet = true;
    SMP_TRY(s->work_list ? smp_many_beside_list(&s->many, NULL, err) : SMP_OK);
    return s->merge ? SMP_OK : smp_cli_shard(&quiet, s->shard, smp_cli_team != NULL, &shard, err);
}

static smp_code measure(void *given, smp_error *err)
{
    smp_measure_settings *settings = given;
    smp_code code = check_settings(settings, err);
    code = code ? code : smp_cli_check_variant(&settings->many.plan, err);
    code = code ? code : smp_many_open(&settings->many, err);
    for (size_t i = 0; !code && !settings->merge && i < settings->many.inputs.count; i++)
        code = smp_cli_check_input(settings->many.pipe, settings->many.inputs.items[i], err);
    if (!code && settings->many.inputs.count)
        settings->many.plan.base.input = smp_name_kind(settings->many.inputs.items[0]);
    if (!code)
        code = settings->merge
                   ? smp_measure_merge(settings, err)
                   : smp_cli_with_program(&settings->many.plan.base, settings->many.pipe, run_program, settings, err);
    smp_many_close(&settings->many);
    return code;
}

const smp_command smp_command_measure = {
    .name = "measure",
    .help = "what a pipeline measures in files, and in all of them together",
    .about =
        "Prints the findings of stages that measure, for each file and for all files together; no picture is written. "
        "Together means as if all files were one: counts, sums, extremes, means and deviations over all samples, "
        "percentiles from counts that are added up, never means of means. Files of different sizes go together; files "
        "of different formats or channels (8 and 16 bits, gray and colour) do not, since their code values mean "
        "different things: each kind is told by itself. A stage in front that makes them alike brings them together.\n"
        "Several machines measure one folder, each a part: --shard 1/4 --partial 1.part, 2/4 and so on. Then measure "
        "--merge *.part tells what one machine would, the same bytes. It refuses parts of another pipeline, version or "
        "list of files, and a part that is twice or missing.",
    .settings_size = sizeof(smp_measure_settings),
    .shares = true,
    .groups = {{"options", options}, SMP_MANY_GROUP, SMP_PIPELINE_GROUP, SMP_PLAN_GROUPS},
    .arguments = arguments,
    .examples = {{"smempipe measure -e '{reduce}' photo.jpg", "a table of one file"},
                 {"smempipe measure dataset-stats train/ -r -t --json",
                  "mean and deviation of a data set, to normalise by"},
                 {"smempipe measure dataset-stats train/ -r --html train.html", "a data set at a glance"},
                 {"smempipe measure focus-report photos/ --csv --sort -deviation", "a row a file, the sharpest first"},
                 {"smempipe measure dataset-stats train/ -r -t --shard 2/4 --partial 2.part", "the second of 4 parts"},
                 {"smempipe measure --merge *.part -t --json", "what all parts say together"}},
    .run = measure,
};
