/* noise on GPUs: arithmetic alone, 70 integer operations a sample; the table of sines stays in the first-level cache.
 */
#include "elementwise/noise.h"

#include "elementwise/placed.cuh"

struct noise_at {
    static SMP_DEVICE_MEMBER float of(const smp_io &io, const smp_noise &p, float v, const smp_place &at, int channel)
    {
        const bool passes = io.in.alpha && channel == io.in.channels - 1;
        return passes ? v : smp_noise_sample(v, (uint64_t)at.pixel, channel, &p, static_cast<const float *>(io.table));
    }
};
SMP_PLACED_GPU(noise, smp_noise)
