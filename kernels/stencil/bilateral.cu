/* bilateral on GPUs.
 *   naive  a thread a pixel, every neighbour from global memory.
 *   tiled  a block of 32 x 8 pixels: samples with their halo in shared memory, a plane a colour, and of 8 bits the
 * table of likeness beside them: neighbours' look-ups meet whatever banks their differences choose. Radii whose tile
 *          does not fit 48 KB run as naive.
 *   private  gray of 8 bits: the same with a table for each bank, entry k of lane t at 32 k + t: no conflicts. A block
 *            writes 32 KB first. Of photos tiled has hardly a conflict, since neighbours are alike, and is what
 *            runs; of noise half as many wavefronts more. */
#include "stencil/bilateral.h"

#include "stencil/stencil.cuh"

template <typename OUT>
SMP_DEVICE void bilateral_put(const smp_io &io, int64_t x, int64_t y, const float *v, unsigned *clipped)
{
    for (int c = 0; c < io.out.channels; c++)
        stencil_put(io, smp_out<OUT>(io.out, y), x * io.out.channels + c, v[c], clipped);
}

/* Geometry: threads over pixels. */
template <typename IN, typename OUT> SMP_DEVICE void bilateral_naive(const smp_io &io, const smp_bilateral &p)
{
    unsigned clipped = 0;
    smp_each(io, io.out.width, [&](int64_t y, int64_t x) {
        float out[SMP_MAX_CHANNELS];
        smp_bilateral_pixel(&p, &io, x, y, out);
        bilateral_put<OUT>(io, x, y, out, &clipped);
    });
    smp_count_clipped<OUT>(io, clipped);
}
SMP_KERNEL_FORMATS(bilateral_naive, smp_bilateral)

/* COPIES: of the table of likeness, a lane's at its number. Geometry: blocks of SMP_BILATERAL_ACROSS x
 * SMP_BILATERAL_DOWN threads over pixels (x) and rows (y). */
template <typename IN, typename OUT, int COPIES>
SMP_DEVICE void bilateral_tiles(const smp_io &io, const smp_bilateral &p)
{
    SMP_SMEM_DYNAMIC(float, shared);
    const int channels = io.in.channels, colours = smp_bilateral_colours(&io.in), r = p.radius, side = 2 * r + 1;
    const int across = SMP_BILATERAL_ACROSS + 2 * r, down = SMP_BILATERAL_DOWN + 2 * r, plane = across * down;
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y, t = tx + ty * SMP_BILATERAL_ACROSS;
    const int threads = SMP_BILATERAL_ACROSS * SMP_BILATERAL_DOWN;
    const float most = smp_bilateral_last(&io.in), outside = smp_outside(p.edge, p.fill, io.in.white);
    const float *const space = static_cast<const float *>(io.table);
    float *const likeness = shared + plane * colours;
    const int64_t end = io.out.y0 + io.out.rows, x0 = (int64_t)blockIdx.x * SMP_BILATERAL_ACROSS;
    unsigned clipped = 0;
    for (int k = t; k < ((int)most + 1) * COPIES; k += threads)
        likeness[k] = most > 0.f ? smp_bilateral_likeness_table(&p, io.table)[k / COPIES] : 0.f;
    for (int64_t y0 = io.out.y0 + (int64_t)blockIdx.y * SMP_BILATERAL_DOWN; y0 < end;
         y0 += (int64_t)gridDim.y * SMP_BILATERAL_DOWN) {
        for (int k = t; k < plane; k += threads) {
            const int64_t x = x0 - r + k % across, y = y0 - r + k / across;
            for (int c = 0; c < colours; c++)
                shared[c * plane + k] = y < end + r ? smp_at_border(&io.in, x, y, c, p.edge, outside) : 0.f;
        }
        __syncthreads();
        const int64_t x = x0 + tx, y = y0 + ty;
        if (x < io.out.width && y < end) {
            const float *const middle = shared + (ty + r) * across + tx + r;
            float num[SMP_MAX_CHANNELS], den = 0.f;
            for (int c = 0; c < colours; c++)
                num[c] = 0.f;
            for (int dy = -r; dy <= r; dy++)
                for (int dx = -r; dx <= r; dx++) {
                    smp_converge();
                    const float weight = space[(dy + r) * side + dx + r];
                    const float *const q = middle + dy * across + dx;
                    float difference = 0.f;
                    if (weight == 0.f)
                        continue;
                    for (int c = 0; c < colours; c++)
                        difference = difference + smp_abs(q[c * plane] - middle[c * plane]);
                    const float k = weight * smp_bilateral_likeness(difference, likeness + tx % COPIES, most, COPIES,
                                                                    p.factor, p.unit);
                    for (int c = 0; c < colours; c++)
                        num[c] = fmaf(k, q[c * plane], num[c]);
                    den = den + k;
                }
            for (int c = 0; c < colours; c++)
                num[c] = num[c] / den;
            if (colours < channels)
                num[colours] = smp_value(smp_in<IN>(io.in, y)[x * channels + colours]);
            bilateral_put<OUT>(io, x, y, num, &clipped);
        }
        __syncthreads();
    }
    smp_count_clipped<OUT>(io, clipped);
}

template <typename IN, typename OUT> SMP_DEVICE void bilateral_tiled(const smp_io &io, const smp_bilateral &p)
{
    bilateral_tiles<IN, OUT, 1>(io, p);
}
SMP_KERNEL_FORMATS(bilateral_tiled, smp_bilateral)

template <typename IN, typename OUT> SMP_DEVICE void bilateral_private(const smp_io &io, const smp_bilateral &p)
{
    bilateral_tiles<IN, OUT, SMP_BILATERAL_COPIES>(io, p);
}
SMP_KERNEL_BYTES_FLOATS(bilateral_private, smp_bilateral)
