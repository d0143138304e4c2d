/* Photoshop files, PSD and PSB, read by rows: the merged picture in gray, RGB, CMYK, indexed colour or black and white,
 * with 8, 16 or 32 bits, uncompressed or RLE. A channel after the colours is alpha only when the file says that it is
 * the merged picture's transparency; otherwise it is a saved selection. Source: Adobe Photoshop File Formats
 * Specification. */
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/format.h"
#include "io/images/stored_rows.h"
#include "io/meta/cmyk.h"

enum {
    HEADER = 26,
    PALETTE = 3 * 256, /* bytes: all red, all green, all blue */
    MOST_PLANES = 5,   /* planes that are read: four colours and alpha */
    MOST_BLOCKS = 1000 /* of layer information that are searched */
};
enum { MODE_BITMAP = 0, MODE_GRAY = 1, MODE_INDEXED = 2, MODE_RGB = 3, MODE_CMYK = 4, MODE_DUOTONE = 8 };
enum { PLAIN = 0, RUNS = 1 };

typedef struct psd {
    int mode, bits, planes;
    bool large; /* PSB: some numbers have twice as many bytes */
    bool runs;
    bool overlong, unblended; /* to be noted: runs beyond a row; colours that no white was blended into */
    size_t row;               /* bytes of a row of a plane */
    size_t room;              /* for a compressed one */
    uint8_t palette[PALETTE];
    smp_cmyk *cmyk;                      /* of CMYK */
    smp_stored_rows stored[MOST_PLANES]; /* uncompressed */
    /* RLE: */
    uint64_t *starts; /* where each row begins, plane by plane, and the end of the last */
    uint8_t *packed;  /* a compressed row */
    uint8_t *lines;   /* a row of each plane */
} psd;

static bool sniff(const uint8_t *head, size_t size)
{
    return size >= 6 && memcmp(head, "8BPS\0", 5) == 0 && (head[5] == 1 || head[5] == 2);
}

/* ------------------------------------------------------------------------------------------------ header */

static bool look(const smp_source *source, uint64_t at, int bytes, uint64_t *value)
{
    uint8_t raw[8];
    if (!smp_source_look(source, at, raw, (size_t)bytes))
        return false;
    *value = smp_get_bytes(raw, bytes, true);
    return true;
}

/* A negative layer count means that the first channel after the colours is the merged picture's transparency. */
static bool count_is_negative(const smp_source *source, uint64_t at)
{
    uint64_t count;
    return look(source, at, 2, &count) && count >= 0x8000;
}

/* 16-bit and 32-bit pictures have their layers in additional blocks. at, end: the range of these blocks. */
static bool blocks_say_alpha(const smp_source *source, uint64_t at, uint64_t end, bool large)
{
    uint64_t size;
    for (int n = 0; n < MOST_BLOCKS && at + 12 <= end; n++) {
        uint8_t block[12];
        if (!smp_source_look(source, at, block, sizeof block))
            return false;
        if (memcmp(block, "8BIM", 4) != 0 && memcmp(block, "8B64", 4) != 0) {
            at++; /* padding */
            continue;
        }
        const uint8_t *key = block + 4;
        if (memcmp(key, "Mtrn", 4) == 0 || memcmp(key, "Mt16", 4) == 0 || memcmp(key, "Mt32", 4) == 0)
            return true;
        if (memcmp(key, "Layr", 4) == 0 || memcmp(key, "Lr16", 4) == 0 || memcmp(key, "Lr32", 4) == 0)
            return count_is_negative(source, at + (large ? 16 : 12));
        const int bytes = large && block[2] == '6' ? 8 : 4;
        if (!look(source, at + 8, bytes, &size) || size > end - at)
            return false;
        at += 8 + (uint64_t)bytes + size;
    }
    return false;
}

/* at, length: the section of layers. */
static bool layers_say_alpha(const smp_source *source, uint64_t at, uint64_t length, bool large)
{
    const int word = large ? 8 : 4;
    uint64_t layers, mask;
    if (length < (uint64_t)word || !look(source, at, word, &layers))
        return false;
    if (layers >= 2)
        return count_is_negative(source, at + (uint64_t)word);
    uint64_t end = at + length, behind = at + (uint64_t)word + layers;
    return look(source, behind, 4, &mask) && blocks_say_alpha(source, behind + 4 + mask, end, large);
}

/* Of the resource "resolution info". */
static void keep_resolution(smp_meta *meta, const smp_blob *info)
{
    static const double fixed = 65536, inch = 0.0254;
    if (info->size < 12)
        return;
    meta->x_density = (double)smp_get_be(info->data, 4) / fixed / inch;
    meta->y_density = (double)smp_get_be(info->data + 8, 4) / fixed / inch;
}

/* at, end: the section of resources. */
static smp_code keep_resources(smp_reader *reader, uint64_t at, uint64_t end, smp_error *err)
{
    enum { KEPT = 4 };
    smp_meta *meta = &reader->media.meta;
    const smp_source *source = &reader->source;
    smp_blob resolution = {0}, xmp = {0};
    smp_resource one;
    const struct {
        uint32_t id;
        const char *name;
        smp_blob *blob;
    } kept[KEPT] = {{1005, "the resolution", &resolution},
                    {1039, "the ICC profile", &meta->icc},
                    {1058, "EXIF", &meta->exif},
                    {1060, "the XMP packet", &xmp}};
    bool done = smp_meta_take_resources(meta, source, at, end, &reader->notes);
    while (done && smp_resource_next(source, &at, end, &one))
        for (int i = 0; i < KEPT && done; i++)
            if (kept[i].id == one.id && !kept[i].blob->size)
                done = smp_meta_read(source, kept[i].name, one.at, one.size, kept[i].blob, &reader->notes);
    keep_resolution(meta, &resolution);
    if (done && xmp.size)
        done = smp_meta_add_text(meta, SMP_XMP_KEY, (const char *)xmp.data, xmp.size);
    smp_meta_tell_turned(meta, "a PSD", &reader->notes);
    smp_free_all(resolution.data, xmp.data);
    SMP_NEED(done, "metadata of a PSD", 0, err);
    return SMP_OK;
}

/* Skips the sections before the picture. *at: where the picture's compression is stored. */
static smp_code find_picture(smp_reader *reader, uint64_t *at, bool *alpha, smp_error *err)
{
    psd *state = reader->state;
    smp_source *source = &reader->source;
    *at = HEADER;
    for (int section = 0; section < 3; section++) {
        const int word = section == 2 && state->large ? 8 : 4;
        uint64_t length;
        if (!look(source, *at, word, &length) || length > source->size - *at - (uint64_t)word) {
            smp_source_seek(source, source->size);
            return smp_source_ended(source, err);
        }
        if (section == 0 && state->mode == MODE_INDEXED &&
            (length < PALETTE || !smp_source_look(source, *at + 4, state->palette, PALETTE)))
            return smp_fail(err, SMP_E_DECODE, "the PSD is damaged: it has no palette");
        if (section == 1)
            SMP_TRY(keep_resources(reader, *at + 4, *at + 4 + length, err));
        if (section == 2)
            *alpha = layers_say_alpha(source, *at + (uint64_t)word, length, state->large);
        *at += (uint64_t)word + length;
    }
    return SMP_OK;
}

/* The colour channels of a mode; 0: the mode is not supported. */
static int colours_of(uint32_t mode)
{
    static const int colours[] = {
        [MODE_BITMAP] = 1, [MODE_GRAY] = 1, [MODE_INDEXED] = 1, [MODE_RGB] = 3, [MODE_CMYK] = 4, [MODE_DUOTONE] = 1};
    return mode < sizeof colours / sizeof colours[0] ? colours[mode] : 0;
}

static const char *mode_name(uint32_t mode)
{
    static const char *const names[] = {"bitmap", "grayscale", "indexed",      "RGB",     "CMYK",
                                        NULL,     NULL,        "multichannel", "duotone", "Lab"};
    return mode < sizeof names / sizeof names[0] && names[mode] ? names[mode] : "unknown";
}

static bool bits_fit(uint32_t mode, uint32_t bits)
{
    if (mode == MODE_BITMAP)
        return bits == 1;
    return bits == 8 || (mode != MODE_INDEXED && (bits == 16 || (bits == 32 && mode != MODE_CMYK)));
}

static smp_code read_header(smp_reader *reader, const uint8_t *head, uint32_t *channels, smp_error *err)
{
    psd *state = reader->state;
    smp_shape *shape = &reader->media.shape;
    uint32_t bits = smp_get_be(head + 22, 2), mode = smp_get_be(head + 24, 2);
    *channels = smp_get_be(head + 12, 2);
    int colours = colours_of(mode);
    if (!colours || !bits_fit(mode, bits))
        return smp_fail(err, SMP_E_DECODE, "the PSD holds %u bits a channel in mode %s, which is not supported", bits,
                        mode_name(mode)),
               smp_hint(err, "save it as RGB of 8 or 16 bits a channel, or as PNG");
    if (*channels < (uint32_t)colours || *channels > 56)
        return smp_fail(err, SMP_E_DECODE, "the PSD is damaged: %u channels in mode %s", *channels, mode_name(mode));
    state->large = head[5] == 2;
    state->mode = (int)mode;
    state->bits = (int)bits;
    shape->height = smp_get_be(head + 14, 4);
    shape->width = smp_get_be(head + 18, 4);
    shape->format = bits == 32 ? SMP_F32 : bits == 16 ? SMP_U16 : SMP_U8;
    return smp_check_picture(&reader->options.limits, shape->width, shape->height, 0, err);
}

/* ------------------------------------------------------------------------------------------------ rows in the file */

static smp_code open_plain(smp_reader *reader, uint64_t at, uint32_t channels, smp_error *err)
{
    psd *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    uint64_t memory = 0, plane = state->row * (uint64_t)shape->height;
    for (int i = 0; i < state->planes; i++) {
        smp_stored_rows_set(&state->stored[i], at + (uint64_t)i * plane, state->row, shape->height);
        memory += smp_stored_rows_memory(&state->stored[i]);
    }
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, memory, err));
    return smp_check_size(&reader->source, at + channels * plane, err);
}

/* The table of compressed row sizes, for all channels, precedes the rows. */
static smp_code open_runs(smp_reader *reader, uint64_t at, uint32_t channels, smp_error *err)
{
    psd *state = reader->state;
    smp_source *source = &reader->source;
    const smp_shape *shape = &reader->media.shape;
    const uint64_t rows = (uint64_t)shape->height, packed = rows * (uint64_t)state->planes;
    const int word = state->large ? 4 : 2;
    state->room = state->large ? 2 * state->row + UINT16_MAX : UINT16_MAX;
    const uint64_t memory = 8 * (packed + 1) + state->room + state->row * (uint64_t)state->planes;
    uint64_t start = at + (uint64_t)word * rows * channels;
    SMP_TRY(smp_check_picture(&reader->options.limits, shape->width, shape->height, memory, err));
    SMP_TRY(smp_check_size(source, start, err));
    state->starts = smp_alloc_array((size_t)packed + 1, sizeof *state->starts);
    state->packed = smp_alloc_raw(state->room);
    state->lines = smp_alloc_array(state->row, (size_t)state->planes);
    SMP_NEED(state->starts && state->packed && state->lines, "a PSD", memory, err);
    smp_source_seek(source, at);
    for (uint64_t i = 0; i < rows * channels; i++) { /* of all channels, to detect a file that was cut off */
        uint8_t size[4];
        SMP_TRY(smp_source_fill(source, size, (size_t)word, err));
        if (i <= packed)
            state->starts[i] = start;
        start += smp_get_be(size, word);
    }
    if (channels == (uint32_t)state->planes)
        state->starts[packed] = start;
    return smp_check_size(source, start, err);
}

/* The last run may reach past the row, as GIMP writes it. */
static smp_code unpack(psd *state, const uint8_t *from, size_t size, uint8_t *to, smp_error *err)
{
    enum { LONGEST = 128 };
    size_t left = state->row, beyond = 0;
    const uint8_t *end = from + size;
    while (from < end) {
        const int code = (int8_t)*from++;
        const size_t count = code < 0 ? 1 - (size_t)code : (size_t)code + 1, stored = code < 0 ? 1 : count;
        if (code == INT8_MIN) /* a no-op */
            continue;
        if (stored > (size_t)(end - from))
            break;
        const size_t kept = count < left ? count : left;
        if (code < 0)
            memset(to, *from, kept);
        else
            memcpy(to, from, kept);
        from += stored;
        to += kept;
        left -= kept;
        beyond += count - kept;
    }
    state->overlong |= beyond > 0;
    return left || beyond > LONGEST
               ? smp_fail(err, SMP_E_DECODE, "the PSD is damaged: a row's runs have another length than the row")
               : SMP_OK;
}

/* Decodes a row of a plane to the file's samples. */
static smp_code plane_row(smp_reader *reader, int plane, int64_t y, const uint8_t **at, smp_error *err)
{
    psd *state = reader->state;
    if (!state->runs)
        return smp_stored_rows_get(&state->stored[plane], &reader->source, y, at, err);
    const uint64_t *start = state->starts + plane * reader->media.shape.height + y;
    const size_t size = (size_t)(start[1] - start[0]);
    if (size > state->room)
        return smp_fail(err, SMP_E_DECODE, "the PSD is damaged: a row has %zu bytes", size);
    if (!smp_source_look(&reader->source, start[0], state->packed, size))
        return smp_fail(err, SMP_E_READ, "cannot read row %lld of the PSD", (long long)y);
    uint8_t *line = state->lines + (size_t)plane * state->row;
    *at = line;
    return unpack(state, state->packed, size, line, err);
}

/* ------------------------------------------------------------------------------------------------ opening */

static smp_code read_open(smp_reader *reader, smp_error *err)
{
    smp_media *media = &reader->media;
    smp_source *source = &reader->source;
    SMP_TRY(smp_source_spool(source, err));
    uint8_t head[HEADER];
    psd *state = reader->state;
    SMP_TRY(smp_source_fill(source, head, HEADER, err));
    uint32_t channels;
    uint64_t at, coding;
    bool alpha = false;
    SMP_TRY(read_header(reader, head, &channels, err));
    SMP_TRY(find_picture(reader, &at, &alpha, err));
    if (state->mode == MODE_CMYK)
        SMP_TRY(smp_cmyk_open(reader, state->bits == 16 ? UINT16_MAX : UINT8_MAX, &state->cmyk, err));
    if (!look(source, at, 2, &coding)) {
        smp_source_seek(source, source->size);
        return smp_source_ended(source, err);
    }
    at += 2;
    if (coding != PLAIN && coding != RUNS)
        return smp_fail(err, SMP_E_DECODE, "the PSD's picture has an unsupported compression (%u)", (unsigned)coding),
               smp_hint(err, "save it as PNG");
    const int colours = colours_of((uint32_t)state->mode);
    media->shape.alpha = alpha && channels > (uint32_t)colours && state->mode != MODE_INDEXED;
    state->planes = colours + (media->shape.alpha ? 1 : 0);
    state->runs = coding == RUNS;
    state->row = (size_t)(((uint64_t)media->shape.width * (uint64_t)state->bits + 7) / 8);
    media->shape.channels = (colours == 4 || state->mode == MODE_INDEXED ? 3 : colours) + (media->shape.alpha ? 1 : 0);
    media->bits = state->bits;
    if (state->bits == 32 && !media->meta.icc.size) /* light, as Photoshop keeps 32 bits */
        media->meta.gamma = 1;
    const uint32_t others = channels - (uint32_t)state->planes;
    if (others)
        smp_note(&reader->notes, "%u channel%s beside its colours %s left out: saved selections, or other inks", others,
                 others == 1 ? "" : "s", others == 1 ? "is" : "are");
    snprintf(media->detail, sizeof media->detail, "merged picture, %s%s%s%s", mode_name((uint32_t)state->mode),
             smp_cmyk_profiled(state->cmyk) ? " to sRGB by its profile" : "", state->runs ? ", runs" : "",
             others ? ", without saved selections" : "");
    return state->runs ? open_runs(reader, at, channels, err) : open_plain(reader, at, channels, err);
}

/* ------------------------------------------------------------------------------------------------ samples */

static uint32_t sample_at(const psd *state, const uint8_t *row, int64_t x)
{
    if (state->bits == 1) /* a set bit is black */
        return row[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
    const int bytes = state->bits / 8;
    return smp_get_be(row + x * bytes, bytes);
}

/* Photoshop blends the merged colours with white where they are transparent: undoes this. */
static uint32_t without_white(psd *state, uint32_t colour, uint32_t alpha, uint32_t full)
{
    if (!alpha || alpha == full)
        return colour;
    uint64_t dark = ((uint64_t)(full - colour) * full + alpha / 2) / alpha;
    state->unblended |= full - colour > alpha + full / UINT8_MAX; /* by more than rounding */
    return dark > full ? 0 : full - (uint32_t)dark;
}

static void convert_pixel(psd *state, const uint8_t *const *rows, int64_t x, uint32_t *samples)
{
    const uint32_t full = state->bits == 16 ? UINT16_MAX : UINT8_MAX;
    for (int c = 0; c < state->planes; c++)
        samples[c] = sample_at(state, rows[c], x);
    if (state->mode == MODE_INDEXED) {
        const uint32_t index = samples[0];
        for (int c = 0; c < 3; c++)
            samples[c] = state->palette[c * 256 + (int)index];
    } else if (state->mode == MODE_CMYK) { /* stored inverted: 255 is no ink */
        for (int c = 0; c < 4; c++)
            samples[c] = full - samples[c];
        smp_cmyk_pixel(state->cmyk, samples, samples);
        samples[3] = samples[4]; /* alpha, if any */
    } else if (state->mode == MODE_RGB && state->planes == 4 && state->bits < 32) {
        for (int c = 0; c < 3; c++)
            samples[c] = without_white(state, samples[c], samples[3], full);
    }
}

#if defined(__x86_64__)
/* Sixteen pixels at a time. Returns how many were stored. */
__attribute__((target("ssse3"))) static int64_t put_rgb_ssse3(const uint8_t *const *planes, int64_t width, uint8_t *to)
{
    enum { N = -1, LANES = 16 }; /* N: a byte of another plane */
    static const int8_t places[3][3][LANES] = {
        {{0, N, N, 1, N, N, 2, N, N, 3, N, N, 4, N, N, 5},
         {N, 0, N, N, 1, N, N, 2, N, N, 3, N, N, 4, N, N},
         {N, N, 0, N, N, 1, N, N, 2, N, N, 3, N, N, 4, N}},
        {{N, N, 6, N, N, 7, N, N, 8, N, N, 9, N, N, 10, N},
         {5, N, N, 6, N, N, 7, N, N, 8, N, N, 9, N, N, 10},
         {N, 5, N, N, 6, N, N, 7, N, N, 8, N, N, 9, N, N}},
        {{N, 11, N, N, 12, N, N, 13, N, N, 14, N, N, 15, N, N},
         {N, N, 11, N, N, 12, N, N, 13, N, N, 14, N, N, 15, N},
         {10, N, N, 11, N, N, 12, N, N, 13, N, N, 14, N, N, 15}},
    };
    __m128i masks[3][3];
    memcpy(masks, places, sizeof masks);
    int64_t x = 0;
    for (; x + LANES <= width; x += LANES) {
        __m128i plane[3];
        for (int c = 0; c < 3; c++)
            memcpy(&plane[c], planes[c] + x, LANES);
        for (int part = 0; part < 3; part++, to += LANES) {
            __m128i out = _mm_shuffle_epi8(plane[0], masks[part][0]);
            out = _mm_or_si128(out, _mm_shuffle_epi8(plane[1], masks[part][1]));
            out = _mm_or_si128(out, _mm_shuffle_epi8(plane[2], masks[part][2]));
            memcpy(to, &out, LANES);
        }
    }
    return x;
}
#endif

static void put_rgb(const uint8_t *const *planes, int64_t width, uint8_t *to)
{
    int64_t x = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("ssse3"))
        x = put_rgb_ssse3(planes, width, to);
#endif
    for (to += 3 * x; x < width; x++, to += 3) {
        to[0] = planes[0][x];
        to[1] = planes[1][x];
        to[2] = planes[2][x];
    }
}

/* Most files: 8 bits, samples as they are stored. */
static bool put_plain(const psd *state, const uint8_t *const *planes, int64_t width, uint8_t *to)
{
    if (state->bits != 8 || (state->mode == MODE_RGB ? state->planes != 3 : state->mode != MODE_GRAY))
        return false;
    if (state->planes == 1)
        memcpy(to, planes[0], (size_t)width);
    else if (state->planes == 3)
        put_rgb(planes, width, to);
    return state->planes == 1 || state->planes == 3;
}

static smp_code read_row(smp_reader *reader, int64_t y, void *row, smp_error *err)
{
    psd *state = reader->state;
    const smp_shape *shape = &reader->media.shape;
    const uint8_t *planes[MOST_PLANES];
    for (int c = 0; c < state->planes; c++)
        SMP_TRY(plane_row(reader, c, y, &planes[c], err));
    if (state->overlong)
        smp_note(&reader->notes, "its rows' runs are longer than the rows: what is beyond is left out");
    if (put_plain(state, planes, shape->width, row))
        return SMP_OK;
    for (int64_t x = 0; x < shape->width; x++) {
        uint32_t samples[MOST_PLANES] = {0};
        convert_pixel(state, planes, x, samples);
        for (int c = 0; c < shape->channels; c++) {
            const int64_t at = x * shape->channels + c;
            if (shape->format == SMP_F32)
                ((uint32_t *)row)[at] = samples[c];
            else if (shape->format == SMP_U16)
                ((uint16_t *)row)[at] = (uint16_t)samples[c];
            else
                ((uint8_t *)row)[at] = (uint8_t)samples[c];
        }
    }
    if (state->unblended)
        smp_note(&reader->notes, "where it is transparent, its colours are not blended with white, as Photoshop blends "
                                 "them: read as if they were, they differ from those of its layers");
    return SMP_OK;
}

static void read_close(smp_reader *reader)
{
    psd *state = reader->state;
    for (int i = 0; i < MOST_PLANES; i++)
        smp_stored_rows_free(&state->stored[i]);
    smp_free_all(state->starts, state->packed, state->lines);
    smp_cmyk_close(state->cmyk);
    smp_free(state);
}

const smp_file_format smp_format_psd = {
    .name = "PSD",
    .extensions = (const char *const[]){"psd", "psb", NULL},
    .kind = SMP_IMAGE,
    .sniff = sniff,
    .read_state = sizeof(psd),
    SMP_READS(row),
    .read_close = read_close,
};
