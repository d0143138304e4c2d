/* batch --album: one gain for all files, by how loud they are together. All of them are measured before the first is
 * done; the pipeline gets the gain as its parameter `gain`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/outputs.h"
#include "report/totals.h"

typedef struct album {
    const smp_batch_settings *settings;
    smp_totals totals;
    smp_progress progress;
    smp_error broken;
    double level; /* LUFS, of all files together */
    size_t files; /* that were measured */
    smp_failures failures;
} album;

static void finished(void *context, size_t index, smp_run_report *report, const smp_error *err)
{
    album *a = context;
    if (report->status)
        smp_failures_add(&a->failures, report->input, err);
    else if (!a->broken.code)
        smp_totals_add(&a->totals, index, report, &a->broken);
}

static void tick(void *context, const smp_batch_count *count)
{
    album *a = context;
    const double share = count->bytes ? (double)count->bytes_done / (double)count->bytes : 0;
    smp_progress_files(&a->progress, count->done + count->failed, count->failed, count->files, share);
}

/* The stage that tells a level, and the name of what it finds. */
static const smp_stage *meter(void)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (smp_stage_at(i)->tells_level)
            return smp_stage_at(i);
    return NULL;
}

/* The level of all files together; their results must be of one kind. */
static smp_code level_of(album *a, smp_error *err)
{
    smp_findings findings = {0};
    if (a->totals.count == 0)
        return smp_fail(err, SMP_E_READ, "none of the album's files can be measured");
    if (a->totals.count > 1) {
        smp_fail(err, SMP_E_USAGE, "an album's files must have the same number of channels");
        return smp_hint(err, "make them alike first, with a pipeline of `remix stereo`");
    }
    a->files = a->totals.items[0].files;
    smp_code code = smp_total_findings(&a->totals.items[0], &findings, err);
    a->level = NAN;
    for (size_t i = 0; !code && i < findings.count; i++)
        if (!strcmp(findings.items[i].name, meter()->tells_level))
            a->level = findings.items[i].value;
    if (!code && !isfinite(a->level))
        code = smp_fail(err, SMP_E_USAGE, "the album is silent, or shorter than 0.4 s: it has no loudness");
    smp_findings_free(&findings);
    return code;
}

/* Files that cannot be measured have no part in the gain. */
static smp_code tell_failures(const album *a, size_t files, smp_error *err)
{
    const size_t count = a->failures.count;
    if (!count)
        return SMP_OK;
    const char *first = a->failures.kept ? a->failures.lines[0] : "";
    if (a->settings->on_error == SMP_ON_ERROR_STOP || count == files) {
        smp_fail(err, SMP_E_READ, "%zu of the album's %zu files cannot be measured", count, files);
        return smp_hint(err, "%.300s", first);
    }
    smp_cli_warning(&a->settings->many.plan.base.common,
                    "%zu of the album's %zu files cannot be measured and %s no part in the gain: %s%s", count, files,
                    count == 1 ? "has" : "have", first, count > 1 ? ", ..." : "");
    return SMP_OK;
}

static smp_code measure(void *context, const smp_program *program, smp_diags *diags, smp_error *err)
{
    album *a = context;
    const smp_many_settings *many = &a->settings->many;
    const smp_find_options walk = smp_many_walk(many, program);
    smp_found_list found = {0};
    smp_batch_file *files = NULL;
    smp_batch_count count = {0};
    char note[400];
    smp_code code = smp_walk(many->inputs.items, many->inputs.count, &walk, &found, err);
    if (!code)
        code = smp_many_check(many, found.count, &found.left_out, err);
    if (!code && !(files = smp_alloc_array(found.count, sizeof *files)))
        code = smp_fail_memory(err, "the list of files", found.count * sizeof *files);
    for (size_t i = 0; !code && i < found.count; i++)
        files[i] = (smp_batch_file){.input = smp_found_at(&found, i)->path, .bytes = smp_found_at(&found, i)->size};
    if (!code) {
        smp_batch_request request = smp_many_request(many, program, diags);
        request.files = files;
        request.count = found.count;
        request.partials = request.in_order = true;
        request.finished = finished;
        request.tick = tick;
        request.context = a;
        smp_progress_begin(&a->progress, &many->plan.base.common, "measure");
        code = smp_batch_run(&request, &count, note, sizeof note, err);
        smp_progress_end(&a->progress);
    }
    if (!code && (code = a->broken.code))
        *err = a->broken;
    if (!code)
        code = tell_failures(a, found.count, err);
    if (!code)
        code = level_of(a, err);
    smp_failures_free(&a->failures);
    smp_free(files);
    smp_found_free(&found);
    return code;
}

smp_code smp_batch_album_level(const char *text, double *level, smp_error *err)
{
    char *end = NULL;
    *level = strtod(text, &end);
    const bool fine = end != text && (!*end || !strcmp(end, "LUFS") || !strcmp(end, "dB"));
    if (fine && *level >= -70 && *level <= 0)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "'%.40s' is no value for --album", text);
    return smp_hint(err, "it takes a loudness from -70LUFS to 0LUFS, as in --album=-16LUFS");
}

smp_code smp_batch_album(smp_batch_settings *settings, char *set, size_t size, smp_error *err)
{
    smp_pipeline_settings *base = &settings->many.plan.base;
    album a = {.settings = settings};
    double wanted;
    smp_code code = smp_batch_album_level(settings->album, &wanted, err);
    if (code)
        return code;
    double gain = 0;
    if (!settings->dry_run) {
        const char *statement = meter()->name;
        smp_pipeline_settings measuring = *base;
        measuring.stages = (smp_strings){.items = &statement, .count = 1};
        measuring.settings = (smp_strings){0};
        code = smp_cli_with_program(&measuring, NULL, measure, &a, err);
        smp_totals_free(&a.totals);
        if (code)
            return code;
        gain = wanted - a.level;
        if (!base->common.quiet)
            fprintf(stderr, "smempipe: %zu file%s together: %.2f LUFS; gain=%+.2fdB for all\n", a.files,
                    a.files == 1 ? "" : "s", a.level, gain);
    }
    snprintf(set, size, "gain=%.4fdB", gain);
    smp_strings *sets = &base->settings;
    if (!smp_grow(&sets->items, &sets->capacity, sets->count + 1, sizeof *sets->items))
        return smp_fail_memory(err, "settings", sets->count * sizeof *sets->items);
    sets->items[sets->count++] = set;
    return SMP_OK;
}
