/* Reads what a page of a TIFF holds, and checks whether it may be read: see smp_tiff_check_page. */
#include <inttypes.h>

#include "base/checked.h"
#include "io/tiff/tiff_glue.h"

enum { LARGEST_TILE = 4096 /* sides of a tile that a smaller picture may have */ };

static const struct {
    int number;
    bool whole; /* the library decodes a strip or tile at once, even for one row */
    const char *name;
} compressions[] = {
    {1, false, "uncompressed"}, {2, false, "CCITT RLE"},    {3, false, "CCITT G3"}, {4, false, "CCITT G4"},
    {5, false, "LZW"},          {7, false, "JPEG"},         {8, false, "Deflate"},  {32771, false, "CCITT RLE"},
    {32773, false, "PackBits"}, {32946, false, "Deflate"},  {34661, true, "JBIG"},  {34887, true, "LERC"},
    {34925, true, "LZMA"},      {50000, true, "Zstandard"}, {50001, true, "WebP"},  {6, true, "JPEG of the old kind"},
    {34676, false, "SGI Log"},  {34677, false, "SGI Log"},
};
enum { COMPRESSIONS = sizeof compressions / sizeof compressions[0] };

const char *smp_tiff_compression_name(int compression)
{
    for (int i = 0; i < COMPRESSIONS; i++)
        if (compressions[i].number == compression)
            return compressions[i].name;
    return NULL;
}

static bool decodes_whole(int compression)
{
    for (int i = 0; i < COMPRESSIONS; i++)
        if (compressions[i].number == compression)
            return compressions[i].whole;
    return true;
}

static const char *photometric_name(uint64_t photometric)
{
    switch (photometric) {
    case 4:
        return "a transparency mask";
    case 10:
        return "L*a*b* colours of a fax";
    case 32803:
    case 34892:
        return "a camera's raw samples";
    case 51177:
        return "a depth map";
    default:
        return "colours of an unknown kind";
    }
}

/* A number that the picture's layout depends on; *good becomes false where it is not one. */
static uint64_t number(const smp_tiff *tiff, uint32_t tag, uint64_t fallback, bool *good)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, tag);
    uint64_t value = fallback;
    if (entry && !smp_tiff_value(tiff, entry, 0, &value))
        *good = false;
    return value;
}

/* The value that all samples have; fails where they differ. */
static bool same_for_all(const smp_tiff *tiff, uint32_t tag, uint64_t samples, uint64_t *value)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, tag);
    if (!entry)
        return true;
    for (uint64_t i = 0, next; i < entry->count && i < samples; i++)
        if (!smp_tiff_value(tiff, entry, i, i ? &next : value) || (i && next != *value))
            return false;
    return entry->count > 0;
}

/* ------------------------------------------------------------------------------------------------ samples */

static int colours_of(int photometric)
{
    static const int colours[] = {1, 1, 3, 1, 0, 4, 3, 0, 3, 3};
    return photometric <= TIFF_ICC_LAB   ? colours[photometric]
           : photometric == TIFF_LOG_LUV ? 3
                                         : photometric == TIFF_LOG_L;
}

static smp_code fail_kind(smp_error *err, const char *what)
{
    smp_fail(err, SMP_E_DECODE, "the TIFF holds %s, which is not supported", what);
    return smp_hint(err, "save it as RGB or gray of 8 or 16 bits, or of 32-bit floats");
}

static bool bits_are_read(const smp_tiff_page *page, uint64_t bits)
{
    const bool plain = page->photometric <= TIFF_RGB;
    if (page->is_float)
        return (plain || page->photometric >= TIFF_LOG_L) && (bits == 16 || bits == 32 || bits == 64);
    if (page->is_signed || (plain && bits > 16))
        return plain && (bits == 8 || bits == 16 || (bits == 24 && !page->is_signed) || bits == 32 || bits == 64);
    if (page->photometric == TIFF_INK || page->photometric == TIFF_LAB || page->photometric == TIFF_ICC_LAB)
        return bits == 8 || bits == 16;
    return bits == 8 || (bits >= 1 && bits <= 16 && page->photometric <= TIFF_PALETTE_COLOUR);
}

static smp_code check_bits(smp_tiff_page *page, uint64_t bits, uint64_t kind, smp_error *err)
{
    static const char *const kinds[] = {[5] = "complex integers", [6] = "complex numbers"};
    const bool log = page->photometric >= TIFF_LOG_L; /* the library makes floats of it */
    if (kind < sizeof kinds / sizeof kinds[0] && kinds[kind])
        return fail_kind(err, kinds[kind]);
    page->is_float = kind == 3 || log;
    page->is_signed = kind == 2 && !log;
    page->bits = log ? 32 : bits <= 64 ? (int)bits : 0;
    page->numbers = page->is_signed || (!page->is_float && bits > 16 && page->photometric <= TIFF_BLACK_IS_ZERO);
    if (page->numbers && page->alpha)
        return fail_kind(err, "alpha beside integers that are signed or have more than 16 bits");
    if (bits_are_read(page, (uint64_t)page->bits))
        return SMP_OK;
    smp_fail(err, SMP_E_DECODE, "the TIFF has %s of %" PRIu64 " bits, which are not supported%s",
             page->is_float ? "floats" : "samples", bits,
             page->photometric > TIFF_RGB ? " in its kind of colours" : "");
    return smp_hint(err, "save it with 8 or 16 bits a sample, or 32-bit floats");
}

/* Colours are stored at a lower resolution. */
static bool is_subsampled(const smp_tiff *tiff)
{
    const smp_tiff_entry *entry = smp_tiff_find(tiff, TIFF_SUBSAMPLING);
    uint64_t across, down;
    return !smp_tiff_value(tiff, entry, 0, &across) || !smp_tiff_value(tiff, entry, 1, &down) || across != 1 ||
           down != 1;
}

static smp_code check_samples(const smp_tiff *tiff, smp_tiff_page *page, smp_error *err)
{
    bool good = true;
    const uint64_t samples = number(tiff, TIFF_SAMPLES, 1, &good), planar = number(tiff, TIFF_PLANAR, 1, &good);
    enum { FAX = 2, LAST_FAX = 4 }; /* whose white is 0 where nothing is said, as libtiff has it */
    const uint64_t compression = number(tiff, TIFF_COMPRESSION, TIFF_UNCOMPRESSED, &good);
    const int usual = samples >= 3                                    ? TIFF_RGB
                      : compression >= FAX && compression <= LAST_FAX ? TIFF_WHITE_IS_ZERO
                                                                      : TIFF_BLACK_IS_ZERO;
    const uint64_t photometric = number(tiff, TIFF_PHOTOMETRIC, (uint64_t)usual, &good);
    const uint64_t inks = number(tiff, TIFF_INKS, 1, &good);
    uint64_t bits = 1, kind = 1, extra = 0;
    if (!good || planar < 1 || planar > 2 || !same_for_all(tiff, TIFF_SAMPLE_FORMAT, samples, &kind))
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: an entry that describes its samples is not possible");
    if (!same_for_all(tiff, TIFF_BITS, samples, &bits))
        return fail_kind(err, "samples of different numbers of bits");
    if (photometric > TIFF_LOG_LUV || !colours_of((int)photometric))
        return fail_kind(err, photometric_name(photometric));
    page->photometric = (int)photometric;
    page->colours = colours_of(page->photometric);
    page->planar = planar == 2 && samples > 1;
    if (samples < (uint64_t)page->colours || samples > TIFF_MOST_PLANES)
        return smp_fail(err, SMP_E_DECODE, "the TIFF has %" PRIu64 " samples a pixel, which is not supported", samples),
               smp_hint(err, "save it with 1 to 4 samples a pixel");
    page->samples = (int)samples;
    if (page->photometric == TIFF_INK && inks != 1)
        return fail_kind(err, "inks other than CMYK");
    if (compression > 65535 || !smp_tiff_compression_name((int)compression))
        return smp_fail(err, SMP_E_DECODE, "the TIFF has compression %" PRIu64 ", which is not supported", compression),
               smp_hint(err, "save it with LZW, Deflate or without compression");
    page->compression = (int)compression;
    page->rgba = compression == TIFF_OLD_JPEG ||
                 (page->photometric == TIFF_YCBCR && (compression != TIFF_JPEG || page->planar) && is_subsampled(tiff));
    if (page->photometric >= TIFF_LOG_L && (compression < 34676 || compression > 34677 || page->planar))
        return fail_kind(err, "LogL or LogLuv colours without their compression");
    const smp_tiff_entry *entry = smp_tiff_find(tiff, TIFF_EXTRA);
    for (int i = page->colours; i < page->samples && !page->alpha; i++)
        if (smp_tiff_value(tiff, entry, (uint64_t)(i - page->colours), &extra) && (extra == 1 || extra == 2)) {
            page->alpha = true;
            page->alpha_at = i;
            page->premultiplied = extra == 1;
        }
    if (page->rgba && (page->planar || page->alpha))
        return fail_kind(err, page->planar ? "colours of this kind in planes" : "alpha beside colours of this kind");
    if (page->photometric == TIFF_BLACK_IS_ZERO && !page->alpha && page->samples <= SMP_MAX_CHANNELS)
        page->colours = page->samples; /* channels of any meaning */
    return check_bits(page, bits, kind, err);
}

/* ------------------------------------------------------------------------------------------------ places */

static bool multiply(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

const smp_tiff_entry *smp_tiff_segments(const smp_tiff *tiff, const smp_tiff_page *page, bool sizes)
{
    const smp_tiff_entry *tiles = smp_tiff_find(tiff, sizes ? TIFF_TILE_BYTES : TIFF_TILE_OFFSETS);
    return page->tiled && tiles ? tiles : smp_tiff_find(tiff, sizes ? TIFF_STRIP_BYTES : TIFF_STRIP_OFFSETS);
}

/* Every strip or tile lies within the file. *largest: the most bytes of one. */
static smp_code check_segments(const smp_tiff *tiff, const smp_tiff_page *page, uint64_t *largest, smp_error *err)
{
    const smp_tiff_entry *places = smp_tiff_segments(tiff, page, false), *sizes = smp_tiff_segments(tiff, page, true);
    const char *what = page->tiled ? "tiles" : "strips";
    uint64_t all_at[TIFF_VALUES], all_sizes[TIFF_VALUES];
    *largest = 0;
    const bool plain = !sizes && page->compression == TIFF_UNCOMPRESSED && page->segments == 1; /* needs no size */
    if (!places || places->count < page->segments || (!plain && (!sizes || sizes->count < page->segments)))
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: it says where %" PRIu64 " %s are, and has %" PRIu64,
                        places ? places->count : 0, what, page->segments);
    if (!multiply(page->row_bytes, (uint64_t)page->unit_rows, all_sizes))
        all_sizes[0] = UINT64_MAX;
    for (uint64_t i = 0; i < page->segments; i++) {
        const uint64_t k = i % TIFF_VALUES, n = smp_min_u64(page->segments - i, TIFF_VALUES);
        if (!k && (!smp_tiff_values(tiff, places, i, n, all_at) ||
                   (!plain && !smp_tiff_values(tiff, sizes, i, n, all_sizes))))
            return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: the offsets of its %s are not numbers", what);
        const uint64_t at = all_at[k], size = all_sizes[k];
        if (at > tiff->source->size || size > tiff->source->size - at)
            return smp_fail(err, SMP_E_DECODE, "the TIFF's %s reach past the end of the file: it is truncated", what),
                   smp_hint_damaged(err);
        *largest = smp_max_u64(*largest, size);
    }
    return SMP_OK;
}

/* The bytes that reading takes: of each plane what the library holds, of tiles a row of them. */
static bool count_memory(smp_tiff_page *page)
{
    const uint64_t planes = page->planar ? (uint64_t)page->samples : 1;
    uint64_t unit, band = 0, lists, memory, raster = 0;
    if (!multiply(page->row_bytes, (uint64_t)page->unit_rows, &unit) || !multiply(page->segments, 16, &lists))
        return false;
    memory = page->tiled || decodes_whole(page->compression) ? 2 * smp_min_u64(unit, UINT64_MAX / 4) : 0;
    if (page->rgba) /* what is decoded, and four bytes a pixel of the strip or row of tiles */
        memory = 3 * smp_min_u64(unit, UINT64_MAX / 8);
    if (page->rgba && !multiply(4 * (uint64_t)page->unit * (uint64_t)page->across, (uint64_t)page->unit_rows, &raster))
        return false;
    if (page->tiled && !multiply(unit, (uint64_t)page->across, &band))
        return false;
    return smp_add_u64(memory, raster, &memory) && smp_add_u64(memory, band, &memory) &&
           smp_add_u64(memory, page->largest + lists, &memory) && smp_add_u64(memory, 4 * page->row_bytes, &memory) &&
           multiply(memory, planes, &memory) &&
           smp_add_u64(memory, (uint64_t)page->width * (uint64_t)page->samples * 8, &page->memory);
}

static smp_code check_places(const smp_tiff *tiff, const smp_limits *limits, smp_tiff_page *page, smp_error *err)
{
    bool good = true;
    const uint64_t planes = page->planar ? (uint64_t)page->samples : 1;
    page->tiled = smp_tiff_find(tiff, TIFF_TILE_WIDTH) != NULL;
    uint64_t unit = (uint64_t)page->width, rows;
    if (page->tiled) {
        unit = number(tiff, TIFF_TILE_WIDTH, 0, &good);
        rows = number(tiff, TIFF_TILE_HEIGHT, 0, &good);
        good = good && (page->bits >= 8 || unit % 8 == 0) &&
               unit <= smp_max_u64((uint64_t)page->width + 15, LARGEST_TILE) &&
               rows <= smp_max_u64((uint64_t)page->height + 15, LARGEST_TILE);
    } else {
        rows = number(tiff, TIFF_ROWS_PER_STRIP, UINT32_MAX, &good);
        rows = smp_min_u64(rows, (uint64_t)page->height);
    }
    if (!good || unit < 1 || rows < 1)
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: the size of its %s is not possible",
                        page->tiled ? "tiles" : "strips");
    page->unit = (int64_t)unit;
    page->unit_rows = (int64_t)rows;
    page->across = (page->width + page->unit - 1) / page->unit;
    page->down = (page->height + page->unit_rows - 1) / page->unit_rows;
    const uint64_t samples = page->planar ? 1 : (uint64_t)page->samples;
    page->row_bytes = (unit * samples * (uint64_t)page->bits + 7) / 8;
    if (!multiply((uint64_t)page->across * (uint64_t)page->down, planes, &page->segments)) /* of 31 bits each */
        page->segments = UINT64_MAX;                                                       /* no file has so many */
    SMP_TRY(smp_check_picture(limits, page->width, page->height, 0, err));
    SMP_TRY(check_segments(tiff, page, &page->largest, err));
    if (!count_memory(page))
        page->memory = UINT64_MAX;
    return smp_check_picture(limits, page->width, page->height, page->memory, err);
}

smp_code smp_tiff_check_page(const smp_tiff *tiff, const smp_limits *limits, smp_tiff_page *page, smp_error *err)
{
    bool good = true;
    *page = (smp_tiff_page){.width = 0};
    const uint64_t width = number(tiff, TIFF_WIDTH, 0, &good), height = number(tiff, TIFF_HEIGHT, 0, &good);
    if (!good || width > INT32_MAX || height > INT32_MAX)
        return smp_fail(err, SMP_E_DECODE, "the TIFF is damaged: its size is not possible");
    if (smp_tiff_find(tiff, TIFF_DNG))
        return fail_kind(err, "a camera's raw picture");
    page->width = (int64_t)width;
    page->height = (int64_t)height;
    SMP_TRY(smp_check_picture(limits, page->width, page->height, 0, err));
    SMP_TRY(check_samples(tiff, page, err));
    return check_places(tiff, limits, page, err);
}
