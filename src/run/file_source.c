/* Sources of rows that a program names: see file_source.h. */
#include "run/file_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "io/format.h"

static smp_code open_regular(const smp_operand_file *file, const smp_read_options *how, smp_reader **reader,
                             smp_error *err)
{
    const smp_read_options asked = how ? *how : smp_read_defaults();
    const smp_read_options used = {/* the others are about the input */
                                   .limits = asked.limits,
                                   .memory_meant = asked.memory_meant,
                                   .time_limit = asked.time_limit,
                                   .no_verify = asked.no_verify,
                                   .want = {.scan_from = asked.want.scan_from, .whole = asked.want.whole}};
    struct stat status;
    *reader = NULL;
    int fd = -1;
    smp_code code = SMP_OK;
    if (file->beneath.name)
        code = smp_beneath_open(&file->beneath, &fd, err);
    else if ((fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0)
        code = smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(errno));
    if (!code && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)))
        code = smp_fail(err, SMP_E_READ, "is not a regular file");
    if (code) {
        if (fd >= 0)
            close(fd);
        return smp_at(err, "%s", file->path);
    }
    return smp_reader_open_file(fd, file->path, &used, reader, err);
}

smp_code smp_file_probe(void *context, const smp_operand_file *file, smp_shape *shape, int *orientation, smp_error *err)
{
    smp_reader *reader;
    smp_code code = open_regular(file, context, &reader, err);
    if (!code) {
        *shape = smp_reader_media(reader)->shape;
        *orientation = smp_reader_media(reader)->orientation;
        smp_blob made;
        const smp_blob icc = smp_meta_profile(&smp_reader_media(reader)->meta, shape, &made);
        if (icc.size && !made.data && !smp_blob_set(&made, icc.data, icc.size))
            code = smp_fail_memory(err, "an ICC profile", icc.size);
        shape->icc = made.data;
        shape->icc_size = made.size;
    }
    smp_reader_close(reader);
    return code;
}

static bool same_shape(const smp_shape *a, const smp_shape *b)
{
    return a->kind == b->kind && a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->alpha == b->alpha && a->format == b->format;
}

smp_code smp_file_source_open(const smp_step *step, const smp_read_options *how, smp_file_source *out, smp_error *err)
{
    *out = (smp_file_source){0};
    SMP_TRY(open_regular(step->file, how, &out->reader, err));
    smp_code code = SMP_OK;
    if (!same_shape(&smp_reader_media(out->reader)->shape, &step->out)) {
        code = smp_fail(err, SMP_E_READ, "the file was changed while it was in use");
        smp_at(err, "%s", step->file->path);
    }
    return code;
}

void smp_file_source_close(smp_file_source *source)
{
    smp_stream_close(source->stream, true, NULL, NULL);
    smp_reader_close(source->reader);
    *source = (smp_file_source){0};
}

bool smp_source_by_strips(const smp_plan *plan, int step, const smp_device *device)
{
    return device->host_memory && plan->steps[step].job == SMP_JOB_SOURCE && !plan->steps[step].frame;
}

smp_code smp_source_stream(smp_reader *reader, const smp_plan *plan, int step, smp_device *device, int64_t strip_rows,
                           smp_stream **out, smp_error *err)
{
    return smp_source_by_strips(plan, step, device)
               ? smp_stream_read_strips(reader, plan, step, strip_rows, out, err)
               : smp_source_slots(reader, plan, step, device, strip_rows, out, err);
}

smp_code smp_source_slots(smp_reader *reader, const smp_plan *plan, int step, smp_device *device, int64_t strip_rows,
                          smp_stream **out, smp_error *err)
{
    int64_t rows;
    SMP_TRY(smp_rows_needed(plan, step, &rows, err));
    strip_rows = smp_phase_rows(plan, plan->steps[step].phase, strip_rows);
    const int64_t slot = smp_source_slot(&plan->steps[step].out, strip_rows, device);
    return smp_reader_media(reader)->live ? smp_stream_read_live(reader, rows, slot, device, out, err)
                                          : smp_stream_read(reader, rows, slot, device, out, err);
}

int64_t smp_source_slot(const smp_shape *shape, int64_t strip_rows, const smp_device *device)
{
    enum { SLOT_BYTES = 1 << 19 };
    const int64_t bytes = device && !device->host_memory ? SMP_GPU_SLOT_BYTES : SLOT_BYTES;
    int64_t row = shape->width * shape->channels * smp_sample_size((int)shape->format);
    return smp_max_i64(1, smp_min_i64(strip_rows, smp_max_i64(1, bytes / row)));
}
