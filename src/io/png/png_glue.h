/* Shared by the PNG reader and writer: libpng's errors as ours, its memory counted and limited. */
#pragma once

#include <png.h>
#include <setjmp.h>

#include "io/format.h"
#include "io/images/colour_table.h"

/* The cut of a truncated file, so that it is read as if it ended as a PNG does (png_cut.c). */
typedef struct smp_png_cut {
    bool is;
    uint64_t at;    /* its last chunk begins there, which is not whole; */
    uint32_t size;  /* bytes of the picture that it has */
    bool data;      /* it is one of the picture's */
    uint64_t given; /* bytes from `at` on, or in place of them */
    uint32_t crc;
} smp_png_cut;

/* Looks for the last chunk of a source that can be read elsewhere. Not cut: a file that is whole, is damaged, or has
 * nothing of its picture. */
smp_png_cut smp_png_find_cut(const smp_source *source);

/* Reads on in a file that is cut: the last chunk of the picture ends where the file does, with its checksum, and the
 * end of the PNG follows. False: nothing is left. */
bool smp_png_read_cut(smp_png_cut *cut, smp_source *source, void *to, size_t size);

typedef struct smp_png {
    png_structp png;
    png_infop info;
    jmp_buf jump;
    smp_error *err; /* of the call in progress */
    smp_code code;
    uint64_t live, cap; /* bytes that libpng holds, and may hold */
    uint64_t refused;   /* bytes of the first allocation that failed or exceeded the cap; 0: none */
    bool over_cap;
    int left_out;        /* reading: chunks */
    smp_notes *notes;    /* reading: the reader's */
    bool icc_damaged;    /* reading: the profile's CRC is wrong */
    char icc_fault[100]; /* reading: libpng's complaint about the profile */
    uint32_t chunks;     /* reading: beside those of pictures */
    smp_source *source;  /* reading */
    bool lacks_rows;     /* reading: the picture's data ended too early */
    bool lenient;        /* reading: with --no-verify */
    smp_output *output;  /* writing */
    smp_code fault;      /* the code for libpng's messages other than memory and input: SMP_E_DECODE or SMP_E_WRITE */
} smp_png;

/* Makes the libpng structs. state: zeroed, with fault and source or output set. It must not move. */
smp_code smp_png_create(smp_png *state, bool reading, smp_error *err);

/* Runs body(context), in which libpng may fail anywhere; a failure is returned as the code. The only setjmp. The body's
 * local variables are lost on failure, so what must be freed belongs into context. */
smp_code smp_png_guard(smp_png *state, void (*body)(void *context), void *context, smp_error *err);

/* Inside a guard: stops with an error that is already filled in. */
_Noreturn void smp_png_stop(smp_png *state, smp_code code);

/* The same where there is no memory. */
static inline void smp_png_need(smp_png *state, bool done, const char *what, uint64_t size)
{
    if (!done)
        smp_png_stop(state, smp_fail_memory(state->err, what, size));
}

void smp_png_destroy(smp_png *state, bool reading);

enum { SMP_PNG_METADATA_CAP = 64 << 20 }; /* bytes that libpng may hold while reading, besides rows */

/* Reading: sets the limits for every file. */
void smp_png_limit(smp_png *state);

/* Inside a guard: counts a chunk by its length and type, and stops where the file has too many. */
void smp_png_count_chunk(smp_png *state, const uint8_t *frame);

/* Inside a guard: reads all passes of an interlaced picture of so many bits a pixel into rows of `row` bytes, which are
 * zero. line: room for a row. In png_interlace.c. */
void smp_png_read_passes(png_structp png, int bits, uint32_t width, uint32_t height, uint8_t *line, uint8_t *whole,
                         size_t row);

/* Samples of a stored row of gray or palette indices of 1 to 8 bits, as libpng would make them. In png_expand.c. */
typedef struct smp_png_expand smp_png_expand;
smp_png_expand *smp_png_expand_new(png_structp png, png_infop info); /* null: no memory */
int smp_png_expand_channels(const smp_png_expand *expand);
void smp_png_expand_row(const smp_png_expand *expand, const uint8_t *from, uint8_t *to, int64_t width);
void smp_png_expand_free(smp_png_expand *expand);

/* Inside a guard: copies the texts and EXIF that libpng has read to media. */
void smp_png_keep_texts(smp_png *state, smp_media *media);

/* Texts and EXIF may also follow the picture, where libpng would find them only after the last row. Looks ahead for
 * them when the source can be read elsewhere. */
smp_code smp_png_read_late(smp_reader *reader, smp_error *err);

/* Behind the others: texts that hold EXIF, XMP or IPTC in digits become those, where the file has none. */
smp_code smp_png_read_raw(smp_reader *reader, smp_error *err);

/* Checks the chunks from `position` on, after the picture, as libpng does. */
smp_code smp_png_read_behind(smp_reader *reader, uint64_t position, smp_error *err);

/* In png_read.c and png_write.c; png.c puts them into the table. */
bool smp_png_sniff(const uint8_t *head, size_t size);
SMP_DECLARE_READER(smp_png, rows);
smp_code smp_png_read_end(smp_reader *reader, smp_error *err);
smp_code smp_png_read_next(smp_reader *reader, bool *more, smp_error *err);

/* A reader of PNG that is open becomes one of all pictures of the animation, shown `plays` times. said: how
 * many there should be. */
smp_code smp_png_frames_open(smp_reader *reader, uint32_t said, uint32_t plays, smp_error *err);
extern const smp_file_format smp_png_frames;
SMP_DECLARE_WRITER(smp_png, rows);

/* PNGs of fewer bits: gray of 1, 2 or 4, and palettes. What they hold is known behind the last row alone, so that the
 * picture is kept until then, a byte a pixel. */

/* The options --png-level (0 fastest .. 9 smallest; -1: default), --png-bits (of a sample or index: 1, 2, 4 or 8; 0: 8
 * or 16, or the fewest that do with a palette) and
 * --png-palette (colours by palette, gray with as few bits as do). */
extern const smp_write_option smp_png_level, smp_png_bits, smp_png_palette;

typedef struct smp_png_pack {
    int bits;                 /* of a sample or index: 1, 2, 4 or 8; 0: to be chosen */
    smp_colour_table palette; /* without colours: gray */
    bool seen[SMP_COLOURS];   /* values of a gray picture */
    bool full;                /* there are more than 256 colours */
    bool kept;                /* nobody asked for it: a gray picture of 8 bits has too many as well */
    int channels;
    int64_t width, height, row_bytes; /* row_bytes: of a packed row, once it is packed */
    uint8_t *rows;                    /* first a byte a pixel, then packed */
} smp_png_pack;

/* Whether these options ask for it. */
static inline bool smp_png_pack_wanted(const smp_write_options *options)
{
    return smp_write_value(&options->values, &smp_png_bits) || smp_write_value(&options->values, &smp_png_palette);
}

/* Fails for what has no such form. *pack: freed by smp_png_pack_close, on failure too. */
smp_code smp_png_pack_open(const smp_shape *shape, const smp_write_options *options, smp_png_pack **pack,
                           smp_error *err);
/* Takes rows from row y on. Returns how many: fewer when one does not fit, and then no more should come. */
int64_t smp_png_pack_put(smp_png_pack *pack, int64_t y, const void *from, int64_t stride, int64_t rows);

/* Rows that were taken, as they came, one behind the other. */
void smp_png_pack_restore(const smp_png_pack *pack, int64_t y, int64_t rows, void *to);

/* For an input of few bits: asks for as many as do. *pack is null where the picture, or its size, does not suit. */
smp_code smp_png_pack_keep(const smp_shape *shape, const smp_png_coding *coding, smp_png_pack **pack, smp_error *err);

/* Behind the last row: chooses, and packs; fails where samples do not fit. */
smp_code smp_png_pack_finish(smp_png_pack *pack, smp_error *err);
void smp_png_pack_close(smp_png_pack *pack);

/* Reads the picture of a plain PNG (8 or 16 bits, gray or RGB, with or without alpha, not interlaced) with ISA-L's
 * inflate and our own unfiltering: several times as fast as libpng, which still reads everything before and after it.
 * This code refuses nothing: after anything unusual libpng reads the file again from its beginning and decides. */

typedef struct smp_png_plain smp_png_plain;

/* Rows of row_bytes, pixels of pixel_bytes (1, 2, 3, 4, 6 or 8), samples of sample_bytes (1, or 2, which are swapped to
 * native order). source: right after the header of the first IDAT chunk, which has `left` bytes. *out is null with
 * SMP_OK in a build without ISA-L. */
smp_code smp_png_plain_open(smp_source *source, uint32_t left, int64_t row_bytes, int pixel_bytes, int sample_bytes,
                            smp_png_plain **out, smp_error *err);

/* The next rows. False: something is unusual, and `to` is undefined. */
bool smp_png_plain_rows(smp_png_plain *plain, void *to, int64_t stride, int64_t rows);

/* After the last row: whether the stream ends correctly. *next: where in the source the next chunk begins. */
bool smp_png_plain_end(smp_png_plain *plain, uint64_t *next);

void smp_png_plain_close(smp_png_plain *plain);

/* The picture data of a PNG, compressed in blocks of rows on several threads. Each block is filtered and deflated alone
 * and ends on a byte boundary, so that the blocks' outputs, one IDAT chunk each, form one valid stream. The blocks
 * depend only on the picture's shape and the level: strips and threads do not change the bytes. */

typedef struct smp_png_blocks smp_png_blocks;

typedef struct smp_png_blocks_setup {
    int64_t row_bytes; /* of the picture: samples without a filter byte */
    int64_t rows;
    int pixel_bytes; /* 1 to 8 */
    bool swap;       /* samples are 16-bit and little-endian */
    int level;       /* 0 fastest .. 9 smallest: png_deflate.h */
    int threads;     /* for compression; 1 or more */
} smp_png_blocks_setup;

smp_code smp_png_blocks_open(const smp_png_blocks_setup *setup, smp_png_blocks **out, smp_error *err);
void smp_png_blocks_close(smp_png_blocks *blocks);

/* Takes at most `rows` rows. Returns how many: fewer when chunks must be fetched first. The rows are borrowed and must
 * not change until smp_png_blocks_settle. */
int64_t smp_png_blocks_put(smp_png_blocks *blocks, const void *from, int64_t stride, int64_t rows);

/* Ends the borrowing of rows: waits until full blocks have been read (they need not be compressed yet), and copies the
 * rows of a partial block. */
void smp_png_blocks_settle(smp_png_blocks *blocks);

/* Whether smp_png_blocks_next must be called: all blocks are in use, or the picture is complete and chunks are left. */
bool smp_png_blocks_due(const smp_png_blocks *blocks);

/* The next IDAT chunk, from its length to its CRC. Waits until it is compressed. Valid until the next put. */
const uint8_t *smp_png_blocks_next(smp_png_blocks *blocks, size_t *size);
