/* silence: where a sound is silent; the sound passes on. */
#include <math.h>

#include "audio/silence.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "stages/shared/launch_shapes.h"

typedef struct params {
    double threshold, min;
    const char *name;
} params;

static const smp_param table[] = {
    {"threshold", offsetof(params, threshold), SMP_T_FLOAT, SMP_UNIT_DB, -200, 0, "-50dBFS",
     "level that every channel stays below", NULL, SMP_P_MAIN},
    {"min", offsetof(params, min), SMP_T_FLOAT, SMP_UNIT_S, 0, 1e6, "0.5s", "the shortest silence that counts", NULL,
     0},
    {"name", offsetof(params, name), SMP_T_STRING, SMP_UNIT_NONE, 0, 0, NULL, "what reports call these results", NULL,
     0},
    {0},
};

static int64_t words(const smp_shape *in)
{
    return (in->height + SMP_SILENCE_WORD - 1) / SMP_SILENCE_WORD;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    (void)by;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    smp_silence *k = (smp_silence *)(void *)work->kernel;
    k->threshold = (float)pow(10, ((const params *)given)->threshold / 20);
    work->kernel_size = sizeof *k;
    work->result = SMP_RESULT_CHUNKS;
    work->result_size = (size_t)words(in) * sizeof(uint32_t);
    work->ops = 1;
    return SMP_OK;
}

/* Runs of set bits of at least `least` frames. Counts them, and the frames that they have; writes where they begin and
 * end, in seconds, unless start is null. */
static int64_t runs(const uint32_t *bits, const smp_shape *in, double least, double *start, double *end,
                    int64_t *frames)
{
    int64_t count = 0, from = -1;
    *frames = 0;
    for (int64_t y = 0; y <= in->height; y++) {
        const bool silent = y < in->height && bits[y / SMP_SILENCE_WORD] >> y % SMP_SILENCE_WORD & 1;
        if (silent && from < 0)
            from = y;
        if (silent || from < 0)
            continue;
        if ((double)(y - from) >= least) {
            if (start) {
                start[count] = (double)from / in->rate;
                end[count] = (double)y / in->rate;
            }
            count++;
            *frames += y - from;
        }
        from = -1;
    }
    return count;
}

static smp_code finish(const void *given, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_findings *findings, smp_error *err)
{
    (void)work;
    const params *p = given;
    const double least = fmax(1, floor(p->min * in->rate + 0.5));
    int64_t frames;
    const int64_t count = runs(result, in, least, NULL, NULL, &frames);
    double *start = smp_alloc_array((size_t)smp_max_i64(1, count), 2 * sizeof *start), *end = start + count;
    if (!start)
        return smp_fail_memory(err, "the silences of a sound", (uint64_t)count * 2 * sizeof *start);
    runs(result, in, least, start, end, &frames);
    smp_code code = smp_findings_add(findings, "silences", -1, (double)count, err);
    if (code == SMP_OK)
        code = smp_findings_add(findings, "share", -1, (double)frames / (double)in->height, err);
    if (code == SMP_OK && count)
        code = smp_findings_add_values(findings, "start", start, (size_t)count, err);
    if (code == SMP_OK && count)
        code = smp_findings_add_values(findings, "end", end, (size_t)count, err);
    smp_free(start);
    return code;
}

static void naive_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    (void)kernel;
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS * SMP_SILENCE_WORD, SMP_BLOCK_THREADS, grid);
}

static void tiled_geometry(const smp_io *io, const void *kernel, smp_grid *grid)
{
    (void)kernel;
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static const smp_variant variants[] = {
    {.name = "naive",
     .help = "frame by frame; on GPUs 32 frames a thread",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(silence_naive),
                   .cuda = "silence_naive",
                   .geometry = naive_geometry}}},
    {.name = "tiled",
     .help = "32 frames in vectors; on GPUs a frame a lane, and a ballot makes the bits",
     .launches = {{.from = SMP_IN,
                   .to = SMP_OUT,
                   .cpu = SMP_CPU(silence_tiled),
                   .cuda = "silence_tiled",
                   .geometry = tiled_geometry}}},
    {0},
};

const smp_stage smp_stage_silence = {
    .name = "silence",
    .help = "tell where a sound is silent",
    .about = "A silence is a run of at least `min` in which every channel's magnitude stays below the threshold. "
             "Reports how many there are, their share of the sound, and where each begins and ends (seconds; the end "
             "is the first frame that is loud again). `trim start=.. end=..` cuts a part out.",
    .example = "silence -40dBFS min=1ms",
    .domain = SMP_AUDIO,
    .access = SMP_REDUCE,
    .params = table,
    .params_size = sizeof(params),
    .plan = plan,
    .finish = finish,
    .variants = variants,
    .aliases = (const smp_alias[]){{"silencedetect", "silence -50dBFS"}, {"vad", "silence -50dBFS"}, {0}},
};
