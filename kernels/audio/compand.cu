/* compand on GPUs, in two launches.
 *   level  a thread follows the level through a segment, and writes it to the scratch picture's first channel, in the
 *          row of the frame whose gain it makes.
 *   gain   a thread a frame. */
#include "audio/compand.h"

#include "lib/gpu_kernel.h"

/* Geometry: a thread a segment. io.second: the output. */
SMP_KERNEL(compand_level_f32_f32, smp_compand, io, p)
{
    const int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t from, first, to;
    smp_compand_segment(&p, &io.second, q, &from, &first, &to);
    if (first - p.ahead >= to)
        return;
    double level = p.start;
    for (int64_t i = from; i - p.ahead < to; i++) {
        if (i < io.in.height)
            level = smp_compand_next(&p, level, (double)smp_compand_size(&io.in, i));
        if (i >= first)
            smp_out<float>(io.out, i - p.ahead)[0] = (float)level;
    }
}

/* Geometry: a thread a frame. io.second: the sound. */
SMP_KERNEL(compand_gain_f32_f32, smp_compand, io, p)
{
    const int64_t y = io.out.y0 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= io.out.y0 + io.out.rows)
        return;
    const double x = smp_compand_log(smp_in<float>(io.in, y)[0]);
    double exponent = p.base;
    for (int k = 0; k < p.count; k++)
        exponent = smp_compand_curve(&p.pieces[k], x, exponent);
    const float gain = smp_compand_gain(exponent);
    for (int c = 0; c < io.out.channels; c++)
        smp_out<float>(io.out, y)[c] = smp_one_nan(smp_in<float>(io.second, y)[c] * gain);
}
