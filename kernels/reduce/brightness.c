/* brightness on the CPU.
 *   naive  pixel by pixel.
 *   tiled  gray bytes, the usual page, as whole groups in vectors; all else as naive. */
#include "reduce/brightness.h"

SMP_INLINE void groups_of(const smp_view *v, uint16_t *to, const void *row, int64_t from)
{
    for (int64_t g = from; g < smp_brightness_groups(v->width); g++) {
        uint32_t sum = 0;
        for (int64_t x = g * SMP_BRIGHTNESS_GROUP; x < (g + 1) * SMP_BRIGHTNESS_GROUP && x < v->width; x++)
            sum += smp_brightness_of(v, row, x);
        to[g] = (uint16_t)sum;
    }
}

SMP_CPU_KERNEL(brightness_naive)
{
    for (int64_t y = y0; y < y1; y++)
        groups_of(&io->in, (uint16_t *)io->result + y * smp_brightness_groups(io->in.width), smp_row(&io->in, y), 0);
}

SMP_INLINE void groups_of_bytes(uint16_t *restrict to, const uint8_t *restrict from, int64_t groups)
{
    for (int64_t g = 0; g < groups; g++)
        to[g] = (uint16_t)(from[4 * g] + from[4 * g + 1] + from[4 * g + 2] + from[4 * g + 3]);
}

SMP_CPU_KERNEL(brightness_tiled)
{
    const smp_view *v = &io->in;
    const int64_t groups = smp_brightness_groups(v->width),
                  whole = v->channels == 1 && v->format == SMP_U8 ? v->width / SMP_BRIGHTNESS_GROUP : 0;
    for (int64_t y = y0; y < y1; y++) {
        uint16_t *to = (uint16_t *)io->result + y * groups;
        groups_of_bytes(to, smp_row(v, y), whole);
        groups_of(v, to, smp_row(v, y), whole);
    }
}
