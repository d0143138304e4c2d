/* join: two pictures side by side, or one below the other, on a ground. */
#pragma once

#include "lib/cpu_kernel.h"
#include "lib/exact_math.h"

typedef struct smp_join {
    int64_t x, y;                 /* output pixel of the first picture's first pixel */
    int64_t by_x, by_y;           /* and of the second's; they do not overlap */
    float scale;                  /* from the second's code values to the first's */
    int32_t colours;              /* of the second picture: 1 serves all channels */
    float fill[SMP_MAX_CHANNELS]; /* code values */
    float opaque;                 /* alpha of a second picture that has none */
} smp_join;

/* Source of output pixels: `run` of them, from (x, y) on, lie side by side there. */
typedef struct smp_join_source {
    int32_t from; /* 0: the fill, 1: the first picture, 2: the second */
    int64_t x, y, run;
} smp_join_source;

SMP_HOST_DEVICE smp_join_source smp_join_source_of(const smp_io *io, const smp_join *p, int64_t x, int64_t y)
{
    const int64_t u = x - p->x, v = x - p->by_x, end = io->out.width - x;
    smp_join_source at = {0, 0, 0, end};
    if (y >= p->y && y - p->y < io->in.height && u < io->in.width) {
        if (u >= 0) {
            at.from = 1;
            at.x = u;
            at.y = y - p->y;
            at.run = io->in.width - u;
            return at;
        }
        at.run = -u < at.run ? -u : at.run;
    }
    if (y >= p->by_y && y - p->by_y < io->second.height && v < io->second.width) {
        if (v >= 0) {
            at.from = 2;
            at.x = v;
            at.y = y - p->by_y;
            at.run = io->second.width - v < at.run ? io->second.width - v : at.run;
            return at;
        }
        at.run = -v < at.run ? -v : at.run;
    }
    return at;
}

/* Channel c of the pixel `ahead` pixels to the right of where a run begins. */
SMP_HOST_DEVICE float smp_join_sample(const smp_io *io, const smp_join *p, const smp_join_source *at, int64_t ahead,
                                      int c, int format)
{
    if (at->from == 0)
        return p->fill[c];
    if (at->from == 1)
        return smp_load(smp_row(&io->in, at->y), (at->x + ahead) * io->in.channels + c, format);
    const int last = c == io->in.channels - 1, channels = io->second.channels;
    if (last && io->in.alpha && !io->second.alpha)
        return p->opaque;
    const int from = last && io->second.alpha ? channels - 1 : p->colours == 1 ? 0 : c;
    return smp_load(smp_row(&io->second, at->y), (at->x + ahead) * channels + from, io->second.format) * p->scale;
}

SMP_CPU_DECLARE(join_naive);
SMP_CPU_DECLARE(join_tiled);
