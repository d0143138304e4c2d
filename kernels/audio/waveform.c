/* waveform on the CPU. A row of what is found is a column of the picture: least and most of each channel.
 *   naive  sample by sample.
 *   tiled  frames that lie end to end as one row of samples, in vectors. */
#include "audio/waveform.h"

#include "lib/constants.h"
#include "lib/elementwise.h"

SMP_CPU_KERNEL(waveform_naive)
{
    const smp_waveform *p = params;
    for (int64_t x = y0; x < y1; x++)
        for (int c = 0; c < io->in.channels; c++) {
            float least = INFINITY, most = -INFINITY, *to = (float *)smp_row(&io->out, x) + 2 * c;
            for (int64_t y = smp_waveform_from(p, x); y < smp_waveform_to(p, x); y++)
                smp_waveform_widen(&least, &most, ((const float *)smp_row(&io->in, y))[c]);
            to[0] = smp_waveform_found(least, least, most);
            to[1] = smp_waveform_found(most, least, most);
        }
}

enum { SIDE = 16 /* frames side by side */ };

/* channels is a constant in the usual cases. */
SMP_INLINE void column(float *to, const float *restrict from, int64_t frames, const int channels)
{
    float least[SIDE * SMP_MAX_CHANNELS], most[SIDE * SMP_MAX_CHANNELS];
    const int lanes = SIDE * channels;
    for (int i = 0; i < lanes; i++)
        least[i] = INFINITY, most[i] = -INFINITY;
    int64_t y = 0;
    for (; y + SIDE <= frames; y += SIDE)
        for (int i = 0; i < lanes; i++)
            smp_waveform_widen(&least[i], &most[i], from[y * channels + i]);
    for (int i = 0; i < (frames - y) * channels; i++)
        smp_waveform_widen(&least[i], &most[i], from[y * channels + i]);
    for (int c = 0; c < channels; c++) {
        for (int i = c + channels; i < lanes; i += channels) {
            least[c] = least[i] < least[c] ? least[i] : least[c];
            most[c] = most[i] > most[c] ? most[i] : most[c];
        }
        to[2 * c] = smp_waveform_found(least[c], least[c], most[c]);
        to[2 * c + 1] = smp_waveform_found(most[c], least[c], most[c]);
    }
}

SMP_CPU_KERNEL(waveform_tiled)
{
    const smp_waveform *p = params;
    const int channels = io->in.channels;
    if (io->in.stride != channels * (int64_t)sizeof(float)) {
        SMP_PASTE(waveform_naive, SMP_ISA)(io, params, scratch, y0, y1);
        return;
    }
    for (int64_t x = y0; x < y1; x++) {
        const int64_t first = smp_waveform_from(p, x), frames = smp_waveform_to(p, x) - first;
        const float *from = (const float *)smp_row(&io->in, first);
        float *to = (float *)smp_row(&io->out, x);
        SMP_BY_CHANNELS(channels, column(to, from, frames, N))
    }
}

SMP_CPU_KERNEL(waveform_draw)
{
    const smp_waveform *p = params;
    for (int64_t y = y0; y < y1; y++) {
        const int64_t c = y / p->rows, row = y % p->rows;
        void *to = smp_row(&io->out, y);
        for (int64_t x = 0; x < io->out.width; x++) {
            const float *found = (const float *)smp_row(&io->in, x) + 2 * c;
            const float *color = smp_waveform_drawn(p, found[0], found[1], row) ? p->on : p->off;
            for (int i = 0; i < p->colors; i++)
                smp_store(to, x * p->colors + i, io->out.format, color[i]);
        }
    }
}
