/* fade: a sound rises from silence and falls back to it. */
#include "audio/fade.h"

#include <math.h>
#include <stdio.h>

#include "stages/shared/launch_shapes.h"
#include "stages/stage.h"

typedef struct params {
    double in, out;
    int curve;
} params;

static const smp_param table[] = {
    SMP_PARAM_FLOAT(in, S, 0, 1e6, "0s", "time that the beginning takes to rise", 0),
    SMP_PARAM_FLOAT(out, S, 0, 1e6, "0s", "time that the end takes to fall", 0),
    SMP_PARAM_ENUM(curve, "smooth", "linear: even in amplitude; smooth: without corners", 0, "linear", "smooth"),
    {0},
};

static int64_t frames(double seconds, const smp_shape *in)
{
    double wanted = floor(seconds * in->rate + 0.5);
    return wanted < (double)in->height ? (int64_t)wanted : in->height;
}

static smp_code plan(const void *params_, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = params_;
    if (!(in->rate > 0))
        return smp_fail(err, SMP_E_PIPE, "the sound has no rate, which a time needs");
    smp_fade *fade = SMP_PLAN_KERNEL(work, smp_fade);
    *fade = (smp_fade){.in = frames(p->in, in), .out = frames(p->out, in), .curve = p->curve};
    fade->in_rate = fade->in ? 1. / (double)fade->in : 0;
    fade->out_rate = fade->out ? 1. / (double)fade->out : 0;
    const double most = fmax(p->in, p->out), length = (double)in->height / in->rate;
    if (most > length)
        snprintf(work->effect.remark, sizeof work->effect.remark,
                 "stage 'fade' %s over %.6g s, and the sound is %.6g s long: it takes all of it",
                 p->in >= p->out ? "rises" : "falls", most, length);
    else if (p->in + p->out > length)
        snprintf(work->effect.remark, sizeof work->effect.remark,
                 "stage 'fade' begins to fall before it has risen: the sound is %.6g s long", length);
    work->effect.none = !fade->in && !fade->out;
    work->rows.needs_height = fade->out > 0;
    work->ops = 1;
    return SMP_OK;
}

static void geometry(const smp_io *io, const void *, smp_grid *grid)
{
    enum { EACH = 4 };
    smp_grid_line(io->out.width * io->out.channels * io->out.rows, EACH * SMP_BLOCK_THREADS, SMP_BLOCK_THREADS, grid);
}

static const smp_variant variants[] = {
    {SMP_RUNG("naive", "frame by frame", SMP_LAUNCH(fade_naive, .geometry = NULL))},
    {SMP_RUNG("tiled", "what lies between the fades as one long row", SMP_LAUNCH(fade_tiled, .geometry = geometry))},
    {0},
};

const smp_stage smp_stage_fade = {
    .name = "fade",
    .help = "let a sound rise from silence and fall back to it",
    .about = "Frame k of a fade of n frames is multiplied by t = (k + 1/2) / n, or t^2 (3 - 2t) with curve=smooth; "
             "where both fades meet, by both.",
    .example = "fade in=10ms out=0.2ms",
    SMP_PLANNED(SMP_AUDIO, SMP_POINT, table, params, variants),
    .hints = SMP_HINTS(.forms = SMP_FORMS(
                           SMP_MEANS("$I", "in=$I"), SMP_MEANS("$I 0 $O", "in=$I out=$O"),
                           {.values = "t $I", .say = "write in=$I curve=linear, sox's t"},
                           {.values = "$I $O", .say = "write in=$I out=$O: sox's second value is where it ends"}),
                       .aliases = SMP_ALIASES({"afade", "fade in=0.5s out=0.5s"}, {"fadein", "fade in=0.5s"},
                                              {"fadeout", "fade out=0.5s"})),
};
