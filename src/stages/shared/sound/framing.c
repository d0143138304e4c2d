/* Windows, tables and launches of framed sound: see framing.h. */
#include "stages/shared/sound/framing.h"

#include <math.h>

#include "audio/stft.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/fourier/fourier.h"
#include "stages/shared/launch_shapes.h"

static const double pi = 3.14159265358979323846;

const char *const smp_taper_names[] = {"hann", "hamming", "blackman", "rectangular", NULL};

double smp_taper_at(int window, int64_t n, int64_t size)
{
    const double turn = 2 * pi * (double)n / (double)size;
    switch (window) {
    case SMP_HANN:
        return 0.5 - 0.5 * cos(turn);
    case SMP_HAMMING:
        return 0.54 - 0.46 * cos(turn);
    case SMP_BLACKMAN:
        return 0.42 - 0.5 * cos(turn) + 0.08 * cos(2 * turn);
    default:
        return 1;
    }
}

double smp_mel_of(bool htk, double hz)
{
    if (htk)
        return 2595 * log10(1 + hz / 700);
    return hz < 1000 ? hz * 3 / 200 : 15 + 27 * log(hz / 1000) / log(6.4);
}

double smp_mel_hz(bool htk, double mel)
{
    if (htk)
        return 700 * (pow(10, mel / 2595) - 1);
    return mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27);
}

smp_frames smp_framing(int64_t size, int64_t hop, int edge)
{
    smp_frames f = {.size = (int32_t)size, .hop = (int32_t)hop, .bins = (int32_t)(size / 2), .edge = edge};
    if (!smp_fourier_plan(f.bins, &f.fft))
        f.fft = (smp_fft){0};
    return f;
}

void smp_framing_fill(const smp_frames *f, int window, float *table)
{
    for (int64_t n = 0; n < f->size; n++)
        table[n] = (float)(smp_taper_at(window, n, f->size) / 2);
    float *to = table + f->size;
    if (f->fft.n)
        smp_fourier_fill(&f->fft, true, to);
    for (int64_t n = 0; !f->fft.n && n < f->size; n++) {
        const double turn = 2 * pi * (double)n / (double)f->size;
        to[2 * n] = (float)cos(turn), to[2 * n + 1] = (float)-sin(turn);
    }
}

/* Mirrored at an end, a frame reads one sample more than half its size; the last frame is around the sample behind the
 * last one. */
smp_code smp_framing_table(const smp_frames *f, int window, size_t more, smp_node_plan *work, smp_error *err)
{
    work->table.size = ((size_t)smp_frames_floats(f) + more) * sizeof(float);
    work->table.data = smp_alloc(work->table.size);
    SMP_NEED(work->table.data, "the table of a transform", work->table.size, err);
    smp_framing_fill(f, window, work->table.data);
    return SMP_OK;
}

size_t smp_framing_scratch(const smp_io *, const void *kernel)
{
    return smp_stft_scratch(kernel);
}

void smp_framing_rows(const smp_frames *f, const smp_shape *in, smp_node_plan *work)
{
    work->out.height = in->height / f->hop + 1;
    work->rows.num = f->hop;
    work->rows.den = 1;
    work->rows.add = -(f->hop / 2);
    work->rows.up = work->rows.down = smp_min_i64((int64_t)f->size / 2 + 2, in->height);
}

void smp_framing_grid(const smp_frames *f, int64_t blocks, int64_t numbers, int64_t more, smp_grid *grid)
{
    enum { WARP = 32, MOST = 256 };
    const int threads = (int)smp_clamp_i64((f->bins / 4 + WARP - 1) / WARP * WARP, WARP, MOST);
    smp_grid_striding_line(blocks, 1, threads, grid);
    grid->shared_bytes = (unsigned)(2 * numbers * (int64_t)(2 * sizeof(float)) + more * (int64_t)sizeof(float));
}

smp_code smp_framing_check(int64_t size, smp_error *err)
{
    smp_fft known;
    if (size % 2 == 0 && smp_fourier_plan(size / 2, &known))
        return SMP_OK;
    smp_fail(err, SMP_E_PIPE, "a frame of %lld samples has no fast transform", (long long)size);
    return smp_hint(err, "%lld have one: half of an even size, without prime factors above 7",
                    (long long)(2 * smp_fourier_nearest(size / 2)));
}
