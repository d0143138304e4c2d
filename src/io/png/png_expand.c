/* Makes samples of stored rows of gray or palette indices of 1 to 8 bits. libpng can do it too, but then an interlaced
 * picture, which must be kept whole, would take up to 32 times the memory. Source: PNG, third edition, 13.12. */
#include <string.h>

#include "base/alloc.h"
#include "io/png/png_glue.h"

struct smp_png_expand {
    int bits, channels;
    uint8_t samples[256][4]; /* of each index or level */
};

static void list_colours(smp_png_expand *e, png_structp png, png_infop info)
{
    png_colorp palette = NULL;
    png_bytep opacity = NULL;
    int colours = 0, opacities = 0;
    png_get_PLTE(png, info, &palette, &colours);
    e->channels = png_get_tRNS(png, info, &opacity, &opacities, NULL) ? 4 : 3;
    for (int i = 0; i < 256; i++) {
        if (i < colours) { /* others are black */
            e->samples[i][0] = palette[i].red;
            e->samples[i][1] = palette[i].green;
            e->samples[i][2] = palette[i].blue;
        }
        e->samples[i][3] = opacity && i < opacities ? opacity[i] : UINT8_MAX;
    }
}

static void list_levels(smp_png_expand *e, png_structp png, png_infop info)
{
    const int most = (1 << e->bits) - 1;
    png_color_16p clear = NULL;
    e->channels = png_get_tRNS(png, info, NULL, NULL, &clear) && clear ? 2 : 1;
    for (int i = 0; i <= most; i++) {
        e->samples[i][0] = (uint8_t)(i * UINT8_MAX / most);
        e->samples[i][1] = clear && (clear->gray & most) == i ? 0 : UINT8_MAX;
    }
}

smp_png_expand *smp_png_expand_new(png_structp png, png_infop info)
{
    smp_png_expand *e = smp_alloc(sizeof *e);
    if (!e)
        return NULL;
    e->bits = png_get_bit_depth(png, info);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
        list_colours(e, png, info);
    else
        list_levels(e, png, info);
    return e;
}

int smp_png_expand_channels(const smp_png_expand *expand)
{
    return expand->channels;
}

/* channels: a constant of the caller. */
static inline void expand_row(const smp_png_expand *e, const uint8_t *from, uint8_t *to, int64_t width, size_t channels)
{
    const unsigned bits = (unsigned)e->bits, mask = (1U << bits) - 1;
    const unsigned shift = bits == 1 ? 3 : bits == 2 ? 2 : bits == 4 ? 1 : 0, within = (1U << shift) - 1;
    for (uint64_t x = 0; x < (uint64_t)width; x++, to += channels)
        memcpy(to, e->samples[(unsigned)from[x >> shift] >> ((within - (x & within)) * bits) & mask], channels);
}

void smp_png_expand_row(const smp_png_expand *expand, const uint8_t *from, uint8_t *to, int64_t width)
{
    switch (expand->channels) {
    case 1:
        expand_row(expand, from, to, width, 1);
        break;
    case 2:
        expand_row(expand, from, to, width, 2);
        break;
    case 3:
        expand_row(expand, from, to, width, 3);
        break;
    default:
        expand_row(expand, from, to, width, 4);
    }
}

void smp_png_expand_free(smp_png_expand *expand)
{
    smp_free(expand);
}
