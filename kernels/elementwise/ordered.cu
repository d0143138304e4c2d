/* ordered on GPUs: thresholds are made of bits of the place, so that no table is read. */
#include "elementwise/ordered.h"

#include "elementwise/placed.cuh"

struct ordered_at {
    static SMP_DEVICE_MEMBER float of(const smp_io &io, const smp_ordered &p, float v, const smp_place &at, int channel)
    {
        return io.in.alpha && channel == io.in.channels - 1 ? v : smp_ordered_sample(v, at.x, at.y, &p);
    }
};
SMP_PLACED_GPU(ordered, smp_ordered)
