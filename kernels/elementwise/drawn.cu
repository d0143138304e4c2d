/* drawn on GPUs: a copy of the picture, and two look-ups a sample inside the box. */
#include "elementwise/drawn.h"

#include "elementwise/placed.cuh"

struct drawn_at {
    static SMP_DEVICE_MEMBER float of(const smp_io &io, const smp_drawn &p, float v, const smp_place &at, int channel)
    {
        const uint32_t cover = smp_drawn_cover(&p, io.table, at.x, at.y);
        return cover ? smp_drawn_value(&p, cover, v, smp_drawn_alpha(&io.in, at.y, at.x), channel, &io.in) : v;
    }
};
SMP_PLACED_GPU(drawn, smp_drawn)
