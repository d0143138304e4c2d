/* batch --album: one gain for all files, by how loud they are together. All of them are measured before the first is
 * done; the pipeline gets the gain as its parameter `gain`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/many/batch_meter.h"
#include "report/measure/totals.h"

typedef struct album {
    const smp_batch_settings *settings;
    smp_totals totals;
    smp_error broken;
    double level; /* LUFS, of all files together */
    double peak;  /* dBTP, of the loudest */
    size_t files; /* that were measured */
    smp_failures failures;
} album;

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    album *a = context;
    if (report->status)
        smp_failures_add(&a->failures, report->input, err);
    else if (!a->broken.code)
        smp_totals_add(&a->totals, file->number, report, &a->broken);
}

/* The level of all files together; their results must be of one kind. */
static smp_code level_of(album *a, smp_error *err)
{
    smp_measurements measurements = {0};
    if (a->totals.count == 0)
        return smp_fail(err, SMP_E_READ, "none of the album's files can be measured");
    if (a->totals.count > 1)
        return smp_fail(err, SMP_E_USAGE, "an album's files must have the same number of channels"),
               smp_hint(err, "make them alike first, with a pipeline of `remix stereo`");
    a->files = a->totals.items[0].files;
    smp_code code = smp_total_measurements(&a->totals.items[0], &measurements, err);
    a->level = a->peak = NAN;
    for (size_t i = 0; !code && i < measurements.count; i++)
        if (!strcmp(measurements.items[i].name, smp_batch_meter_stage()->reduction->level))
            a->level = measurements.items[i].value;
        else if (!strcmp(measurements.items[i].name, "true_peak"))
            a->peak = measurements.items[i].value;
    if (!code && !isfinite(a->level))
        code = smp_fail(err, SMP_E_USAGE, "the album is silent, or shorter than 0.4 s: it has no loudness");
    smp_measurements_free(&measurements);
    return code;
}

/* Files that cannot be measured have no part in the gain. */
static smp_code tell_failures(const album *a, size_t files, smp_error *err)
{
    const size_t count = a->failures.count;
    if (!count)
        return SMP_OK;
    const char *first = a->failures.kept ? a->failures.lines[0] : "";
    if (a->settings->on_error == SMP_ON_ERROR_STOP || count == files)
        return smp_fail(err, SMP_E_READ, "%zu of the album's %zu files cannot be measured", count, files),
               smp_hint(err, "%.300s", first);
    smp_cli_warning(&a->settings->many.plan.base.common,
                    "%zu of the album's %zu files cannot be measured and %s no part in the gain: %s%s", count, files,
                    count == 1 ? "has" : "have", first, count > 1 ? ", ..." : "");
    return SMP_OK;
}

/* The pipeline must take the gain: said before all files are measured. Its warnings are for the run that follows. */
static smp_code check_gain(const smp_batch_settings *settings, smp_error *err)
{
    const smp_pipeline_settings *base = &settings->many.plan.base;
    smp_diags diags = {0};
    smp_program *program = NULL;
    bool takes = false;
    smp_code code = smp_cli_parse(base, settings->many.pipe, &diags, &program, err);
    for (size_t i = 0; !code && i < program->param_count; i++)
        takes = takes || !strcmp(program->params[i].name, "gain");
    if (!code && !takes) {
        smp_fail(err, SMP_E_USAGE, "--album sets a pipeline's parameter `gain`, and this one has no parameter 'gain'");
        code = smp_hint(err, "write smempipe batch album --album=%.40s DIR -o OUT_DIR", settings->album);
    }
    if (code)
        smp_cli_diagnostics(base, &diags, err);
    smp_program_free(program);
    smp_diags_free(&diags);
    return code;
}

/* Warns that limited or clipped peaks take some of the loudness away. */
static void tell_peaks(const album *a, double gain)
{
    if (a->peak + gain > 0)
        smp_cli_warning(
            &a->settings->many.plan.base.common,
            "with this gain the highest true peak would be %+.1f dBTP: what turns peaks down, as album does, "
            "leaves the files softer together than asked; smempipe measure -e loudness tells by how much",
            a->peak + gain);
}

smp_code smp_batch_album(smp_batch_settings *settings, char *set, size_t size, smp_error *err)
{
    smp_pipeline_settings *base = &settings->many.plan.base;
    album a = {.settings = settings};
    double wanted;
    SMP_TRY(smp_batch_meter_level("album", settings->album, &wanted, err));
    SMP_TRY(check_gain(settings, err));
    smp_code code = SMP_OK;
    double gain = 0;
    if (!settings->dry_run) {
        smp_batch_meter meter = {.settings = settings, .each = finished, .context = &a, .partials = true};
        code = smp_batch_meter_run(&meter, err);
        if (!code && (code = a.broken.code))
            *err = a.broken;
        code = code ? code : tell_failures(&a, meter.files, err);
        code = code ? code : level_of(&a, err);
        smp_failures_free(&a.failures);
        smp_totals_free(&a.totals);
        if (code)
            return code;
        gain = wanted - a.level;
        if (!base->common.quiet)
            fprintf(stderr, "smempipe: %zu file%s together: %.2f LUFS; gain=%+.2fdB for all\n", a.files,
                    a.files == 1 ? "" : "s", a.level, gain);
        tell_peaks(&a, gain);
    }
    snprintf(set, size, "gain=%.4fdB", gain);
    smp_strings *sets = &base->settings;
    SMP_NEED(smp_grow(&sets->items, &sets->capacity, sets->count + 1, sizeof *sets->items), "settings",
             sets->count * sizeof *sets->items, err);
    sets->items[sets->count++] = set;
    return SMP_OK;
}
