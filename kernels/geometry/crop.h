/* crop: a rectangle of a picture. */
#pragma once

#include "geometry/gather.h"

typedef struct smp_crop {
    int64_t x, y; /* the input's pixel that becomes the first */
} smp_crop;

SMP_HOST_DEVICE smp_source smp_crop_source(const smp_io *io, const void *params, int64_t x, int64_t y)
{
    const smp_crop *p = (const smp_crop *)params;
    const smp_source from = {x + p->x, y + p->y, io->out.width - x};
    return from;
}

SMP_GATHER_DECLARE(crop);
