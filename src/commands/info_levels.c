/* Draws the bars of info --levels: histograms of a picture's channels, peaks of a sound's over its time. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "commands/info.h"
#include "io/format.h"
#include "report/bars.h"

enum { BARS = 64, TEXT_BESIDE = 36 /* columns */, ROWS_AT_ONCE = 4096 };
static const double floor_db = -60; /* the lowest bar of a sound */

typedef struct levels {
    double bars[SMP_MAX_CHANNELS][BARS];
    double least[SMP_MAX_CHANNELS], most[SMP_MAX_CHANNELS], sum[SMP_MAX_CHANNELS];
} levels;

static void add(levels *l, const smp_shape *shape, int channel, int64_t frame, double value)
{
    l->least[channel] = fmin(l->least[channel], value);
    l->most[channel] = fmax(l->most[channel], value);
    l->sum[channel] += value;
    if (shape->kind == SMP_AUDIO) {
        double *bar = &l->bars[channel][(int)((double)frame / (double)shape->height * BARS)];
        *bar = fmax(*bar, fabs(value));
        return;
    }
    const double part = value / (double)smp_white(shape->format) * BARS;
    if (!isnan(part))
        l->bars[channel][part < 0 ? 0 : part < BARS ? (int)part : BARS - 1]++;
}

static void put_bars(const double *heights, int count)
{
    for (int i = 0; i < count; i++) { /* anything above 0 is seen */
        const int height = heights[i] > 0 ? 1 + (int)(heights[i] * (SMP_BAR_MOST - 1) + .5) : 0;
        smp_bar_put(stdout, height < SMP_BAR_MOST ? height : SMP_BAR_MOST);
    }
}

/* Joins bars until they fit, two by two: counts add up, peaks do not. */
static int join_bars(double *bars, bool sound)
{
    const int room = smp_bars_fit(stdout, BARS, TEXT_BESIDE);
    int count = BARS;
    for (; count > room; count /= 2)
        for (int i = 0; i < count / 2; i++)
            bars[i] = sound ? fmax(bars[2 * i], bars[2 * i + 1]) : bars[2 * i] + bars[2 * i + 1];
    return count;
}

static void put_channel(levels *l, const smp_shape *shape, int channel)
{
    double heights[BARS], most = 0;
    const bool sound = shape->kind == SMP_AUDIO;
    const int count = join_bars(l->bars[channel], sound);
    for (int i = 0; i < count; i++)
        most = fmax(most, l->bars[channel][i]);
    for (int i = 0; i < count; i++) {
        const double bar = l->bars[channel][i];
        heights[i] = sound ? bar > 0 ? fmax(0, 1 - 20 * log10(bar) / floor_db) : 0 : most > 0 ? bar / most : 0;
    }
    printf("  channel %d    |", channel);
    put_bars(heights, count);
    if (sound)
        printf("|  peak %.1f dB\n", 20 * log10(fmax(most, 1e-10)));
    else
        printf("|  %.6g..%.6g\n", l->least[channel], l->most[channel]);
}

static smp_code read_levels(smp_reader *reader, levels *l, smp_error *err)
{
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    const int64_t row = smp_row_bytes(shape), samples = shape->width * shape->channels;
    const int64_t most = smp_max_i64(1, smp_min_i64(ROWS_AT_ONCE, (4 << 20) / row)); /* rows of 4 MiB */
    void *rows = smp_alloc_array((size_t)most, (size_t)row);
    smp_code code = rows ? SMP_OK : smp_fail_memory(err, "rows", (uint64_t)(most * row));
    *l = (levels){.bars = {{0}}};
    for (int c = 0; c < shape->channels; c++) {
        l->least[c] = INFINITY;
        l->most[c] = -INFINITY;
    }
    for (int64_t y = 0, n; !code && y < shape->height; y += n) {
        n = smp_min_i64(most, shape->height - y);
        code = smp_reader_rows(reader, rows, row, n, err);
        for (int64_t i = 0; !code && i < n * samples; i++)
            add(l, shape, (int)(i % shape->channels), y + i / samples, (double)smp_load(rows, i, (int)shape->format));
    }
    smp_free(rows);
    return code;
}

smp_code smp_info_levels(smp_reader *reader, smp_error *err)
{
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    levels l;
    SMP_TRY(read_levels(reader, &l, err));
    for (int c = 0; c < shape->channels; c++)
        put_channel(&l, shape, c);
    return SMP_OK;
}

smp_code smp_info_means(smp_reader *reader, char mean[16], char color[16], smp_error *err)
{
    const smp_shape *shape = &smp_reader_media(reader)->shape;
    const int colors = shape->channels - shape->alpha;
    const double white = (double)smp_white(shape->format) * (double)shape->width * (double)shape->height;
    unsigned rgb[3];
    double sum = 0;
    levels l;
    if (shape->kind == SMP_AUDIO)
        return smp_fail(err, SMP_E_USAGE, "{mean} and {color} are of pictures");
    SMP_TRY(read_levels(reader, &l, err));
    for (int c = 0; c < colors; c++)
        sum += l.sum[c] / white;
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned)fmin(255, fmax(0, floor(l.sum[colors < 3 ? 0 : c] / white * 255 + 0.5)));
    snprintf(mean, 16, "%.6g%%", sum / colors * 100);
    snprintf(color, 16, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    return SMP_OK;
}
