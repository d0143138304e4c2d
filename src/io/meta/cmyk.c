/* CMYK to sRGB: see cmyk.h. A profile's tables are unpacked into floats once. Pixels are looked up between their
 * points as smp_icc_lut_xyz does, relative to the paper's white, with the black point compensated (ISO 18619): what
 * the stage `profile` does with other profiles. Curves behind the grid are applied at its points. */
#include "io/meta/cmyk.h"

#include <math.h>

#include "base/alloc.h"
#include "media/icc.h"

enum { INKS = 4, COLOURS = 3, STEPS = 4096 /* of light, for its encoded values */ };

struct smp_cmyk {
    uint32_t full;
    bool profiled, lab; /* lab: points hold the cube roots that Lab is made of, and else XYZ */
    int points[INKS];
    size_t step[INKS];     /* floats to the next point along each ink */
    float *enter[INKS];    /* of each sample: its place along the grid */
    float *grid;           /* three values a point */
    float matrix[9];       /* XYZ to linear sRGB, black point compensated */
    float offset[COLOURS]; /* the same: what is taken off */
    float encoded[STEPS + 2];
    uint32_t last[INKS], colour[COLOURS]; /* the pixel before */
};

void smp_cmyk_close(smp_cmyk *map)
{
    if (!map)
        return;
    smp_free_all(map->enter[0], map->grid, map);
}

bool smp_cmyk_profiled(const smp_cmyk *map)
{
    return map && map->profiled;
}

static double root(double t) /* CIE 15: f of L*a*b* */
{
    return t > 216. / 24389 ? cbrt(t) : 841. / 108 * t + 16. / 116;
}

static smp_code fill(smp_cmyk *map, const smp_icc_lut *lut, double black, smp_error *err)
{
    const size_t samples = (size_t)map->full + 1;
    size_t points = 1;
    for (int c = INKS - 1; c >= 0; c--) {
        map->points[c] = lut->points[c];
        map->step[c] = points * COLOURS;
        points *= (size_t)lut->points[c];
    }
    map->enter[0] = smp_alloc_array(samples, INKS * sizeof(float));
    map->grid = smp_alloc_array(points, COLOURS * sizeof(float));
    SMP_NEED(map->enter[0] && map->grid, "a table of inks", points * COLOURS * sizeof(float), err);
    for (int c = 0; c < INKS; c++) {
        map->enter[c] = map->enter[0] + (size_t)c * samples;
        for (size_t i = 0; i < samples; i++)
            map->enter[c][i] = (float)(smp_icc_lut_enter(lut, c, (double)i / (double)map->full) * (map->points[c] - 1));
    }
    for (size_t i = 0; i < points; i++) {
        double xyz[3];
        smp_icc_lut_point(lut, i, xyz);
        for (int c = 0; c < COLOURS; c++)
            map->grid[COLOURS * i + (size_t)c] = (float)(map->lab ? root(xyz[c] / smp_icc_d50[c]) : xyz[c]);
    }
    double inverse[9];
    smp_icc_srgb_of_xyz(inverse);
    for (int r = 0; r < COLOURS; r++) {
        double off = 0;
        for (int c = 0; c < COLOURS; c++) {
            off += inverse[3 * r + c] * black * smp_icc_d50[c] / (1 - black);
            map->matrix[3 * r + c] = (float)(inverse[3 * r + c] * (map->lab ? smp_icc_d50[c] : 1) / (1 - black));
        }
        map->offset[r] = (float)off;
    }
    for (int i = 0; i < STEPS + 2; i++)
        map->encoded[i] = (float)smp_icc_encoded(fmin(1, (double)i / STEPS));
    return SMP_OK;
}

smp_code smp_cmyk_open(smp_reader *reader, uint32_t full, smp_cmyk **out, smp_error *err)
{
    smp_meta *meta = &reader->media.meta;
    smp_icc icc;
    smp_icc_lut lut;
    smp_cmyk *map = *out = smp_alloc(sizeof *map);
    SMP_NEED(map, "inks", sizeof *map, err);
    map->full = full;
    map->last[0] = full + 1; /* no pixel is so */
    if (!meta->icc.size) {
        smp_note(&reader->notes, "its CMYK has no ICC profile: colours are approximate");
        return SMP_OK;
    }
    const char *fault = smp_icc_read_cmyk(meta->icc.data, meta->icc.size, &icc);
    if (!fault)
        fault = smp_icc_lut_open(&icc, SMP_ICC_RELATIVE, &lut);
    smp_code code = SMP_OK;
    if (fault)
        smp_note(&reader->notes, "its CMYK is converted without its ICC profile, which %s: colours are approximate",
                 fault);
    else {
        map->profiled = true;
        map->lab = icc.lab;
        meta->srgb_intent = 1; /* relative colorimetric */
        code = fill(map, &lut, smp_icc_lut_black(&icc, SMP_ICC_RELATIVE, &lut), err);
    }
    smp_free(meta->icc.data);
    meta->icc = (smp_blob){.size = 0};
    return code;
}

static void look_up(const smp_cmyk *map, const uint32_t *cmyk, float to[COLOURS])
{
    float part[INKS];
    int order[INKS];
    const float *corner = map->grid;
    for (int c = 0; c < INKS; c++) {
        const float x = map->enter[c][cmyk[c]];
        const int most = map->points[c] - 2, i = x < (float)most ? (int)x : most;
        part[c] = x - (float)i;
        corner += (size_t)i * map->step[c];
        int place = c;
        for (; place && part[order[place - 1]] < part[c]; place--)
            order[place] = order[place - 1];
        order[place] = c;
    }
    for (int k = 0; k < COLOURS; k++)
        to[k] = corner[k];
    for (int i = 0; i < INKS; i++) {
        const float *next = corner + map->step[order[i]];
        for (int k = 0; k < COLOURS; k++)
            to[k] += part[order[i]] * (next[k] - corner[k]);
        corner = next;
    }
}

static void convert(const smp_cmyk *map, const uint32_t *cmyk, uint32_t *rgb)
{
    float v[COLOURS];
    look_up(map, cmyk, v);
    for (int k = 0; k < COLOURS && map->lab; k++)
        v[k] = v[k] > 24.f / 116 ? v[k] * v[k] * v[k] : 108.f / 841 * (v[k] - 16.f / 116);
    for (int r = 0; r < COLOURS; r++) {
        const float *m = map->matrix + 3 * r;
        float light = m[0] * v[0] + m[1] * v[1] + m[2] * v[2] - map->offset[r];
        light = light > 0 ? light < 1 ? light : 1 : 0; /* NaN is 0 */
        const float at = light * STEPS, *e = map->encoded + (int)at;
        rgb[r] = (uint32_t)((e[0] + (at - (float)(int)at) * (e[1] - e[0])) * (float)map->full + 0.5f);
    }
}

void smp_cmyk_pixel(smp_cmyk *map, const uint32_t cmyk[4], uint32_t rgb[3])
{
    const uint32_t full = map->full, black = cmyk[3];
    if (!map->profiled) {
        for (int c = 0; c < COLOURS; c++)
            rgb[c] = (uint32_t)(((uint64_t)(full - cmyk[c]) * (full - black) + full / 2) / full);
        return;
    }
    if (memcmp(map->last, cmyk, sizeof map->last) != 0) {
        memcpy(map->last, cmyk, sizeof map->last);
        convert(map, cmyk, map->colour);
    }
    memcpy(rgb, map->colour, sizeof map->colour);
}
