/* jitter: brightness, contrast, saturation and hue as networks are trained with them. */
#include "elementwise/jitter.h"

#include <math.h>

#include "stages/shared/samples/elementwise.h"

enum { ORDERS = 24 };

typedef struct params {
    double factor[SMP_JITTER_HUE];
    double hue; /* NaN: auto */
    int64_t order;
} params;

#define FACTOR(name, which, help)                                                                                      \
    {                                                                                                                  \
#name, offsetof(params, factor[which]), SMP_T_FLOAT, SMP_UNIT_FRACTION, 0, 100, "1", help, NULL, SMP_P_FACTOR  \
    }
static const smp_param table[] = {
    FACTOR(brightness, SMP_JITTER_BRIGHTNESS, "0 is black, 1 leaves it"),
    FACTOR(contrast, SMP_JITTER_CONTRAST, "0 is the picture's mean gray, 1 leaves it"),
    FACTOR(saturation, SMP_JITTER_SATURATION, "0 is gray, 1 leaves it"),
    {"hue", offsetof(params, hue), SMP_T_FLOAT, SMP_UNIT_DEG, -180, 180, "auto",
     "turns every hue; auto: left as it is, where 0 goes through bytes of HSV", NULL, SMP_P_AUTO},
    {"order", offsetof(params, order), SMP_T_INT, SMP_UNIT_NONE, 0, ORDERS - 1, "0",
     "of the four, which of their 24 orders: 0 is as they stand here; random: any", NULL, SMP_P_ANY},
    {0},
};

/* Those that do something, in their order: orders are counted as words are in a dictionary. */
static void find_ops(const params *p, int32_t ops[SMP_JITTER_OPS])
{
    int left[SMP_JITTER_OPS] = {0, 1, 2, 3}, used = 0, rest = (int)p->order;
    for (int n = SMP_JITTER_OPS, each = ORDERS; n > 0; n--) {
        each /= n;
        const int at = rest / each, op = left[at];
        rest %= each;
        for (int i = at; i + 1 < n; i++)
            left[i] = left[i + 1];
        if (op == SMP_JITTER_HUE ? !isnan(p->hue) : p->factor[op] != 1)
            ops[used++] = op;
    }
    while (used < SMP_JITTER_OPS)
        ops[used++] = -1;
}

static smp_code plan(const void *given, const smp_shape *in, const smp_shape *, smp_node_plan *work, smp_error *err)
{
    const params *p = given;
    const int colours = in->channels - in->alpha;
    if (in->format != SMP_U8 || (colours != 3 && colours != 1))
        return smp_fail(err, SMP_E_PIPE, "jitter takes gray or red, green and blue of 8 bits"),
               smp_hint(err, "write `depth 8bit` in front, or modulate, saturate and levels in its place");
    smp_jitter *k = SMP_PLAN_KERNEL(work, smp_jitter);
    find_ops(p, k->ops);
    for (int i = 0; i < SMP_JITTER_HUE; i++)
        k->factor[i] = (float)p->factor[i];
    k->hue = isnan(p->hue) ? 0 : (int32_t)(p->hue / 360 * 255) & 255;
    work->effect.none = k->ops[0] < 0;
    work->values.exactness = SMP_INTEGER;
    work->values.stored = true;
    work->ops = 40;
    work->reduction.kind = SMP_RESULT_CHUNKS;
    work->reduction.size = (size_t)in->height * sizeof(uint64_t);
    if (p->factor[SMP_JITTER_CONTRAST] == 1) {
        work->access = SMP_POINT;
        work->reduction.kind = SMP_RESULT_NONE;
        work->reduction.size = 0;
    }
    return SMP_OK;
}

static smp_code finish(const void *, const smp_shape *in, const void *result, smp_node_plan *work,
                       smp_measurements *measurements, smp_error *err)
{
    const uint64_t *rows = result;
    double sum = 0;
    for (int64_t y = 0; y < in->height; y++)
        sum += (double)rows[y];
    const double mean = sum / ((double)in->width * (double)in->height);
    ((smp_jitter *)(void *)work->kernel.bytes)->mean = (int32_t)(mean + 0.5);
    return smp_measurements_add(measurements, "gray", -1, mean, err);
}

static void warps_geometry(const smp_io *io, const void *, smp_grid *grid)
{
    enum { LANES = 32 };
    smp_grid_line(io->out.rows, SMP_BLOCK_THREADS / LANES, SMP_BLOCK_THREADS, grid);
}

static const smp_variant sums[] = {
    {SMP_RUNG("naive", "pixel by pixel; on GPUs a warp a row", SMP_LAUNCH(jitter_sum, .geometry = warps_geometry))},
    {0},
};

SMP_PIXEL_VARIANTS(jitter);

const smp_stage smp_stage_jitter = {
    .name = "jitter",
    .help = "brightness, contrast, saturation and hue as networks are trained with: Pillow's bytes",
    .about =
        "The bytes of Pillow's ImageEnhance, and so of torchvision's ColorJitter on PIL pictures, for given values: "
        "`jitter brightness=random(0.6..1.4) contrast=random(0.6..1.4) saturation=random(0.6..1.4) "
        "hue=random(-36..36deg) order=random` draws as ColorJitter(0.4, 0.4, 0.4, 0.1) does, and `jitter saturation=0 "
        "probability=20%` is RandomGrayscale(0.2). Blends are f32 and cut to integers; gray is (19595 R + 38470 G + "
        "7471 B + 32768) / 65536, cut; the mean for contrast is of the picture as contrast gets it. Alpha stays.",
    .example = "jitter brightness=1.2 contrast=80% saturation=1.3 hue=20deg order=9",
    SMP_PLANNED(SMP_IMAGE, SMP_ADJUST, table, params, smp_jitter_variants),
    .traits = SMP_TRAIT_ENCODED | SMP_TRAIT_KEEPS_ALPHA,
    .reduction = SMP_REDUCTION(.finish = finish, .reducers = sums),
    SMP_ALSO({"colorjitter color_jitter colour_jitter", "jitter brightness=1.2"}),
};
