/* Packs a picture for a PNG of fewer bits: see png_pack.h. */
#include "io/png/png_pack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

enum { MOST = 256, SLOTS = 1024, NO_INDEX = -1 };

smp_code smp_png_pack_open(const smp_shape *shape, const smp_write_options *options, smp_png_pack **out, smp_error *err)
{
    const int bits = options->png_bits;
    int64_t row, size;
    if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8)
        return smp_fail(err, SMP_E_USAGE, "--png-bits takes 1, 2, 4 or 8, not %d", bits);
    if (shape->format != SMP_U8) {
        smp_fail(err, SMP_E_WRITE, "a PNG of few bits is made of 8 bits, and this picture has more");
        return smp_hint(err, "`depth 8bit` at the end of the pipeline");
    }
    if (shape->channels == 2) {
        smp_fail(err, SMP_E_WRITE, "a gray picture with alpha has no PNG of few bits");
        return smp_hint(err, "`alpha flatten` or `alpha drop` at the end of the pipeline");
    }
    if (shape->channels > 2 && !options->png_palette) {
        smp_fail(err, SMP_E_WRITE, "--png-bits %d is for gray pictures, and this one has colours", bits);
        return smp_hint(err, "--png-palette, or `gray`");
    }
    if (!smp_mul_i64(shape->width, shape->channels, &row) || !smp_mul_i64(row, shape->height, &size))
        return smp_fail_memory(err, "a picture", UINT64_MAX);
    smp_png_pack *pack = *out = smp_alloc(sizeof *pack);
    if (!pack || !(pack->rows = smp_alloc_raw((size_t)size)))
        return smp_fail_memory(err, "a picture", (uint64_t)size);
    pack->bits = bits;
    pack->channels = shape->channels;
    pack->width = shape->width;
    pack->height = shape->height;
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
    enum { MOST_BYTES = 256 << 20 }; /* that are kept for it */
    const smp_write_options options = {.png_palette = coding->palette || shape->channels == 1};
    int64_t row, size;
    *out = NULL;
    if (!coding->bits || !options.png_palette || shape->format != SMP_U8 || shape->channels == 2 ||
        !smp_mul_i64(shape->width, shape->channels, &row) || !smp_mul_i64(row, shape->height, &size) ||
        size > MOST_BYTES)
        return SMP_OK;
    return smp_png_pack_open(shape, &options, out, err);
}

void smp_png_pack_put(smp_png_pack *pack, int64_t y, const void *from, int64_t stride, int64_t rows)
{
    const int64_t row = pack->width * pack->channels;
    for (int64_t i = 0; i < rows; i++)
        memcpy(pack->rows + (y + i) * row, (const uint8_t *)from + i * stride, (size_t)row);
}

/* ---------------------------------------------------------------------------------------------- what fits */

/* The fewest bits whose levels a gray picture's samples are. */
static int gray_bits(const smp_png_pack *pack)
{
    bool seen[MOST] = {false};
    for (int64_t i = 0; i < pack->width * pack->height; i++)
        seen[pack->rows[i]] = true;
    for (int bits = 1; bits < 8; bits *= 2) {
        const int step = 255 / ((1 << bits) - 1);
        int v = 0;
        while (v < MOST && (!seen[v] || v % step == 0))
            v++;
        if (v == MOST)
            return bits;
    }
    return 8;
}

/* The pixel's colour, in as many bytes as samples. */
static void restore(smp_png_pack *pack, int64_t pixels)
{
    for (int64_t i = pixels; i-- > 0;)
        memcpy(pack->rows + i * pack->channels, pack->palette[pack->rows[i]], (size_t)pack->channels);
}

/* Makes indices of pixels and the palette of colours; false: there are more than 256, and pixels are as they were. */
static bool make_palette(smp_png_pack *pack)
{
    int16_t slots[SLOTS];
    const int channels = pack->channels;
    for (int i = 0; i < SLOTS; i++)
        slots[i] = NO_INDEX;
    for (int64_t i = 0; i < pack->width * pack->height; i++) {
        const uint8_t *from = pack->rows + i * channels;
        const uint8_t colour[4] = {from[0], from[1], from[2], channels == 4 ? from[3] : 255};
        uint32_t key;
        memcpy(&key, colour, sizeof key);
        uint32_t slot = key * 2654435761u >> 22;
        while (slots[slot] != NO_INDEX && memcmp(pack->palette[slots[slot]], colour, sizeof colour) != 0)
            slot = (slot + 1) % SLOTS;
        if (slots[slot] == NO_INDEX) {
            if (pack->colours == MOST) {
                restore(pack, i);
                return false;
            }
            slots[slot] = (int16_t)pack->colours;
            memcpy(pack->palette[pack->colours++], colour, sizeof colour);
        }
        pack->rows[i] = (uint8_t)slots[slot]; /* no later than where it is read */
    }
    return true;
}

/* In place: a packed row never ends behind the row that it is made of. */
static void pack_rows(smp_png_pack *pack)
{
    const int bits = pack->bits, each = 8 / bits, shift = pack->colours ? 0 : 8 - bits;
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
        if (pack->bits && pack->bits < least) {
            smp_fail(err, SMP_E_WRITE, "the picture has other values than the %d levels of %d bit%s", 1 << pack->bits,
                     pack->bits, pack->bits > 1 ? "s" : "");
            return smp_hint(err, "`posterise %d` at the end of the pipeline", 1 << pack->bits);
        }
    } else {
        const bool fits = make_palette(pack);
        while (least < 8 && pack->colours > 1 << least)
            least *= 2;
        if (!fits || (pack->bits && pack->bits < least)) {
            smp_fail(err, SMP_E_WRITE, "the picture has more than %d colours", pack->bits ? 1 << pack->bits : MOST);
            return smp_hint(err, "`posterise 6` leaves at most 216, `posterise 2` 8");
        }
    }
    pack->bits = pack->bits ? pack->bits : least;
    pack_rows(pack);
    return SMP_OK;
}
