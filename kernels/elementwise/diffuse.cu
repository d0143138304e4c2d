/* diffuse on GPUs: a block a channel, or one where colours choose together. What a pixel waits for is the limit.
 *   naive  one thread, pixel by pixel.
 *   tiled  a thread a row, each two columns behind the one above, which hands it its errors through shared memory:
 *          neighbouring lanes, neighbouring words, or every third one of colours. A barrier a column. The errors of a
 *          block's last row wait in device memory for its next rows. */
#include "elementwise/diffuse.h"

#include "lib/gpu_kernel.h"

template <typename IN, typename> SMP_DEVICE void diffuse_naive(const smp_io &io, const smp_palette &p)
{
    if (p.colours == 3)
        smp_diffuse_part(&io, &p, 0, 3);
    else
        smp_diffuse_part(&io, &p, (int)blockIdx.x, 1);
}

template <int COLOURS> struct diffuse_errors {
    int32_t v[2][SMP_DIFFUSE_THREADS][COLOURS]; /* of two columns in turn */
};

template <int COLOURS, typename IN>
SMP_DEVICE void diffuse_rows(const smp_io &io, const smp_palette &p, diffuse_errors<COLOURS> &s, int part)
{
    const int me = (int)threadIdx.x, parts = smp_diffuse_parts(&p, &io.in), channels = io.in.channels;
    const int64_t width = io.in.width, height = io.in.height, step = (int64_t)parts * COLOURS;
    const int32_t *codes = smp_palette_codes(&p, io.table);
    int32_t *errors = smp_diffuse_errors(&io.out, height) + part * COLOURS;
    for (int64_t top = 0; top < height; top += blockDim.x) {
        const int64_t y = top + me;
        const int last = (int)(height - top < blockDim.x ? height - top : blockDim.x) - 1;
        const IN *from = y < height ? smp_in<IN>(io.in, y) + part : nullptr;
        uint8_t *to = y < height ? smp_out<uint8_t>(io.out, y) + part : nullptr;
        int32_t left[COLOURS] = {0}, up[COLOURS] = {0}, before[COLOURS] = {0};
        for (int64_t at = -1; at < width + 2 * last; at++) {
            const int64_t x = at - 2 * me;
            const bool inside = y < height && x >= 0 && x < width, above = x >= -1 && x + 1 < width && y > 0;
            int32_t v[COLOURS], right[COLOURS];
            smp_converge();
#pragma unroll
            for (int c = 0; c < COLOURS; c++) {
                right[c] = 0;
                if (above && y < height)
                    right[c] = me ? s.v[(at + 1) & 1][me - 1][c] : errors[(x + 1) * step + c];
                const int32_t code = inside ? smp_diffuse_code((float)from[x * channels + c], &p) : 0;
                v[c] = smp_diffuse_sum(code, left[c], right[c], up[c], before[c], p.white);
                before[c] = up[c];
                up[c] = right[c];
            }
            const int32_t k = inside ? smp_diffuse_choice(v, &p, codes, COLOURS) : 0;
            smp_converge();
#pragma unroll
            for (int c = 0; c < COLOURS; c++) {
                left[c] = inside ? v[c] - codes[k * COLOURS + c] : 0;
                s.v[at & 1][me][c] = left[c];
                if (inside && me == last)
                    errors[x * step + c] = left[c];
            }
            if (inside)
                to[x * parts] = (uint8_t)k;
            __syncthreads();
        }
    }
}

template <typename IN, typename> SMP_DEVICE void diffuse_tiled(const smp_io &io, const smp_palette &p)
{
    SMP_SHARED(diffuse_errors<3>, s);
    if (p.colours == 3)
        diffuse_rows<3, IN>(io, p, s, 0);
    else
        diffuse_rows<1, IN>(io, p, reinterpret_cast<diffuse_errors<1> &>(s), (int)blockIdx.x);
}

template <typename IN, typename OUT> SMP_DEVICE void diffuse_paint(const smp_io &io, const smp_palette &p)
{
    smp_each(io, io.out.width * io.out.channels, [&](int64_t y, int64_t i) {
        const int32_t c = (int32_t)(i % io.out.channels);
        const float v = smp_diffuse_value(&io, &p, smp_in<uint8_t>(io.in, y), y, i / io.out.channels, c);
        smp_out<OUT>(io.out, y)[i] = smp_rounded<OUT>(v);
    });
}

#define DIFFUSE_FIRST(name)                                                                                            \
    SMP_KERNEL_PAIR_(name, u8, uint8_t, u8, uint8_t, smp_palette)                                                      \
    SMP_KERNEL_PAIR_(name, u16, uint16_t, u8, uint8_t, smp_palette)                                                    \
    SMP_KERNEL_PAIR_(name, f32, float, u8, uint8_t, smp_palette)
DIFFUSE_FIRST(diffuse_naive)
DIFFUSE_FIRST(diffuse_tiled)
SMP_KERNEL_PAIR_(diffuse_paint, u8, uint8_t, u8, uint8_t, smp_palette)
SMP_KERNEL_PAIR_(diffuse_paint, u8, uint8_t, u16, uint16_t, smp_palette)
SMP_KERNEL_PAIR_(diffuse_paint, u8, uint8_t, f32, float, smp_palette)
