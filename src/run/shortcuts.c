/* Ways round decoding a whole picture: at a smaller size, where it is scaled down anyway and --fast-decode allows it;
 * and not at all, where no stage changes it and the output has the input's format. */
#include "run/run_internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text/diag.h"
#include "run/cache.h"

/* Whether a smaller copy of the input would do: every step that reads the picture in its own size converts or turns it,
 * or scales it, and none is scaled up. */
static bool may_shrink(const smp_plan *plan)
{
    bool *whole = smp_alloc_array(plan->step_count, sizeof *whole), good = whole != NULL, scaled = false;
    for (size_t i = 0; good && i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        if (step->job == SMP_JOB_SOURCE) {
            whole[i] = !step->file;
            continue;
        }
        if (!whole[step->input] && !(step->second >= 0 && whole[step->second]))
            continue;
        const bool scales = step->stage && smp_stage_is(step->stage, SMP_TRAIT_RESCALES) && !step->part_count;
        whole[i] = !scales;
        scaled |= scales;
        good = scales ? step->out.width <= step->in.width && step->out.height <= step->in.height
                      : step->job == SMP_JOB_STAGE && smp_run_is_form(step, true);
    }
    for (size_t i = 0; good && i < plan->sink_count; i++)
        good = !whole[plan->sinks[i].step];
    smp_free(whole);
    return good && scaled;
}

/* Whether a plan for a smaller input gives outputs of the same size, and scales nothing up to that end. */
static bool gives_the_same(const smp_plan *whole, const smp_plan *small)
{
    bool same = whole->sink_count == small->sink_count;
    for (size_t i = 0; same && i < whole->sink_count; i++)
        same = whole->sinks[i].shape.width == small->sinks[i].shape.width &&
               whole->sinks[i].shape.height == small->sinks[i].shape.height;
    for (size_t i = 0; same && i < small->step_count; i++) {
        const smp_step *step = &small->steps[i];
        same = !step->stage || !smp_stage_is(step->stage, SMP_TRAIT_RESCALES) ||
               (step->out.width <= step->in.width && step->out.height <= step->in.height);
    }
    return same;
}

/* Returns how much smaller the input may be decoded; 0: not at all. */
static int find_shrink(const smp_run_request *request, const smp_media *media)
{
    enum { MOST = 8 };
    smp_diags unsaid = {0}; /* the plan that is run says what is to be said */
    smp_error none = {.code = SMP_OK};
    smp_run_request quiet = *request;
    smp_plan *whole = NULL;
    int found = 0;
    quiet.diags = &unsaid;
    quiet.cache = NULL;
    quiet.shapes = true;
    const bool tries = !smp_run_plan(&quiet, media, &whole, &none) && whole->prepass < 0 && may_shrink(whole);
    for (int by = MOST; tries && by > 1 && !found; by /= 2) {
        smp_media small = *media;
        smp_plan *plan = NULL;
        small.shape.width = (media->shape.width + by - 1) / by;
        small.shape.height = (media->shape.height + by - 1) / by;
        if (!smp_run_plan(&quiet, &small, &plan, &none) && gives_the_same(whole, plan))
            found = by;
        smp_plan_free(plan);
    }
    smp_plan_free(whole);
    smp_diags_free(&unsaid);
    return found;
}

/* A pipe gives what it has once. */
static bool opens_twice(const char *input)
{
    struct stat status;
    return strcmp(input, "-") != 0 && !stat(input, &status) && S_ISREG(status.st_mode);
}

/* Opens the input again, to be read in another way. */
static smp_code open_again(const smp_run_request *request, const smp_read_options *how, smp_reader **reader,
                           smp_error *err)
{
    smp_reader_close(*reader);
    *reader = NULL;
    return smp_run_open_input(request, how, reader, err);
}

smp_code smp_run_shrink(const smp_run_request *request, smp_reader **reader, smp_error *err)
{
    const smp_media *media = smp_reader_media(*reader);
    if (!request->fast_decode || !media->shrinks || !opens_twice(request->input))
        return SMP_OK;
    smp_read_options how = request->read;
    how.want.shrink = find_shrink(request, media);
    return how.want.shrink ? open_again(request, &how, reader, err) : SMP_OK;
}

/* Whether all steps cut a sound; *from: its first row that is left. */
static bool only_cuts(const smp_plan *plan, int64_t *from)
{
    bool cuts = plan->sinks[0].step == (int)plan->step_count - 1;
    *from = 0;
    for (size_t i = 1; cuts && i < plan->step_count; i++) {
        const smp_step *step = &plan->steps[i];
        cuts = step->stage && !step->part_count && smp_stage_is(step->stage, SMP_TRAIT_CUTS) &&
               !step->work.rows.spans && step->input == (int)i - 1 && step->job == SMP_JOB_STAGE;
        *from += step->work.rows.add;
    }
    return cuts && plan->step_count > 1;
}

/* Whether the input's coded picture can be the output's, or a part of its coded sound (want->part). */
static bool may_copy(const smp_run_request *request, const smp_plan *plan, const smp_media *media, smp_read_want *want)
{
    const bool turned = plan->step_count == 2 && plan->steps[1].stage && !plan->steps[1].part_count &&
                        plan->steps[1].stage->role == SMP_ROLE_ORIENT;
    const bool inks = smp_coding_jpeg(&media->meta.coding)->inks && request->program->node_count; /* made sRGB of */
    if (inks || request->write.taker || plan->sink_count != 1 || plan->sinks[0].save >= 0 ||
        !opens_twice(request->input) || !smp_writer_keeps_coded(request->output, &request->write, media, turned))
        return false;
    if (media->cuts && only_cuts(plan, &want->from))
        want->part = plan->sinks[0].shape.height;
    return plan->step_count == 1 || turned || want->part;
}

static smp_code write_copy(const smp_run_request *request, const smp_plan *plan, const smp_media *media,
                           smp_run_report *report, smp_error *err)
{
    smp_write_options options;
    smp_writer *writer = NULL;
    smp_code code = smp_run_write_options(request, report, &options, err);
    options.coded.picture = &media->coded;
    options.coded.orientation = plan->step_count == 1 ? 1 : media->orientation;
    if (!code)
        code =
            smp_run_open_output(plan, &plan->sinks[0], request->output, &media->meta, &options, report, &writer, err);
    smp_free((void *)(uintptr_t)options.output.inputs);
    if (code)
        return code;
    smp_notes_add(&report->output_notes, smp_writer_notes(writer));
    return smp_writer_commit(writer, err);
}

static bool wants_memory(smp_code code)
{
    return code == SMP_E_MEMORY || code == SMP_E_LIMIT;
}

static smp_code code_anew(const smp_run_request *request, const char *why, smp_reader **reader, smp_run_report *report,
                          smp_error *err)
{
    *err = (smp_error){.code = SMP_OK};
    report->device_note[0] = 0;
    smp_note(&report->output_notes, "what is coded cannot be copied%s: it is coded anew", why);
    return open_again(request, &request->read, reader, err);
}

smp_code smp_run_copy(const smp_run_request *request, const smp_plan *plan, smp_reader **reader, smp_run_report *report,
                      bool *copied, smp_error *err)
{
    smp_read_options how = request->read;
    const smp_shape before = smp_reader_media(*reader)->shape;
    *copied = false;
    if (!may_copy(request, plan, smp_reader_media(*reader), &how.want))
        return SMP_OK;
    how.want.coded = true;
    const smp_code code = open_again(request, &how, reader, err);
    if (code && !wants_memory(code))
        return code;
    const smp_media *media = code ? NULL : smp_reader_media(*reader);
    const bool same = media && smp_run_same_shape(&before, &media->shape);
    if (same && !media->coded.size && media->cuts) /* it is a reader of rows, and says why */
        return SMP_OK;
    if (!same || !media->coded.size)
        return code_anew(request, code ? " for want of memory" : "", reader, report, err);
    const smp_shape *shape = &plan->sinks[0].shape;
    smp_shape_text(shape, shape->format, report->shape_out, sizeof report->shape_out);
    snprintf(report->device_note, sizeof report->device_note, "no step runs: what is coded is copied as it is");
    const smp_code wrote = write_copy(request, plan, media, report, err);
    const bool failed = wants_memory(wrote) || wrote == SMP_E_ENCODE;
    *copied = wrote != SMP_E_DECODE /* of a writer that looks into it */ &&
              !(failed && smp_run_is_replaceable(request->output));
    report->copied = *copied;
    const char *why = wants_memory(wrote)     ? " for want of memory"
                      : wrote == SMP_E_ENCODE ? ", since its encoder failed"
                                              : ", since the library refuses it";
    return *copied ? wrote : code_anew(request, why, reader, report, err);
}
