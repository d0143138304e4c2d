/* jpeg_decode on the CPU, for tests and comparisons: files are decoded by libjpeg-turbo where the CPU computes.
 *   naive  one thread decodes all subsequences one after the other and transforms the blocks; pixel by pixel. */
#include <string.h>

#include "jpeg/jpeg_decode.h"

static int decode_all(const smp_jpeg_scan *scan, const smp_jpeg_decode *p, int16_t *coefs)
{
    smp_jpeg_place at = {0, 0};
    uint32_t block = 0;
    int32_t dc[3] = {0, 0, 0};
    int doubt = 0;
    for (uint32_t i = 0; i < scan->subs; i++) {
        const smp_jpeg_sub sub = smp_jpeg_sub_of(scan, p, i);
        doubt |= smp_jpeg_astray(scan, p, i);
        if (sub.place & SMP_JPEG_FIRST) {
            at = smp_jpeg_start_of(sub);
            block = sub.block;
            dc[0] = dc[1] = dc[2] = 0;
        }
        doubt |= smp_jpeg_decode_sub(scan, scan->tables, scan->natural, p, sub, &at, &block, dc, coefs);
    }
    return doubt;
}

SMP_INLINE int transform_block(const smp_jpeg_decode *p, const smp_jpeg_scan *scan, const int16_t *coefs,
                               uint32_t block, uint8_t *scratch)
{
    int component, doubt = 0;
    const int64_t to = smp_jpeg_block_at(p, block, &component);
    int32_t v[64], line[8];
    for (int i = 0; i < 64; i++)
        v[i] = coefs[(int64_t)block * 64 + i] * scan->steps[component][i];
    for (int x = 0; x < 8; x++) {
        for (int i = 0; i < 8; i++)
            line[i] = v[8 * i + x];
        doubt |= smp_jpeg_idct8(line, SMP_JPEG_COLUMN_BITS);
        for (int i = 0; i < 8; i++)
            v[8 * i + x] = line[i];
    }
    for (int y = 0; y < 8; y++) {
        memcpy(line, v + (ptrdiff_t)8 * y, sizeof line);
        doubt |= smp_jpeg_idct8(line, SMP_JPEG_ROW_BITS);
        for (int i = 0; i < 8; i++)
            scratch[to + y * p->pitch[component] + i] = (uint8_t)smp_jpeg_bounded(line[i], &doubt);
    }
    return doubt;
}

SMP_CPU_KERNEL(jpeg_planes_naive)
{
    const smp_jpeg_decode *p = params;
    const smp_jpeg_scan *scan = smp_jpeg_scan_of(&io->in, p);
    uint8_t *memory = io->out.data;
    if (y0 > 0 || y1 < 1)
        return;
    int16_t *coefs = (int16_t *)(void *)(memory + p->coefs_at);
    memset(coefs, 0, (size_t)p->blocks * 64 * sizeof *coefs);
    int doubt = !scan || decode_all(scan, p, coefs);
    if (!scan)
        memset(memory, 128, (size_t)(io->out.stride * io->out.height)); /* as of coefficients that are all 0 */
    for (uint32_t block = 0; scan && block < p->blocks; block++)
        doubt |= transform_block(p, scan, coefs, block, memory);
    if (io->clipped)
        *io->clipped += (uint64_t)doubt;
}

SMP_CPU_KERNEL(jpeg_pixels_naive)
{
    const smp_jpeg_decode *p = params;
    for (int64_t y = y0; y < y1; y++) {
        void *to = smp_row(&io->out, y);
        for (int32_t x = 0; x < p->width; x++) {
            const uint32_t pixel = smp_jpeg_joined(p, io->in.data, x, (int32_t)y);
            for (int c = 0; c < p->channels; c++)
                smp_store(to, (int64_t)x * p->channels + c, io->out.format, (float)(pixel >> 8 * c & 255));
        }
    }
}
