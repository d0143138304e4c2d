/* Runs of silent frames: see silences.h. */
#include "stages/shared/sound/silences.h"

#include <math.h>

#include "audio/silence.h"
#include "stages/shared/launch_shapes.h"

smp_code smp_silence_plan(double threshold, const smp_shape *in, smp_node_plan *work, smp_error *err)
{
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    smp_silence *k = SMP_PLAN_KERNEL(work, smp_silence);
    k->threshold = (float)pow(10, threshold / 20);
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)((in->height + SMP_SILENCE_WORD - 1) / SMP_SILENCE_WORD) * sizeof(uint32_t);
    work->ops = 1;
    return SMP_OK;
}

/* The first frame from `at` on whose bit is `wanted`; the sound's length where there is none. */
static int64_t find(const uint32_t *bits, int64_t height, int64_t at, bool wanted)
{
    const uint32_t none = wanted ? 0 : UINT32_MAX;
    while (at < height) {
        const uint32_t word = bits[at / SMP_SILENCE_WORD];
        if (at % SMP_SILENCE_WORD == 0 && word == none)
            at += SMP_SILENCE_WORD;
        else if ((word >> at % SMP_SILENCE_WORD & 1) == wanted)
            return at;
        else
            at++;
    }
    return height;
}

bool smp_silence_next(const void *result, const smp_shape *in, int64_t at, int64_t *from, int64_t *to)
{
    *from = find(result, in->height, at, true);
    *to = find(result, in->height, *from, false);
    return *from < in->height;
}

static void naive_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS * SMP_SILENCE_WORD, SMP_BLOCK_THREADS, grid);
}

static void tiled_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

const smp_variant smp_silence_variants[] = {
    {SMP_RUNG("naive", "frame by frame; on GPUs 32 frames a thread",
              SMP_LAUNCH(silence_naive, .geometry = naive_geometry))},
    {SMP_RUNG("tiled", "32 frames in vectors; on GPUs a frame a lane, and a ballot makes the bits",
              SMP_LAUNCH(silence_tiled, .geometry = tiled_geometry))},
    {0},
};
