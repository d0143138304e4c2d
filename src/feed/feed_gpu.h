/* The GPU of a feed. Pictures that are still coded, and finished ones, wait in a queue; each of several lanes takes as
 * many as are there, and runs them together (run/together.h): so while one lane is computing, another one is sent what
 * it needs, and a third finishes. */
#pragma once

#include "feed/feed.h"
#include "run/together.h"

typedef struct smp_feed_gpu smp_feed_gpu;

typedef struct smp_feed_picture {
    struct smp_feed_picture *next;
    smp_together_picture many; /* rows: from smp_alloc; plan null: those that go to the place as they are */
    size_t bytes;              /* of the rows */
    void *batch;               /* the caller's, */
    size_t slot;               /* as is */
} smp_feed_picture;

/* Called in a lane's thread when a picture is done; err: why not, null: it is, or is in doubt. It is freed afterwards.
 */
typedef void smp_feed_gpu_ended(void *context, const smp_feed_picture *picture, const smp_error *err);

/* device: cuda, cuda:N, simt. */
smp_code smp_feed_gpu_open(const char *device, const smp_feed_format *format, smp_feed_gpu_ended *ended, void *context,
                           smp_feed_gpu **out, smp_error *err);

/* Does what waits, and nothing more. Null is allowed. */
void smp_feed_gpu_end(smp_feed_gpu *gpu);
/* The same, and releases it. */
void smp_feed_gpu_close(smp_feed_gpu *gpu);

bool smp_feed_gpu_is_emulated(const smp_feed_gpu *gpu);

/* Whether a plan can be run there: fills in *need. */
bool smp_feed_gpu_serves(const smp_feed_gpu *gpu, const smp_plan *plan, smp_together_need *need);

/* Takes over a picture (smp_alloc), its plan and its rows; waits where too much waits. */
void smp_feed_gpu_take(smp_feed_gpu *gpu, smp_feed_picture *picture);

/* Memory of the program that asks: one thread at a time. */
smp_code smp_feed_gpu_map(smp_feed_gpu *gpu, const CUipcMemHandle *handle, void **out, smp_error *err);
void smp_feed_gpu_unmap(smp_feed_gpu *gpu, void *memory);
