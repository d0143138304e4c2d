/* hash on the CPU.
 *   naive  every number from its pixels: the definition.
 *   tiled  a row's brightness once, in vectors, then its sums. */
#include "stencil/hash.h"

SMP_CPU_KERNEL(hash_naive)
{
    const smp_hash *p = params;
    for (int64_t y = y0; y < y1; y++)
        for (int32_t k = 0; k < p->across; k++)
            ((float *)io->result)[y * p->across + k] = smp_hash_number(p, io, y, k);
}

SMP_INLINE void brightness(float *restrict to, const smp_view *v, const void *row, const int format,
                           const int32_t channels)
{
    smp_view known = *v;
    known.format = format;
    known.channels = channels;
    for (int64_t x = 0; x < v->width; x++)
        to[x] = smp_hash_bright(&known, row, x);
}

static void brightness_of(float *to, const smp_view *v, const void *row)
{
    if (v->format == SMP_U8 && v->channels == 1 && !v->alpha)
        brightness(to, v, row, SMP_U8, 1);
    else if (v->format == SMP_U8 && v->channels == 3 && !v->alpha)
        brightness(to, v, row, SMP_U8, 3);
    else
        brightness(to, v, row, v->format, v->channels);
}

SMP_CPU_KERNEL(hash_tiled)
{
    const smp_hash *p = params;
    float *restrict bright = scratch;
    int32_t *restrict codes = (int32_t *)(void *)(bright + io->in.width + 16);
    for (int64_t y = y0; y < y1; y++) {
        float *to = (float *)io->result + y * p->across;
        brightness_of(bright, &io->in, smp_row(&io->in, y));
        for (int64_t x = 0; x < io->in.width && p->kind == SMP_RESIZE_FIXED; x++)
            codes[x] = (int32_t)smp_to_u8(bright[x]);
        for (int32_t k = 0; k < p->across; k++) {
            const smp_resize_taps taps = smp_resize_taps_of(&p->axis, io->table, k);
            smp_hash_sum sum = smp_hash_begin();
            if (p->kind == SMP_RESIZE_FIXED)
                for (int32_t i = 0; i < taps.count; i++)
                    sum.fixed += taps.weight[i] * codes[taps.first + i];
            else
                for (int32_t i = 0; i < taps.count; i++)
                    smp_hash_add(&sum, SMP_RESIZE_FLOAT, taps.weight + i, bright[taps.first + i]);
            to[k] = smp_hash_end(&sum, p->kind);
        }
    }
}
