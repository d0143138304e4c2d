/* A PNG's texts and EXIF, before or after the picture. Those after it are given to a second libpng reader as the
 * metadata of a one-pixel picture, so that the same code decodes them under the same limits. */
#include <string.h>

#include "base/alloc.h"
#include "io/bytes.h"
#include "io/png/png_glue.h"

enum {
    CHUNK_CAP = 16 << 20, /* bytes of one chunk, uncompressed: the largest ICC profiles are about 4 MB */
    CHUNKS_CAP = 1000,    /* texts and other chunks to keep */
    LATE_CAP = 64,        /* chunks after the picture to keep */
    WALK_CAP = 1 << 20,   /* chunks to walk over */
    MOST_CHUNKS = 10000,  /* beside those of pictures; files have a few dozen */
    SIGNATURE = 8,        /* bytes */
    FRAME = 12            /* bytes of a chunk besides its data: length, type, CRC */
};

void smp_png_limit(smp_png *state)
{
    png_set_user_limits(state->png, INT32_MAX, INT32_MAX); /* sizes were checked before libpng sees them */
    png_set_chunk_cache_max(state->png, CHUNKS_CAP);
    png_set_chunk_malloc_max(state->png, CHUNK_CAP);
    png_set_crc_action(state->png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD); /* png_warned() decides about those */
    png_set_benign_errors(state->png, 1); /* damaged metadata does not lose the picture: png_warned() */
#ifdef PNG_SKIP_sRGB_CHECK_PROFILE
    png_set_option(state->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON); /* keep old sRGB profiles as they are */
#endif
}

/* Whether a chunk holds a part of a picture, or of an animation: large ones have many. */
static bool is_of_picture(const uint8_t *type)
{
    static const char types[][5] = {"IDAT", "fcTL", "fdAT"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (memcmp(type, types[i], 4) == 0)
            return true;
    return false;
}

void smp_png_count_chunk(smp_png *state, const uint8_t *frame)
{
    if (is_of_picture(frame + 4) || ++state->chunks <= MOST_CHUNKS)
        return;
    smp_fail(state->err, SMP_E_LIMIT, "the PNG has more than %d chunks beside its picture's", MOST_CHUNKS);
    smp_hint(state->err, "if the file is to be trusted, remove its metadata with another program first");
    smp_png_stop(state, SMP_E_LIMIT);
}

void smp_png_keep_texts(smp_png *state, smp_media *media)
{
    smp_meta *meta = &media->meta;
    png_textp texts;
    int count = 0;
    png_get_text(state->png, state->info, &texts, &count);
    for (int i = 0; i < count; i++) {
        size_t length = texts[i].compression >= PNG_ITXT_COMPRESSION_NONE ? texts[i].itxt_length : texts[i].text_length;
        if (!texts[i].text)
            length = 0;
        smp_png_need(state, smp_meta_add_text(meta, texts[i].key, length ? texts[i].text : "", length), "a text",
                     length);
    }
    png_uint_32 size;
    png_bytep exif;
    if (!png_get_eXIf_1(state->png, state->info, &size, &exif) || meta->exif.data)
        return;
    if (size > 6 && memcmp(exif, "Exif\0", 6) == 0) { /* some writers keep JPEG's prefix */
        exif += 6;
        size -= 6;
    }
    smp_png_need(state, smp_blob_set(&meta->exif, exif, size), "EXIF", size);
    media->orientation = smp_exif_orientation(exif, size);
}

typedef struct piece {
    const uint8_t *text; /* null: the source's bytes */
    uint64_t position, size;
} piece;

/* A picture of one pixel, and chunks of the source as if they were that picture's. */
typedef struct beside {
    smp_png base;
    smp_reader *reader;
    piece pieces[LATE_CAP + 2];
    int count, next;
    uint64_t done; /* bytes of the next piece that were given */
    bool goes_on;  /* with what the source has next */
} beside;

/* The header of a one-pixel gray picture; the beginning of its data, where libpng stops; all of its data. */
static const uint8_t head[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13, 'I',  'H',  'D',  'R', 0,
                               0,    0,   1,   0,   0,    0,    1,    8,    0, 0, 0, 0,  0x3A, 0x7E, 0x9B, 0x55};
static const uint8_t tail[] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'};
static const uint8_t pixel[] = {0,    0,    0,    10,   'I',  'D',  'A',  'T',  0x78, 0x01, 0x63,
                                0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01, 0x73, 0x75, 0x01, 0x18};

static void feed(png_structp png, png_bytep to, size_t size)
{
    beside *state = png_get_io_ptr(png);
    smp_source *source = state->base.source;
    while (size && state->next < state->count) {
        const piece *from = &state->pieces[state->next];
        const size_t n = from->size - state->done < size ? (size_t)(from->size - state->done) : size;
        if (from->text)
            memcpy(to, from->text + state->done, n);
        else if (!smp_source_look(source, from->position + state->done, to, n))
            png_error(png, "cannot read behind the picture");
        to += n;
        size -= n;
        state->done += n;
        if (state->done == from->size) {
            state->next++;
            state->done = 0;
        }
    }
    if (size && !state->goes_on)
        png_error(png, "read past the metadata");
    if (size && smp_source_read(source, to, size) != size) {
        const smp_code code = smp_source_ended(source, state->base.err);
        smp_png_stop(&state->base, code == SMP_E_DECODE ? smp_hint_no_verify(state->base.err) : code);
    }
    if (size == 8)
        smp_png_count_chunk(&state->base, to);
}

static void read_beside(void *context)
{
    beside *state = context;
    png_byte row[1];
    smp_png_limit(&state->base);
    png_set_read_fn(state->base.png, state, feed);
    png_read_info(state->base.png, state->base.info);
    if (state->goes_on) {
        png_read_row(state->base.png, row, NULL);
        png_read_end(state->base.png, NULL);
        return;
    }
    smp_png_keep_texts(&state->base, &state->reader->media);
    if (state->base.refused)
        png_error(state->base.png, "memory");
}

/* Reads the picture that these chunks of the source make, or what follows its position. */
static smp_code open_beside(smp_reader *reader, const piece *chunks, int count, smp_error *err)
{
    beside *state = smp_alloc(sizeof *state);
    SMP_NEED(state, "PNG", sizeof *state, err);
    state->reader = reader;
    state->goes_on = !count;
    state->count = count + 2;
    state->pieces[0] = (piece){head, 0, sizeof head};
    for (int i = 0; i < count; i++)
        state->pieces[1 + i] = chunks[i];
    state->pieces[1 + count] = count ? (piece){tail, 0, sizeof tail} : (piece){pixel, 0, sizeof pixel};
    state->base.source = &reader->source;
    state->base.fault = SMP_E_DECODE;
    state->base.notes = &reader->notes;
    state->base.cap = SMP_PNG_METADATA_CAP;
    smp_code code = smp_png_create(&state->base, true, err);
    if (code == SMP_OK)
        code = smp_png_guard(&state->base, read_beside, state, err);
    smp_png_destroy(&state->base, true);
    smp_free(state);
    return code;
}

/* Whether a chunk of this length and type begins there. */
static bool is_chunk(const smp_source *source, uint64_t position, const uint8_t *frame)
{
    uint8_t there[8];
    return smp_source_look(source, position, there, 8) && memcmp(there, frame, 8) == 0;
}

/* The position of the last chunk in a run of chunks as long as the one at position. A large picture has thousands of 8
 * KB chunks, and reading every header takes longer than the program's start. Doubles the distance while a chunk of that
 * length and type begins there, then halves it. A file crafted to fool this loses its texts. */
static uint64_t last_alike(const smp_source *source, uint64_t position, const uint8_t *frame)
{
    const uint64_t step = (uint64_t)smp_get_be(frame, 4) + FRAME;
    uint64_t jump = 1;
    for (; is_chunk(source, position + jump * step, frame); jump *= 2)
        position += jump * step;
    for (jump /= 2; jump > 0; jump /= 2)
        if (is_chunk(source, position + jump * step, frame))
            position += jump * step;
    return position;
}

/* Stops silently at invalid chunks, and at one that is cut short: reading the picture will report them. *left: chunks
 * that are not read. */
static int find_chunks(const smp_source *source, piece *chunks, smp_names *left)
{
    /* The last two are no loss: when the old file was written, and a viewer's background, which ImageMagick puts into
     * every PNG. */
    static const char read[] = "IHDR PLTE IDAT tRNS cHRM gAMA iCCP sRGB pHYs cICP mDCV cLLI tEXt zTXt iTXt eXIf acTL "
                               "fcTL fdAT tIME bKGD";
    static const char types[][5] = {"tEXt", "zTXt", "iTXt", "eXIf"};
    uint64_t position = SIGNATURE;
    uint8_t frame[8];
    bool behind = false;
    int count = 0, others = 0;
    for (int i = 0; i < WALK_CAP && count < LATE_CAP && smp_source_look(source, position, frame, 8); i++) {
        others += !is_of_picture(frame + 4);
        if (others > MOST_CHUNKS) /* reading the picture will report them */
            break;
        const uint64_t size = smp_get_be(frame, 4);
        if (memcmp(frame + 4, "IEND", 4) == 0 || size + FRAME > source->size - position)
            break;
        char name[5] = "";
        memcpy(name, frame + 4, 4);
        if (!strstr(read, name))
            smp_names_add(left, name);
        if (memcmp(frame + 4, "IDAT", 4) == 0) {
            behind = true;
            position = last_alike(source, position, frame);
        }
        for (int k = 0; behind && k < 4; k++)
            if (memcmp(frame + 4, types[k], 4) == 0)
                chunks[count++] = (piece){NULL, position, size + FRAME};
        position += size + FRAME;
    }
    return count;
}

smp_code smp_png_read_late(smp_reader *reader, smp_error *err)
{
    piece chunks[LATE_CAP];
    smp_names left = {.count = 0};
    const int count = find_chunks(&reader->source, chunks, &left);
    if (left.count)
        smp_note(&reader->notes, "chunks of the PNG are left out: %s", smp_names_end(&left));
    return count ? open_beside(reader, chunks, count, err) : SMP_OK;
}

smp_code smp_png_read_behind(smp_reader *reader, uint64_t position, smp_error *err)
{
    return smp_source_seek(&reader->source, position) ? open_beside(reader, NULL, 0, err)
                                                      : smp_fail(err, SMP_E_READ, "cannot read the file again");
}
