/* Files that a program names (smp_operand_file) as sources of rows beside the input. */
#ifndef SMP_RUN_FILE_SOURCE_H
#define SMP_RUN_FILE_SOURCE_H

#include "device/device.h"
#include "pipe/plan.h"
#include "run/stream.h"

typedef struct smp_file_source {
    smp_reader *reader;
    smp_stream *stream;
} smp_file_source;

/* An smp_probe; context: the limits that the header is checked against (const smp_limits *), null for the defaults.
 * Only regular files are opened: a pipe file must not make a run wait for a device or a named pipe. */
smp_code smp_file_probe(void *context, const char *path, smp_shape *shape, int *orientation, smp_error *err);

/* Opens the file of a step with a path; its stream is for the caller to start. Fails when it no longer holds what was
 * planned for (SMP_E_READ). *out is to be closed whatever happens. */
smp_code smp_file_source_open(const smp_step *step, const smp_limits *limits, smp_file_source *out, smp_error *err);
void smp_file_source_close(smp_file_source *source);

/* Whether the rows of a source are read where they are decoded, strip by strip: where host and device share memory, and
 * the source is no frame. */
bool smp_source_by_strips(const smp_plan *plan, int step, const smp_device *device);

/* The stream of a source, by strips or not. The plan stays the caller's while the stream is open. */
smp_code smp_source_stream(smp_reader *reader, const smp_plan *plan, int step, const smp_device *device,
                           int64_t strip_rows, smp_stream **out, smp_error *err);

/* Rows that a reader decodes at a time when it is not read by strips: about 512 KB, so that it runs ahead in small
 * steps. */
int64_t smp_source_slot(const smp_shape *shape, int64_t strip_rows);

#endif
