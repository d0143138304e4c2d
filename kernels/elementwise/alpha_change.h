/* alpha: transparency laid on a colour, dropped, added, taken out, or set by another picture. */
#pragma once

#include "lib/exact_math.h"
#include "lib/pixel_pair.h"

/* In the order of the stage's choices. */
enum { SMP_ALPHA_FLATTEN, SMP_ALPHA_DROP, SMP_ALPHA_OPAQUE, SMP_ALPHA_EXTRACT, SMP_ALPHA_SET };

typedef struct smp_alpha_change {
    smp_place_at at;              /* 0, 0 */
    int32_t kind;                 /* SMP_ALPHA_* */
    int32_t colours;              /* of the input */
    float scale;                  /* SET: from the second picture's code values to the first's */
    float fill[SMP_MAX_CHANNELS]; /* FLATTEN: code values */
} smp_alpha_change;

SMP_HOST_DEVICE float smp_alpha_change_pair(smp_pixel from, smp_pixel by, int channel, const smp_io *io,
                                            const smp_alpha_change *p)
{
    const float white = io->in.white, v = channel < p->colours ? from.v[channel * from.step] : white;
    const float alpha = io->in.alpha ? from.last : white;
    if (p->kind == SMP_ALPHA_FLATTEN)
        return smp_one_nan(fmaf(alpha / white, v - p->fill[channel], p->fill[channel]));
    if (p->kind == SMP_ALPHA_EXTRACT)
        return alpha;
    if (p->kind == SMP_ALPHA_SET && channel == p->colours)
        return by.v ? by.v[0] * p->scale : white;
    return v;
}
