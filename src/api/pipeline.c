/* Pipelines, their plans, and the shapes that callers give. */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/pipe_text.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/version.h"
#include "run/file_source.h"
#include "run/run.h"

const char *smempipe_version(void)
{
    return SMP_VERSION;
}

void smempipe_free(void *memory)
{
    smp_free(memory);
}

/* ------------------------------------------------------------------------------------------------ pipelines */

/* Names and values in turn, ended by a null. */
static smp_code take_settings(const char *const *pairs, smp_setting **out, size_t *count, smp_error *err)
{
    *count = 0;
    for (size_t i = 0; pairs && pairs[i]; i++)
        if (i % 2)
            ++*count;
        else if (!pairs[i + 1])
            return smp_fail(err, SMP_E_USAGE, "the parameter '%.100s' has no value", pairs[i]);
    *out = smp_alloc_array(*count, sizeof **out);
    for (size_t i = 0; *out && i < *count; i++)
        (*out)[i] = (smp_setting){pairs[2 * i], pairs[2 * i + 1]};
    return *out ? SMP_OK : smp_fail_memory(err, "settings", *count * sizeof **out);
}

/* Values come by no command line here: "--set" would be a riddle. */
static smp_code rename_settings(smp_diags *diags, smp_error *err)
{
    for (size_t i = 0; i < diags->source_count; i++) {
        if (strcmp(diags->sources[i].name, "--set") != 0)
            continue;
        char *name = smp_strdup(SMP_API_SETTINGS);
        SMP_NEED(name, "a name", sizeof SMP_API_SETTINGS, err);
        smp_free(diags->sources[i].name);
        diags->sources[i].name = name;
    }
    return SMP_OK;
}

static smp_code compile(const char *path, const char *text, const char *const *settings, smempipe_pipeline *pipeline,
                        smp_error *err)
{
    smp_setting *pairs = NULL;
    size_t count = 0, length = text ? strlen(text) : 0;
    char *read = NULL;
    smp_readable may = {.own = text ? SMP_API_TEXT : NULL, .lenient = true};
    smp_code code = take_settings(settings, &pairs, &count, err);
    if (!code && !text && (code = smp_pipe_read(path, false, &read, &length, err)))
        smp_at(err, "%s", path);
    if (!code && !text)
        code = smp_readable_add_folder_of(&may, path, err);
    if (!code)
        code = smp_program_parse(text ? SMP_API_TEXT : path, text ? text : read, length, pairs, count, smp_pipe_include,
                                 &may, &pipeline->diags, &pipeline->program, err);
    if (!code && pipeline->program->origin)
        code = smp_fail(err, SMP_E_PIPE, "'%s' makes what a pipeline is given here",
                        pipeline->program->origin->words.name);
    code = code ? code : smp_readable_check(&may, pipeline->program, &pipeline->diags, err);
    if ((!code || code == SMP_E_PIPE) && rename_settings(&pipeline->diags, err))
        code = err->code;
    if (!code && pipeline->diags.warnings && !(pipeline->warnings = smp_diags_text(&pipeline->diags, false)))
        code = smp_fail_memory(err, "warnings", (uint64_t)pipeline->diags.warnings);
    smp_readable_free(&may);
    smp_free_all(read, pairs);
    return code;
}

static smempipe_code make_pipeline(const char *path, const char *text, const char *const *settings,
                                   smempipe_pipeline **out, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    if (error)
        *error = NULL;
    if (!out)
        return smp_api_wrong(error, "there is no place for the pipeline: 'pipeline' is null");
    *out = NULL;
    if (!path && !text)
        return smp_api_wrong(error, "there is no pipeline: the text is null");
    smempipe_pipeline *pipeline = smp_alloc(sizeof *pipeline);
    if (!pipeline) {
        smp_fail_memory(&err, "a pipeline", sizeof *pipeline);
        return smp_api_fail(error, &err, NULL);
    }
    atomic_init(&pipeline->users, 1);
    smp_code code = compile(path, text, settings, pipeline, &err);
    if (code) {
        smempipe_code failed = smp_api_fail(error, &err, &pipeline->diags);
        smempipe_pipeline_free(pipeline);
        return failed;
    }
    *out = pipeline;
    return SMEMPIPE_OK;
}

smempipe_code smempipe_compile(const char *text, const char *const *settings, smempipe_pipeline **pipeline,
                               smempipe_error **error)
{
    return make_pipeline(NULL, text, settings, pipeline, error);
}

smempipe_code smempipe_compile_file(const char *path, const char *const *settings, smempipe_pipeline **pipeline,
                                    smempipe_error **error)
{
    return make_pipeline(path, NULL, settings, pipeline, error);
}

const char *smempipe_pipeline_warnings(const smempipe_pipeline *pipeline)
{
    return pipeline && pipeline->warnings ? pipeline->warnings : "";
}

static void keep(const smempipe_pipeline *pipeline)
{
    atomic_fetch_add(&((smempipe_pipeline *)(uintptr_t)pipeline)->users, 1);
}

void smempipe_pipeline_free(smempipe_pipeline *pipeline)
{
    if (!pipeline || atomic_fetch_sub(&pipeline->users, 1) > 1)
        return;
    smp_program_free(pipeline->program);
    smp_diags_free(&pipeline->diags);
    smp_free_all(pipeline->warnings, pipeline);
}

/* ------------------------------------------------------------------------------------------------ shapes */

bool smp_api_bytes(const smempipe_shape *shape, int64_t *row, size_t *all)
{
    int64_t samples, bytes;
    const bool counted = smp_mul_i64(shape->width, shape->channels, &samples) &&
                         smp_mul_i64(samples, smp_sample_size(shape->format), row) &&
                         smp_mul_i64(*row, shape->height, &bytes);
    *all = counted ? (size_t)bytes : 0;
    return counted;
}

static smp_code refuse_size(const smempipe_shape *from, smp_error *err)
{
    const bool sound = from->kind == SMEMPIPE_SOUND;
    if (from->channels < 1 || from->channels > SMEMPIPE_MOST_CHANNELS)
        return smp_fail(err, SMP_E_USAGE, "a %s of %d channels: there are 1 to %d", sound ? "sound" : "picture",
                        from->channels, SMEMPIPE_MOST_CHANNELS),
               smp_hint(err, sound ? "the samples of a frame follow each other: frames first, channels last"
                                   : "the samples of a pixel follow each other: rows, columns, channels");
    if (sound)
        return smp_fail(err, SMP_E_USAGE, "a sound of %lld frames: there is 1 at least, and the width is 1",
                        (long long)from->height);
    return smp_fail(err, SMP_E_USAGE, "a picture of %lld x %lld pixels: there is 1 at least", (long long)from->width,
                    (long long)from->height);
}

smp_code smp_api_shape(const smempipe_shape *from, smp_shape *to, smp_error *err)
{
    int64_t row;
    size_t all;
    *to = (smp_shape){.kind = SMP_KIND_NONE};
    if (from->kind != SMEMPIPE_PICTURE && from->kind != SMEMPIPE_SOUND)
        return smp_fail(err, SMP_E_USAGE, "a shape of kind %d: there are pictures (1) and sounds (2)", from->kind);
    if (from->format < SMEMPIPE_U8 || from->format > SMEMPIPE_F32)
        return smp_fail(err, SMP_E_USAGE, "samples of format %d: there are u8 (0), u16 (1) and f32 (2)", from->format);
    if (from->width < 1 || from->height < 1 || from->channels < 1 || from->channels > SMEMPIPE_MOST_CHANNELS)
        return refuse_size(from, err);
    if (from->alpha < 0 || from->alpha > 1 || (from->alpha && from->channels < 2))
        return smp_fail(err, SMP_E_USAGE, "%d channels of which the last is alpha: there are 2 or more of such",
                        from->channels);
    if (from->kind == SMEMPIPE_SOUND &&
        (from->width != 1 || from->format != SMEMPIPE_F32 || from->alpha || !(from->rate > 0)))
        return smp_fail(err, SMP_E_USAGE, "a sound has the width 1, f32 samples, no alpha and a rate above 0");
    if (!smp_api_bytes(from, &row, &all))
        return smp_fail(err, SMP_E_LIMIT, "a picture of %lld x %lld pixels is too large to be counted",
                        (long long)from->width, (long long)from->height);
    *to = (smp_shape){.kind = (smp_kind)from->kind,
                      .width = from->width,
                      .height = from->height,
                      .channels = from->channels,
                      .alpha = from->alpha != 0,
                      .format = (smp_format)from->format,
                      .rate = from->kind == SMEMPIPE_SOUND ? from->rate : 0};
    return SMP_OK;
}

void smp_api_public_shape(const smp_shape *from, smempipe_shape *to)
{
    *to = (smempipe_shape){.kind = (int32_t)from->kind,
                           .format = (int32_t)from->format,
                           .width = from->width,
                           .height = from->height,
                           .channels = from->channels,
                           .alpha = from->alpha,
                           .rate = from->rate};
}

/* ------------------------------------------------------------------------------------------------ plans */

/* Memory holds any shape. */
static smp_code accepts_all(void *, const char *, const smp_shape *shape, smp_shape *out, smp_error *)
{
    *out = *shape;
    return SMP_OK;
}

smp_code smp_api_plan(const smempipe_pipeline *pipeline, const smp_shape *shape, bool measure, smp_device *device,
                      const smp_view *in, smp_diags *diags, smp_plan **out, smp_error *err)
{
    smp_plan_request ask = {.program = pipeline->program,
                            .input = *shape,
                            .output = measure ? NULL : "memory",
                            .accepts = accepts_all,
                            .probe = smp_file_probe,
                            .fuse = true};
    *out = NULL;
    if (!measure && pipeline->program->save_count) {
        const smp_save *save = &pipeline->program->saves[0];
        int line, column;
        smp_diags_locate(diags, save->span, &line, &column);
        smp_fail(err, SMP_E_USAGE, "a pipeline that saves files does not run on pictures in memory");
        smp_hint(err, "run it from file to file (smempipe_run_file), or leave 'save' out");
        return smp_at(err, "%s:%d:%d", diags->sources[save->span.source].name, line, column);
    }
    if (measure && !pipeline->program->save_count && smp_program_measures(pipeline->program, err))
        return err->code;
    smp_code code =
        in ? smp_plan_memory(&ask, diags, device, in, NULL, out, err) : smp_plan_make(&ask, diags, out, err);
    if (!code && (*out)->prepass >= 0) {
        smp_plan_free(*out);
        *out = NULL;
        smp_fail(err, SMP_E_USAGE, "the size of the output depends on the samples");
        code = smp_hint(err, "run it without a plan (smempipe_run), which sees them");
    }
    return code;
}

/* From open_memstream; null: out of memory. */
static char *steps_text(const smp_plan *plan)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    for (size_t i = 0; to && i < plan->step_count; i++) {
        char type[64];
        smp_shape_text(&plan->steps[i].out, plan->steps[i].storage, type, sizeof type);
        fprintf(to, "%s  %s\n", plan->steps[i].label, type);
    }
    if (to && fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

smempipe_code smempipe_plan_make(const smempipe_pipeline *pipeline, const smempipe_shape *shape, int measure,
                                 smempipe_plan **out, smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    smp_diags diags = {.sources = NULL};
    if (error)
        *error = NULL;
    if (!out || !pipeline || !shape)
        return smp_api_wrong(error, "a null where a pipeline, a shape and a place for the plan belong");
    *out = NULL;
    smempipe_plan *made = smp_alloc(sizeof *made);
    if (!made || !smp_diags_take_sources(&diags, &pipeline->diags)) {
        smp_fail_memory(&err, "a plan", sizeof *made);
        goto fail;
    }
    made->shape = *shape;
    if (smp_api_shape(shape, &made->input, &err) ||
        smp_api_plan(pipeline, &made->input, measure != 0, NULL, NULL, &diags, &made->plan, &err))
        goto fail;
    if (!(made->text = steps_text(made->plan))) {
        smp_fail_memory(&err, "a plan", made->plan->step_count);
        goto fail;
    }
    keep(pipeline);
    made->pipeline = (smempipe_pipeline *)(uintptr_t)pipeline;
    smp_diags_free(&diags);
    *out = made;
    return SMEMPIPE_OK;

fail:
    smempipe_plan_free(made);
    smempipe_code code = smp_api_fail(error, &err, &diags);
    smp_diags_free(&diags);
    return code;
}

smempipe_shape smempipe_plan_output(const smempipe_plan *plan)
{
    smempipe_shape shape = {.kind = 0};
    if (plan && plan->plan->sink_count)
        smp_api_public_shape(&plan->plan->sinks[0].shape, &shape);
    return shape;
}

const char *smempipe_plan_text(const smempipe_plan *plan)
{
    return plan ? plan->text : "";
}

void smempipe_plan_free(smempipe_plan *plan)
{
    if (!plan)
        return;
    smp_plan_free(plan->plan);
    smempipe_pipeline_free(plan->pipeline);
    free(plan->text);
    smp_free(plan);
}
