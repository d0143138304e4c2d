/* text on GPUs: a copy of the picture, and a look-up of a dot a pixel inside the box. */
#include "elementwise/text.h"

#include "elementwise/placed.cuh"

struct text_at {
    static SMP_DEVICE_MEMBER float of(const smp_io &io, const smp_text &p, float v, const smp_place &at, int channel)
    {
        const int dot = smp_text_dot(&p, io.table, at.x, at.y);
        return dot ? smp_text_value(&p, dot, v, smp_text_alpha(&io.in, at.y, at.x), channel, &io.in) : v;
    }
};
SMP_PLACED_GPU(text, smp_text)
