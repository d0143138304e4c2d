/* Runs whose rows come from and go to functions of the caller: a reader and a writer without a file behind them, so
 * that the streams of src/run drive them like any other. */

#include "api/api.h"
#include "base/alloc.h"
#include "io/format.h"
#include "run/file_source.h"
#include "run/run.h"

typedef struct calls { /* the state of both */
    smempipe_read_rows *read;
    smempipe_write_rows *write;
    void *context;
} calls;

static smp_code stopped(const char *which, smp_error *err)
{
    return smp_fail(err, SMP_E_INTERRUPTED, "stopped by the function that %s", which);
}

static smp_code read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err)
{
    const calls *from = reader->state;
    return from->read(from->context, to, stride, reader->next_row, rows) ? stopped("reads rows", err) : SMP_OK;
}

static smp_code write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err)
{
    const calls *to = writer->state;
    return to->write(to->context, from, stride, writer->next_row, rows) ? stopped("writes rows", err) : SMP_OK;
}

static const smp_file_format functions = {.name = "rows", .read_rows = read_rows, .write_rows = write_rows};

static smp_code open_reader(const smp_shape *shape, calls *from, smp_reader **out, smp_error *err)
{
    smp_reader *reader = *out = smp_alloc(sizeof *reader);
    SMP_NEED(reader && (reader->name = smp_strdup("rows")), "a reader", sizeof *reader, err);
    smp_source_memory(&reader->source, "", 0);
    reader->format = &functions;
    reader->state = from;
    reader->media.shape = *shape;
    reader->media.orientation = 1;
    reader->media.file_format = functions.name;
    return SMP_OK;
}

static smp_code open_writer(const smp_shape *shape, calls *to, smp_writer **out, smp_error *err)
{
    smp_writer *writer = *out = smp_alloc(sizeof *writer);
    SMP_NEED(writer && (writer->name = smp_strdup("rows")), "a writer", sizeof *writer, err);
    writer->format = writer->by = &functions;
    writer->state = to;
    writer->shape = *shape;
    return SMP_OK;
}

static smp_code run(const smempipe_plan *plan, smp_device *device, calls *rows, smempipe_result **result,
                    smp_error *err)
{
    const smp_plan *steps = plan->plan;
    const int64_t strip_rows = smp_strip_rows(steps, device, 0);
    smp_reader *reader = NULL;
    smp_writer *writer = NULL;
    smp_endpoint source = {.at = 0}, sink = {.at = 0};
    smp_error late = {.code = SMP_OK};
    smp_code code = open_reader(&plan->input, rows, &reader, err);
    if (!code && steps->sink_count)
        code = open_writer(&steps->sinks[0].shape, rows, &writer, err);
    code = code ? code : smp_source_stream(reader, steps, 0, device, strip_rows, &source.stream, err);
    if (!code && writer)
        code = smp_stream_write(writer, &steps->sinks[0].shape, strip_rows, device, NULL, &sink.stream, err);
    code = code ? code : smp_api_run(plan->pipeline, steps, device, &source, &sink, result, err);
    smp_stream_close(source.stream, true, NULL, NULL);
    smp_code ended = smp_stream_close(sink.stream, code != SMP_OK, NULL, &late);
    if (!code && ended) {
        code = ended;
        *err = late;
    }
    if (reader)
        reader->state = NULL; /* ours */
    if (writer)
        writer->state = NULL;
    smp_reader_close(reader);
    smp_writer_abort(writer);
    return code;
}

smempipe_code smempipe_run_strips(const smempipe_plan *plan, smempipe_device *device, smempipe_read_rows *read,
                                  smempipe_write_rows *write, void *context, smempipe_result **result,
                                  smempipe_error **error)
{
    smp_error err = {.code = SMP_OK};
    if (error)
        *error = NULL;
    if (result)
        *result = NULL;
    if (!plan || !device || !read || (plan->plan->sink_count && !write))
        return smp_api_wrong(error, "a null where a plan, a device and functions that read and write belong");
    calls rows = {read, write, context};
    pthread_mutex_lock(&device->lock);
    smp_code code = run(plan, device->device, &rows, result, &err);
    pthread_mutex_unlock(&device->lock);
    if (code && result) {
        smempipe_result_free(*result);
        *result = NULL;
    }
    return smp_api_fail(error, &err, NULL);
}
