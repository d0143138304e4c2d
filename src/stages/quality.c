/* quality: how close two pictures are. */
#include <math.h>

#include "reduce/quality.h"
#include "stages/shared/launch_shapes.h"

typedef struct params {
    smp_operand by;
    const char *name;
} params;

static const smp_param table[] = {
    SMP_PARAM_ROW(by, OPERAND, FRACTION, 0, 0, NULL, "the picture to compare with: @name or \"file\", of the same size",
                  NULL, SMP_P_MAIN | SMP_P_REQUIRED | SMP_P_PICTURE),
    SMP_PARAM_STRING(name, NULL, "what reports call these results", 0),
    {0},
};

/* The Gaussian window of the paper, deviation 1.5 px, of sum 1. */
static void fill_window(double *window)
{
    double weights[SMP_QUALITY_WINDOW], sum = 0;
    for (int i = 0; i < SMP_QUALITY_WINDOW; i++) {
        const double k = i - SMP_QUALITY_REACH;
        sum += weights[i] = exp(-k * k / (2 * 1.5 * 1.5));
    }
    for (int i = 0; i < SMP_QUALITY_WINDOW; i++)
        window[i] = weights[i] / sum;
}

static smp_code plan(const void *, const smp_shape *in, const smp_shape *by, smp_node_plan *work, smp_error *err)
{
    const int colours = in->channels - in->alpha;
    const double white = (double)smp_white(in->format);
    smp_quality *k = SMP_PLAN_KERNEL(work, smp_quality);
    if (!by)
        return smp_fail(err, SMP_E_PIPE, "quality needs a second picture");
    if (by->kind != SMP_IMAGE || by->width != in->width || by->height != in->height ||
        by->channels - by->alpha != colours) {
        smp_fail(err, SMP_E_PIPE, "the pictures differ in shape: %lldx%lld with %d colour%s, and %lldx%lld with %d",
                 (long long)in->width, (long long)in->height, colours, colours == 1 ? "" : "s", (long long)by->width,
                 (long long)by->height, by->channels - by->alpha);
        return smp_hint(err, "'resize', 'crop', 'gray' bring them to the same");
    }
    fill_window(k->window);
    k->scale = (float)(white / (double)smp_white(by->format));
    k->c1 = 0.01 * white * (0.01 * white);
    k->c2 = 0.03 * white * (0.03 * white);
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)smp_chunk_count(in->width, in->height) * (size_t)colours * sizeof(smp_quality_chunk);
    work->rows.up = work->rows.down = SMP_QUALITY_REACH;
    work->ops = 250;
    return SMP_OK;
}

/* A sum that keeps what each addition rounds off (Neumaier 1974): sums of whole code values stay exact. */
typedef struct total {
    double sum, rest;
} total;

static void add(total *t, double v)
{
    const double sum = t->sum + v;
    t->rest += fabs(t->sum) >= fabs(v) ? (t->sum - sum) + v : (v - sum) + t->sum;
    t->sum = sum;
}

typedef struct measured {
    total squares, absolute, ssim;
    double most, windows;
} measured;

static void add_chunk(measured *m, const smp_quality_chunk *chunk)
{
    add(&m->squares, chunk->squares);
    add(&m->absolute, chunk->absolute);
    add(&m->ssim, chunk->ssim);
    m->most = chunk->most > m->most || isnan(chunk->most) ? (double)chunk->most : m->most;
    m->windows += (double)chunk->windows;
}

static smp_code tell(const measured *m, double samples, double white, int channel, smp_measurements *measurements,
                     smp_error *err)
{
    const double mse = (m->squares.sum + m->squares.rest) / samples;
    const struct {
        const char *name;
        double value;
    } values[] = {{"mse", mse},
                  {"mae", (m->absolute.sum + m->absolute.rest) / samples},
                  {"max", m->most},
                  {"psnr", mse == 0 ? INFINITY : 10 * log10(white * white / mse)},
                  {"ssim", (m->ssim.sum + m->ssim.rest) / m->windows}};
    for (int i = 0; i < (m->windows > 0 ? 5 : 4); i++)
        SMP_TRY(smp_measurements_add(measurements, values[i].name, channel, values[i].value, err));
    return SMP_OK;
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *,
                       smp_measurements *measurements, smp_error *err)
{
    const smp_quality_chunk *chunks = result;
    const int colours = in->channels - in->alpha;
    const int64_t count = smp_chunk_count(in->width, in->height);
    const double pixels = (double)in->width * (double)in->height, white = (double)smp_white(in->format);
    measured all = {.most = 0};
    for (int64_t i = 0; i < count * colours; i++)
        add_chunk(&all, &chunks[i]);
    SMP_TRY(tell(&all, pixels * colours, white, -1, measurements, err));
    for (int c = 0; c < colours && colours > 1; c++) {
        measured one = {.most = 0};
        for (int64_t i = 0; i < count; i++)
            add_chunk(&one, &chunks[i * colours + c]);
        SMP_TRY(tell(&one, pixels, white, c, measurements, err));
    }
    return SMP_OK;
}

static int64_t chunks_of(const smp_io *io)
{
    const int64_t rows = smp_chunk_rows(io->in.width);
    return smp_chunks_across(io->in.width) * ((io->out.rows + rows - 1) / rows) * smp_quality_colours(&io->in);
}

static void naive_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(chunks_of(io), 64, 64, grid);
}

static void tiled_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    smp_grid_line(chunks_of(io), 1, SMP_QUALITY_THREADS, grid);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "window by window", SMP_LAUNCH(quality_naive, .geometry = naive_geometry))},
    {SMP_RUNG("tiled", "sums along rows once, then down columns; on GPUs rows of both pictures in shared memory",
              SMP_LAUNCH(quality_tiled, .geometry = tiled_geometry)),
     .scratch = smp_quality_scratch},
    {0},
};

const smp_stage smp_stage_quality = {
    .name = "quality",
    .help = "how close two pictures are: mse, mae, max, psnr, ssim; passes data on",
    .about =
        "Compares code values (0..255, 0..65535, 0..1), over all colours and, where there are several, of each. mse is "
        "the mean squared, mae the mean absolute, max the largest difference; psnr = 10 log10(white^2 / mse), infinite "
        "for equal pictures.\n"
        "ssim is the mean index of structural similarity (Wang, Bovik, Sheikh, Simoncelli 2004) where the 11 x 11 "
        "Gaussian window of deviation 1.5 lies inside the picture, with K1 = 0.01, K2 = 0.03 and population variances: "
        "scikit-image's structural_similarity with gaussian_weights=True, use_sample_covariance=False. Pictures less "
        "than 11 pixels wide or high have none. Over all it is the mean of the colours.\n"
        "Alpha is not compared. A second picture of other bits is scaled to the first's.",
    .example = "quality by=@input",
    SMP_PLANNED(SMP_IMAGE, SMP_REDUCE, table, params, variants),
    .reduction = SMP_REDUCTION(.finish = finish),
    .hints = SMP_HINTS(.forms = SMP_FORMS({.values = "$Q", .say = "this is an option, not a stage: --quality $Q"}),
                       .aliases = SMP_ALIASES(
                           {"psnr ssim mse compare_images similarity structural_similarity", "quality by=@name"})),
};
