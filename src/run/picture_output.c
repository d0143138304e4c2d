/* Outputs that are pictures: the input's metadata as the steps changed them, and notes of what the file's format loses.
 */
#include <sys/stat.h>

#include "base/alloc.h"
#include "media/icc.h"
#include "run/run_internal.h"

/* Whether a stage only converts samples for the stage behind it, or back. */
static bool is_form(const smp_stage *stage)
{
    const smp_role role = stage ? stage->role : SMP_ROLE_NONE;
    return role == SMP_ROLE_CONVERT || role == SMP_ROLE_PREMULTIPLY || role == SMP_ROLE_STRAIGHT ||
           role == SMP_ROLE_LINEAR || role == SMP_ROLE_ENCODED || role == SMP_ROLE_JPEG || role == SMP_ROLE_JPEG_ENCODE;
}

bool smp_run_is_form(const smp_step *step, bool turned)
{
    if (!step->part_count)
        return is_form(step->stage) || (turned && step->stage && step->stage->role == SMP_ROLE_ORIENT);
    bool form = true;
    for (size_t i = 0; i < step->part_count; i++)
        form &= is_form(step->parts[i].stage);
    return form;
}

/* Finds what the steps between the input and an output do to the picture. The input's orientation does not count: the
 * reader's metadata already describes the upright picture. */
static smp_change find_change(const smp_plan *plan, const smp_sink *sink)
{
    smp_change change = {.width = sink->shape.width, .height = sink->shape.height, .dpi = sink->dpi};
    const smp_step *step = &plan->steps[sink->step];
    for (; step->job != SMP_JOB_SOURCE; step = &plan->steps[step->input]) {
        const bool light = step->in.format == SMP_F32 && step->in.curve == 1 && !step->in.icc; /* keeps its primaries */
        change.srgb |= step->work.change.makes_srgb && !light;
        change.encoded |= step->work.change.makes_srgb && light;
        if (smp_run_is_form(step, false) || (step->job == SMP_JOB_REDUCE && !step->part_count))
            continue;
        bool moves = step->work.values.exactness == SMP_MOVE;
        change.changed = true;
        change.toned |= !moves;
        change.swapped ^= step->work.change.swaps_axes && !(step->stage && step->stage->role == SMP_ROLE_ORIENT);
    }
    if (step->file) /* samples of another file */
        change.changed = change.toned = true;
    return change;
}

/* Whether steps make gray of colours, or the other way round. */
static bool recolours(const smp_plan *plan, const smp_sink *sink)
{
    bool any = false;
    for (const smp_step *step = &plan->steps[sink->step]; step->job != SMP_JOB_SOURCE; step = &plan->steps[step->input])
        any |= !smp_run_is_form(step, false) &&
               (step->in.channels - step->in.alpha == 1) != (step->out.channels - step->out.alpha == 1);
    return any;
}

/* Whether a file of this name has no place for what a picture's metadata say of its colours; *what: the profile. */
static bool loses_colours(const smp_meta *meta, const char *path, const smp_write_options *options, const char **what)
{
    *what = meta->icc.size       ? "profile"
            : meta->has_cicp     ? "cICP"
            : !meta->has_chrm    ? "gAMA"
            : !(meta->gamma > 0) ? "cHRM"
                                 : "gAMA and cHRM";
    if (meta->icc.size)
        return options->strip || (!options->taker && smp_writer_bare(path, options->format));
    return options->strip || (!meta->has_cicp && !smp_writer_says_gamma(path, options->format)); /* writers tell cICP */
}

/* Colours that are not sRGB's, in a file that cannot say so. encoded: they were light. */
static void tell_colours(const smp_meta *meta, const smp_plan *plan, const smp_sink *sink, bool encoded,
                         const char *path, const smp_write_options *options, smp_notes *notes)
{
    smp_icc icc;
    smp_blob made;
    const char *what;
    smp_meta said = *meta;
    smp_shape shape = sink->shape;
    const bool gray = shape.channels - shape.alpha == 1, light = shape.format == SMP_F32 && shape.curve == 1;
    if (light)
        said.gamma = 0;     /* light has primaries, and no curve to lose */
    shape.format = SMP_U16; /* a profile is made of integers' metadata alone */
    const smp_blob profile = smp_meta_profile(&said, &shape, &made);
    const bool loses = loses_colours(&said, path, options, &what);
    const bool known = profile.size && !smp_icc_read(profile.data, profile.size, &icc);
    if (known && icc.gray != gray && recolours(plan, sink) && !smp_icc_levels_like_srgb(&icc)) /* else it was told */
        smp_note(notes,
                 "the picture's colours are not sRGB, and their profile is of %s: it is left out, and programs will "
                 "show wrong colours; `profile srgb` as the first stage converts them (-e 'profile srgb')",
                 icc.gray ? "gray" : "colours");
    else if (known && icc.gray == gray && loses && !smp_icc_is_srgb(&icc))
        smp_note(notes,
                 "the picture's colours are not sRGB, and %s their %s: programs will show wrong colours; `profile "
                 "srgb` as the first stage converts them (-e 'profile srgb')%s",
                 options->strip ? "--strip drops" : "the format has no place for", what,
                 light || encoded ? " from a PNG of them, since here they are light" : "");
    smp_free(made.data);
}

smp_code smp_run_open_output(const smp_plan *plan, const smp_sink *sink, const char *path, const smp_meta *meta,
                             const smp_write_options *options, smp_run_report *report, smp_writer **writer,
                             smp_error *err)
{
    struct stat there;
    if (sink->save >= 0 && options->output.force && stat(path, &there) == 0)
        smp_note(&report->output_notes, "`save \"%.200s\"` replaces a file that was there", sink->path);
    if (sink->was_rate > 0)
        smp_note(&report->output_notes, "the format has no rate of %.10g Hz: the sound is resampled to %.10g kHz",
                 sink->was_rate, sink->shape.rate / 1000);
    if (sink->shape.kind != SMP_IMAGE)
        return smp_run_open_sound(plan, sink, path, meta, options, report, writer, err);
    if (sink->drops_alpha)
        smp_note(&report->output_notes,
                 "the file's format has no transparency: colour is laid on black (-e 'alpha flatten': on white)");
    if (sink->drops_bits)
        smp_note(&report->output_notes, "the format holds 8 bits a sample, and the picture has 16: .png and .tif hold "
                                        "them (-e 'depth 8bit': not told)");
    if (sink->drops_numbers)
        smp_note(&report->output_notes, "the format holds 8 bits a sample, and numbers below 129 become 0: .png, .tif "
                                        "and .npy hold all 16");
    smp_meta changed;
    smp_write_options here = *options;
    if (sink->coded)
        here.coded.scan = sink->rows;
    smp_change change = find_change(plan, sink);
    SMP_NEED(smp_meta_copy(&changed, meta), "metadata", meta->icc.size + meta->exif.size, err);
    smp_meta_apply_change(&changed, &change, options->strip ? NULL : &report->output_notes);
    tell_colours(&changed, plan, sink, change.encoded, path, options, &report->output_notes);
    smp_code code = smp_writer_open(path, &sink->shape, &changed, &here, writer, err);
    smp_meta_free(&changed);
    return code;
}
