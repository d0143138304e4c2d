/* Files that a program names (smp_operand_file) as sources of rows beside the input. */
#pragma once

#include "device/device.h"
#include "pipe/plan/plan.h"
#include "run/strips/stream.h"

typedef struct smp_file_source {
    smp_reader *reader;
    smp_stream *stream;
} smp_file_source;

/* An smp_probe. context: how it is read (const smp_read_options *); null: the defaults. Opens
 * regular files only: a pipe file must not make a run wait for a device or a named pipe. */
smp_code smp_file_probe(void *context, const smp_operand_file *file, smp_shape *shape, int *orientation,
                        smp_error *err);

/* Opens the file of a step that has a path. The caller starts its stream. Fails with SMP_E_READ when the file has
 * another shape than was planned for. Close *out also after a failure. */
smp_code smp_file_source_open(const smp_step *step, const smp_read_options *how, smp_file_source *out, smp_error *err);
void smp_file_source_close(smp_file_source *source);

/* Whether the steps read a source's rows where they were decoded, strip by strip, without a copy. True where host and
 * device share memory and the source is not a frame. */
bool smp_source_by_strips(const smp_plan *plan, int step, const smp_device *device);

/* The stream of a source that is not read by strips. */
smp_code smp_source_slots(smp_reader *reader, const smp_plan *plan, int step, smp_device *device, int64_t strip_rows,
                          smp_stream **out, smp_error *err);

/* The stream of a source, by strips or not. The plan stays the caller's and must outlive the stream. */
smp_code smp_source_stream(smp_reader *reader, const smp_plan *plan, int step, smp_device *device, int64_t strip_rows,
                           smp_stream **out, smp_error *err);

/* Rows in a slot of a source that is not read by strips: about 512 KB. Small slots let the reader run ahead in small
 * steps; those that a GPU is sent from are larger, for each copy over the bus takes some microseconds besides. */
int64_t smp_source_slot(const smp_shape *shape, int64_t strip_rows, const smp_device *device);
