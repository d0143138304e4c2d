/* Shared by --album and --skip-level: all files of a batch are measured before the first one is done. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/many/batch_meter.h"

const smp_stage *smp_batch_meter_stage(void)
{
    for (size_t i = 0; i < smp_stage_count(); i++)
        if (smp_stage_at(i)->reduction && smp_stage_at(i)->reduction->level)
            return smp_stage_at(i);
    return NULL;
}

static void tick(void *context, const smp_batch_count *count)
{
    smp_batch_meter *m = context;
    smp_progress_files(&m->progress, count);
}

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    smp_batch_meter *m = context;
    m->each(m->context, file, report, err);
}

static smp_code measure(void *context, const smp_program *program, smp_diags *diags, smp_error *err)
{
    smp_batch_meter *m = context;
    const smp_many_settings *many = &m->settings->many;
    const smp_find_options walk = smp_many_walk(many, program);
    smp_found_list found = {0};
    smp_batch_file *files = NULL;
    smp_batch_count count = {0};
    char note[400];
    smp_code code = smp_walk(many->inputs.items, many->inputs.count, &walk, &found, err);
    found.left_out.special = 0; /* the batch itself tells */
    code = code ? code : smp_many_check(many, walk.kind, found.count, &found.left_out, err);
    if (!code && !(files = smp_alloc_array(found.count, sizeof *files)))
        code = smp_fail_memory(err, "the list of files", found.count * sizeof *files);
    for (size_t i = 0; !code && i < found.count; i++)
        files[i] = (smp_batch_file){.input = smp_found_at(&found, i)->path,
                                    .bytes = smp_found_at(&found, i)->size,
                                    .number = i,
                                    .index = smp_hash_name(smp_found_at(&found, i)->name)};
    if (!code) {
        smp_batch_request request = smp_many_request(many, program, diags);
        request.files = files;
        request.count = m->files = found.count;
        request.partials = m->partials;
        request.in_order = true;
        request.finished = finished;
        request.tick = tick;
        request.context = m;
        smp_progress_begin(&m->progress, &many->plan.base.common, "measure");
        code = smp_batch_run(&request, &count, note, sizeof note, err);
        smp_progress_end(&m->progress);
    }
    smp_free(files);
    smp_found_free(&found);
    return code;
}

smp_code smp_batch_meter_run(smp_batch_meter *meter, smp_error *err)
{
    const char *statement = smp_batch_meter_stage()->name;
    smp_pipeline_settings measuring = meter->settings->many.plan.base;
    measuring.stages = (smp_strings){.items = &statement, .count = 1};
    measuring.settings = (smp_strings){0};
    return smp_cli_with_program(&measuring, NULL, measure, meter, err);
}

smp_code smp_batch_meter_level(const char *option, const char *text, double *level, smp_error *err)
{
    char *end = NULL;
    *level = strtod(text, &end);
    const bool fine = end != text && (!*end || !strcmp(end, "LUFS") || !strcmp(end, "dB"));
    if (fine && *level >= -70 && *level <= 0)
        return SMP_OK;
    smp_fail(err, SMP_E_USAGE, "'%.40s' is not a valid value for --%s", text, option);
    return smp_hint(err, "it takes a loudness from -70LUFS to 0LUFS, as in --%s=-16LUFS", option);
}
