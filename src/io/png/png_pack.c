/* Packs a picture for a PNG of fewer bits: see png_pack.h. */
#include "io/png/png_glue.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { MOST = SMP_COLOURS };

smp_code smp_png_pack_open(const smp_shape *shape, const smp_write_options *options, smp_png_pack **out, smp_error *err)
{
    const int bits = smp_write_value(&options->values, &smp_png_bits);
    int64_t size;
    if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8)
        return smp_fail(err, SMP_E_USAGE, "--png-bits takes 1, 2, 4 or 8, not %d", bits);
    if (shape->format != SMP_U8)
        return smp_fail(err, SMP_E_WRITE, "a PNG of few bits is made of 8 bits, and this picture has more"),
               smp_hint(err, "`depth 8bit` at the end of the pipeline");
    if (shape->channels == 2)
        return smp_fail(err, SMP_E_WRITE, "a gray picture with alpha has no PNG of few bits"),
               smp_hint(err, "`alpha flatten` or `alpha drop` at the end of the pipeline");
    if (shape->channels > 2 && !smp_write_value(&options->values, &smp_png_palette))
        return smp_fail(err, SMP_E_WRITE, "--png-bits %d is for gray pictures, and this one has colours", bits),
               smp_hint(err, "--png-palette, or `gray`");
    SMP_NEED(smp_mul_i64(shape->width, shape->height, &size), "a picture", UINT64_MAX, err);
    smp_png_pack *pack = *out = smp_alloc(sizeof *pack);
    SMP_NEED(pack && (pack->rows = smp_alloc_raw((size_t)size)), "a picture", (uint64_t)size, err);
    pack->bits = bits;
    pack->channels = shape->channels;
    pack->width = shape->width;
    pack->height = shape->height;
    smp_colour_table_clear(&pack->palette);
    return SMP_OK;
}

void smp_png_pack_close(smp_png_pack *pack)
{
    if (pack)
        smp_free(pack->rows);
    smp_free(pack);
}

smp_code smp_png_pack_keep(const smp_shape *shape, const smp_png_coding *coding, smp_png_pack **out, smp_error *err)
{
    enum { MOST_BYTES = 64 << 20, SHARE = 8 /* of what the program may take */ };
    smp_write_options options = {0};
    if (coding->palette || shape->channels == 1)
        smp_write_set(&options.values, &smp_png_palette, true);
    const uint64_t limit = smp_alloc_limited();
    int64_t size;
    *out = NULL;
    if (!coding->bits || !options.values.count || shape->format != SMP_U8 || shape->channels == 2 ||
        !smp_mul_i64(shape->width, shape->height, &size) || size > MOST_BYTES ||
        (limit && (uint64_t)size > limit / SHARE))
        return SMP_OK;
    SMP_TRY(smp_png_pack_open(shape, &options, out, err));
    (*out)->kept = true;
    return SMP_OK;
}

/* False: some value needs 8 bits. */
static bool put_gray(smp_png_pack *pack, const uint8_t *from, uint8_t *to)
{
    bool fits = true;
    for (int64_t x = 0; x < pack->width; x++) {
        pack->seen[from[x]] = true;
        fits &= from[x] % 17 == 0; /* a level of 4 bits, and so of fewer */
    }
    memcpy(to, from, (size_t)pack->width);
    return fits;
}

static bool put_colours(smp_png_pack *pack, const uint8_t *from, uint8_t *to)
{
    uint8_t last[4] = {0};
    int index = SMP_NO_COLOUR;
    for (int64_t x = 0; x < pack->width; x++, from += pack->channels) {
        const uint8_t colour[4] = {from[0], from[1], from[2], pack->channels == 4 ? from[3] : 255};
        if (index == SMP_NO_COLOUR || memcmp(colour, last, sizeof last) != 0) {
            index = smp_colour_index(&pack->palette, colour, true);
            memcpy(last, colour, sizeof last);
        }
        if (index == SMP_NO_COLOUR)
            return false;
        to[x] = (uint8_t)index;
    }
    return true;
}

int64_t smp_png_pack_put(smp_png_pack *pack, int64_t y, const void *from, int64_t stride, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *row = (const uint8_t *)from + i * stride;
        uint8_t *to = pack->rows + (y + i) * pack->width;
        if (pack->channels == 1) {
            if (!put_gray(pack, row, to) && pack->kept)
                return i;
        } else if (pack->full || !put_colours(pack, row, to)) {
            pack->full = true;
            return i;
        }
    }
    return rows;
}

void smp_png_pack_restore(const smp_png_pack *pack, int64_t y, int64_t rows, void *to)
{
    const uint8_t *from = pack->rows + y * pack->width;
    uint8_t *out = to;
    if (pack->channels == 1)
        memcpy(out, from, (size_t)(rows * pack->width));
    for (int64_t i = 0; pack->channels > 1 && i < rows * pack->width; i++, out += pack->channels)
        memcpy(out, pack->palette.colours[from[i]], (size_t)pack->channels);
}

/* The fewest bits whose levels a gray picture's samples are. */
static int gray_bits(const smp_png_pack *pack)
{
    for (int bits = 1; bits < 8; bits *= 2) {
        const int step = 255 / ((1 << bits) - 1);
        int v = 0;
        while (v < MOST && (!pack->seen[v] || v % step == 0))
            v++;
        if (v == MOST)
            return bits;
    }
    return 8;
}

/* In place: a packed row never ends behind the row that it is made of. */
static void pack_rows(smp_png_pack *pack)
{
    const int bits = pack->bits, each = 8 / bits, shift = pack->palette.count ? 0 : 8 - bits;
    pack->row_bytes = (pack->width + each - 1) / each;
    for (int64_t y = 0; y < pack->height; y++) {
        const uint8_t *from = pack->rows + y * pack->width;
        uint8_t *to = pack->rows + y * pack->row_bytes;
        for (int64_t x = 0; x < pack->width; x += each) {
            unsigned byte = 0;
            for (int k = 0; k < each; k++)
                byte = byte << bits | (x + k < pack->width ? (unsigned)from[x + k] >> shift : 0u);
            to[x / each] = (uint8_t)byte;
        }
    }
}

smp_code smp_png_pack_finish(smp_png_pack *pack, smp_error *err)
{
    int least = 1;
    if (pack->channels == 1) {
        least = gray_bits(pack);
        if (pack->bits && pack->bits < least)
            return smp_fail(err, SMP_E_WRITE, "the picture has other values than the %d levels of %d bit%s",
                            1 << pack->bits, pack->bits, pack->bits > 1 ? "s" : ""),
                   smp_hint(err, "`posterise %d` at the end of the pipeline", 1 << pack->bits);
    } else {
        while (least < 8 && pack->palette.count > 1 << least)
            least *= 2;
        if (pack->full || (pack->bits && pack->bits < least)) {
            const int most = pack->bits ? 1 << pack->bits : MOST;
            smp_fail(err, SMP_E_WRITE, "the picture has more than %d colours", most);
            return smp_hint(err, "`palette %d dither=diffuse` as the last stage finds the best %d", most, most);
        }
    }
    pack->bits = pack->bits ? pack->bits : least;
    pack_rows(pack);
    return SMP_OK;
}
