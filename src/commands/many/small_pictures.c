/* Many files through a pipeline into memory: see small_pictures.h. A batch whose outputs are taken row by row
 * (smp_write_options.taker), under names that are the files' numbers. */
#include "commands/many/small_pictures.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

/* take() writes what belongs to one file's thread at a time; finished() the rest, one call at a time. */
typedef struct work {
    smp_small_each *each;
    void *context;
    const char *command;
    smp_small_picture *pictures;
    smp_failures failures;
    smp_remarks remarks;
    smp_progress progress;
} work;

/* A file that found too little memory comes a second time. */
static smp_code take(void *context, const char *name, const smp_shape *shape, int64_t y, int64_t rows, const void *from,
                     int64_t stride, smp_error *err)
{
    work *w = context;
    smp_small_picture *p = &w->pictures[strtoull(name, NULL, 10)];
    const size_t row = (size_t)(shape->width * shape->channels);
    if (shape->channels - shape->alpha != 1 && shape->channels - shape->alpha != 3)
        return smp_fail(err, SMP_E_PIPE, "a picture of %d channels has no colours to show", shape->channels);
    if (y == 0) {
        smp_free(p->samples);
        *p = (smp_small_picture){.samples = smp_alloc_array((size_t)shape->height, row),
                                 .width = shape->width,
                                 .height = shape->height,
                                 .channels = shape->channels};
        SMP_NEED(p->samples, "a picture", (uint64_t)shape->height * row, err);
    }
    for (int64_t i = 0; i < rows; i++)
        memcpy(p->samples + (size_t)(y + i) * row, (const char *)from + i * stride, row);
    return SMP_OK;
}

static void finished(void *context, const smp_batch_file *file, smp_run_report *report, const smp_error *err)
{
    work *w = context;
    smp_small_picture *picture = &w->pictures[file->number];
    if (report->status) {
        smp_error why = *err;
        const smp_shape *shape = &report->shape;
        const int colours = shape->channels - shape->alpha;
        if (shape->kind == SMP_AUDIO)
            smp_fail(&why, SMP_E_PIPE, "it is a sound, and %s takes pictures", w->command);
        else if (shape->kind == SMP_IMAGE && why.code == SMP_E_PIPE && colours != 1 && colours != 3) {
            smp_fail(&why, SMP_E_PIPE, "it has %d channels%s, and %s takes gray and colour", shape->channels,
                     shape->alpha ? ", one of them alpha" : "", w->command);
            smp_hint(&why, "smempipe batch -e 'matrix [1%.*s]' makes pictures of their first channel alone",
                     2 * ((int)smp_min_i64(shape->channels, SMP_MAX_CHANNELS) - 1), " 0 0 0 0 0 0 0");
        }
        smp_failures_add(&w->failures, report->input, &why);
        smp_free(picture->samples);
        picture->samples = NULL;
    } else {
        report->output = NULL; /* there is no such file */
        smp_remarks_add(&w->remarks, report);
    }
    w->each(w->context, file->number, picture);
    smp_free(picture->samples);
    picture->samples = NULL;
}

static void tick(void *context, const smp_batch_count *count)
{
    work *w = context;
    smp_progress_files(&w->progress, count);
}

/* The names of outputs, one behind the other. */
static char *make_names(size_t count, smp_batch_file *files)
{
    enum { NAME = 32 };
    char *names = smp_alloc_array(count, NAME);
    for (size_t i = 0; names && i < count; i++) {
        snprintf(names + i * NAME, NAME, "%zu.npy", i);
        files[i].output = names + i * NAME;
    }
    return names;
}

smp_code smp_small_pictures(const smp_many_settings *many, const smp_program *program, const char *command,
                            smp_found *const *found, size_t count, smp_small_each *each, void *context, size_t *failed,
                            smp_error *err)
{
    const smp_common *common = &many->plan.base.common;
    work w = {
        .each = each, .context = context, .command = command, .pictures = smp_alloc_array(count, sizeof *w.pictures)};
    smp_batch_file *files = smp_alloc_array(count, sizeof *files);
    char *names = files ? make_names(count, files) : NULL, note[400] = "";
    smp_program pictures = *program; /* whoever gives a sound is told of that, and not of stages */
    pictures.kind = SMP_IMAGE;
    smp_batch_request request = smp_many_request(many, &pictures, NULL); /* nobody wrote these stages */
    const smp_row_taker taker = {take, &w};
    smp_batch_count done = {0};
    smp_code code = w.pictures && names ? SMP_OK : smp_fail_memory(err, "the files", count * sizeof *files);
    for (size_t i = 0; !code && i < count; i++) {
        files[i].input = found[i]->path;
        files[i].bytes = found[i]->size;
        files[i].number = i;
    }
    if (!code) {
        request.files = files;
        request.count = count;
        request.write.taker = &taker;
        request.in_order = true;
        request.finished = finished;
        request.tick = tick;
        request.context = &w;
        smp_progress_begin(&w.progress, common, command);
        code = smp_batch_run(&request, &done, note, sizeof note, err);
        smp_progress_end(&w.progress);
    }
    if (common->verbose && !common->quiet && note[0])
        fprintf(stderr, "smempipe: %s\n", note);
    for (size_t i = 0; w.pictures && i < count; i++)
        smp_free(w.pictures[i].samples);
    smp_free_all(w.pictures, files, names);
    smp_remarks_show(&w.remarks, common);
    smp_failures_show(&w.failures, common, count);
    smp_remarks_free(&w.remarks);
    smp_failures_free(&w.failures);
    *failed = done.failed;
    return code;
}
