/* Rows between a codec's thread and the computing thread: a bounded ring of slots. A reader decodes ahead into slots
 * and the computing thread takes rows out; towards a writer it is the other way round. The number of slots bounds the
 * memory. For a GPU slots are pinned, where that is possible: rows are sent from them and to them, and who touches a
 * slot next waits for the mark behind them. */
#pragma once

#include "device/device.h"
#include "io/media.h"
#include "run/strips/schedule.h"

typedef struct smp_stream smp_stream;

enum { SMP_GPU_SLOTS = 4, SMP_GPU_SLOT_BYTES = 1 << 20 }; /* between a codec and a GPU */

/* Starts a thread that reads the first `rows` of reader's rows in slots of slot_rows. The reader stays the caller's and
 * must outlive the stream, as must the device (null: rows are not sent). */
smp_code smp_stream_read(smp_reader *reader, int64_t rows, int64_t slot_rows, smp_device *device, smp_stream **out,
                         smp_error *err);

/* The same for the source `step` of a plan. Each slot holds all rows that one strip sees; rows that the strip before
 * saw too are copied. For smp_stream_strip only. The plan stays the caller's. */
smp_code smp_stream_read_strips(smp_reader *reader, const smp_plan *plan, int step, int64_t strip_rows,
                                smp_stream **out, smp_error *err);

/* The same of a live sound: slots are passed on with the rows that there are. rows: the most that are read. */
smp_code smp_stream_read_live(smp_reader *reader, int64_t rows, int64_t slot_rows, smp_device *device, smp_stream **out,
                              smp_error *err);

/* Rows keep .. to-1 of the next strip that needs new rows; valid until the next call. */
smp_code smp_stream_strip(smp_stream *stream, void **rows, smp_error *err);

/* Starts a thread that writes the rows put into the stream, in slots as high as strips; smaller ones for a GPU. The
 * writer stays the caller's. source: a reading stream that ends where the writer fails, and outlives this one: nobody
 * may wait there for rows that come late or never; or null. */
smp_code smp_stream_write(smp_writer *writer, const smp_shape *shape, int64_t strip_rows, smp_device *device,
                          smp_stream *source, smp_stream **out, smp_error *err);

/* The mark of the slot that take or room gave last, for the device's send; null: its memory is ordinary. */
smp_mark **smp_stream_mark(smp_stream *stream);

bool smp_stream_is_pinned(const smp_stream *stream);

/* The next contiguous rows of a reading stream: at least 1, at most want; of a live sound 0 at its end. *rows points
 * into a slot and stays valid until smp_stream_took says how many were used. */
smp_code smp_stream_take(smp_stream *stream, int64_t want, const void **rows, int64_t *count, smp_error *err);
void smp_stream_took(smp_stream *stream, int64_t count);

/* Room for the next rows of a writing stream: at most want, at least `together` (0 or 1: any; at most the rows of a
 * slot). smp_stream_put says how many were filled in. */
smp_code smp_stream_room(smp_stream *stream, int64_t want, int64_t together, void **rows, int64_t *count,
                         smp_error *err);
void smp_stream_put(smp_stream *stream, int64_t count);

/* Whether smp_stream_take would return at once. */
bool smp_stream_has_rows(smp_stream *stream);

/* Hands rows that were put to the writer, which else waits for a whole slot. */
void smp_stream_pass(smp_stream *stream);

/* Whether smp_stream_room would return at once where `together` is 0 or 1; with more it may still wait for a slot. */
bool smp_stream_has_room(smp_stream *stream);

/* Bytes of the slots of a stream of this shape. by_strips: as smp_stream_read_strips has them. Huge sizes give a large
 * number and no overflow. */
int64_t smp_stream_read_bytes(const smp_shape *shape, int64_t slot_rows, bool by_strips, const smp_device *device);
int64_t smp_stream_write_bytes(const smp_shape *shape, int64_t strip_rows, const smp_device *device);

/* The stride of rows in slots, in bytes. */
int64_t smp_stream_stride(const smp_stream *stream);

/* Waits for the thread, returns how it ended and how long it was busy, and frees the stream. stop: rows that are left
 * are dropped. */
smp_code smp_stream_close(smp_stream *stream, bool stop, double *busy_seconds, smp_error *err);
