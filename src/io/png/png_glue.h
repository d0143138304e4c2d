/* Shared by the PNG reader and writer: libpng's errors as ours, its memory counted and limited. */
#pragma once

#include <png.h>
#include <setjmp.h>

#include "io/format.h"

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

/* Checks the chunks from `position` on, after the picture, as libpng does. */
smp_code smp_png_read_behind(smp_reader *reader, uint64_t position, smp_error *err);

/* In png_read.c and png_write.c; png.c puts them into the table. */
bool smp_png_sniff(const uint8_t *head, size_t size);
SMP_DECLARE_READER(smp_png, rows);
smp_code smp_png_read_end(smp_reader *reader, smp_error *err);
SMP_DECLARE_WRITER(smp_png, rows);
