/* What the PNG reader and writer share: libpng's errors as ours, its memory counted and capped. */
#ifndef SMP_IO_PNG_PNG_GLUE_H
#define SMP_IO_PNG_PNG_GLUE_H

#include <png.h>
#include <setjmp.h>

#include "io/format.h"

typedef struct smp_png {
    png_structp png;
    png_infop info;
    jmp_buf jump;
    smp_error *err; /* of the call in progress */
    smp_code code;
    uint64_t live, cap; /* bytes that libpng holds, and may hold */
    uint64_t refused;   /* bytes of the first allocation that failed or passed the cap; 0: none */
    bool over_cap;
    smp_notes *notes;    /* reading: the reader's */
    bool icc_damaged;    /* reading: the profile's CRC is wrong */
    char icc_fault[100]; /* reading: what libpng said of the profile */
    smp_source *source;  /* reading */
    smp_output *output;  /* writing */
    smp_code fault;      /* of a message of libpng's that is not memory or input: SMP_E_DECODE or SMP_E_WRITE */
} smp_png;

/* Makes the libpng structs. state: zeroed, with fault and source or output set; it must not move. */
smp_code smp_png_create(smp_png *state, bool reading, smp_error *err);

/* Runs body(context), in which libpng may fail at any point: its failure comes back as the code. The only setjmp;
 * body's own variables are lost on failure, so what must be freed lives in context. */
smp_code smp_png_guard(smp_png *state, void (*body)(void *context), void *context, smp_error *err);

/* Inside a guard: stops with an error that was filled in already. */
_Noreturn void smp_png_stop(smp_png *state, smp_code code);

void smp_png_destroy(smp_png *state, bool reading);

enum { SMP_PNG_METADATA_CAP = 64 << 20 }; /* bytes that libpng may hold while reading, besides rows */

/* Reading: the limits that any file is read under. */
void smp_png_limit(smp_png *state);

/* Inside a guard: copies texts and EXIF that libpng has read into media. */
void smp_png_keep_texts(smp_png *state, smp_media *media);

/* Texts and EXIF may also stand behind the picture, where libpng would find them only after the last row: looks ahead
 * for them, when the source can be looked into. */
smp_code smp_png_read_late(smp_reader *reader, smp_error *err);

/* Checks the chunks from `position` on, which stand behind the picture, as libpng does. */
smp_code smp_png_read_behind(smp_reader *reader, uint64_t position, smp_error *err);

/* png_read.c and png_write.c, which png.c puts together. */
bool smp_png_sniff(const uint8_t *head, size_t size);
smp_code smp_png_read_open(smp_reader *reader, smp_error *err);
smp_code smp_png_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_png_read_end(smp_reader *reader, smp_error *err);
void smp_png_read_close(smp_reader *reader);
smp_code smp_png_write_shape(const char *extension, smp_shape *shape, smp_error *err);
smp_code smp_png_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);
smp_code smp_png_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_png_write_end(smp_writer *writer, smp_error *err);
void smp_png_write_close(smp_writer *writer);

#endif
