/* template on GPUs: a thread a place, double sums in the definition's order.
 *   naive  every sample of the picture and of the template from global memory.
 *   tiled  row by row of the template: a block of 128 places keeps it and the picture's row under all its places in
 *          shared memory. Lanes read neighbouring samples, and all read the same of the template, which is one word
 * that every lane gets at once (a broadcast): no bank conflicts; of three colours, lanes lie three words apart, which
 * meet all banks as well. Templates whose rows do not fit 48 KB run as naive. */
#include "reduce/template.h"

#include "lib/gpu_kernel.h"

/* Geometry: threads over pixels (x) and rows (y). */
template <typename T, typename> SMP_DEVICE void template_scores_naive(const smp_io &io, const smp_template &p)
{
    const int64_t last = io.out.y0 + io.out.rows, end = last < p.down ? last : p.down;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < p.across;
             x += (int64_t)gridDim.x * blockDim.x)
            static_cast<float *>(io.result)[y * p.across + x] = smp_template_at(&p, &io, x, y);
}
SMP_KERNEL_SAME(template_scores_naive, smp_template)

/* Geometry: blocks of SMP_TEMPLATE_ACROSS threads over places (x) and rows (y). */
template <typename T, typename> SMP_DEVICE void template_scores_tiled(const smp_io &io, const smp_template &p)
{
    SMP_SMEM_DYNAMIC(float, line);
    const int t = (int)threadIdx.x, colours = p.colours, most = (int)smp_template_line(&p);
    const int taps = (int)p.width * colours;
    float *const small = line + most;
    const int64_t x0 = (int64_t)blockIdx.x * SMP_TEMPLATE_ACROSS, x = x0 + t;
    const int64_t last = io.out.y0 + io.out.rows, end = last < p.down ? last : p.down;
    const int64_t samples = (io.in.width - x0) * colours;
    const int some = samples < most ? (int)samples : most;
    for (int64_t y = io.out.y0 + blockIdx.y; y < end; y += gridDim.y) {
        smp_template_sums sums = smp_template_none();
        for (int64_t dy = 0; dy < p.height; dy++) {
            const T *const row = smp_in<T>(io.in, y + dy) + x0 * io.in.channels;
            const void *const small_row = smp_row(&io.second, dy);
            for (int i = t; i < some; i += SMP_TEMPLATE_ACROSS)
                line[i] = smp_value(row[i / colours * io.in.channels + i % colours]);
            for (int i = t; i < taps; i += SMP_TEMPLATE_ACROSS)
                small[i] = smp_load(small_row, i / colours * io.second.channels + i % colours, io.second.format);
            __syncthreads();
            for (int i = 0; i < taps; i++) {
                smp_converge();
                if (x < p.across)
                    smp_template_add(&sums, (double)line[t * colours + i], (double)small[i]);
            }
            __syncthreads();
        }
        if (x < p.across)
            static_cast<float *>(io.result)[y * p.across + x] = smp_template_score(&p, &sums);
    }
}
SMP_KERNEL_SAME(template_scores_tiled, smp_template)

template <typename IN, typename OUT> SMP_DEVICE void template_naive(const smp_io &io, const smp_template &p)
{
    const int64_t end = io.out.y0 + io.out.rows;
    for (int64_t y = io.out.y0 + blockIdx.y * blockDim.y + threadIdx.y; y < end; y += gridDim.y * blockDim.y)
        for (int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; x < io.out.width;
             x += (int64_t)gridDim.x * blockDim.x)
            smp_out<float>(io.out, y)[x] = smp_template_pixel(&p, &io, x, y);
}
SMP_KERNEL_INTO_F32(template_naive, smp_template)
