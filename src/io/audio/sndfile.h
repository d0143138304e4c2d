/* Shared by sndfile.c (reading) and sndfile_write.c. */
#pragma once

#include "io/audio/sound.h"

smp_code smp_sndfile_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);
smp_code smp_sndfile_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
smp_code smp_sndfile_write_end(smp_writer *writer, smp_error *err);
void smp_sndfile_write_close(smp_writer *writer);

extern const smp_write_option smp_mp3_vbr;

#ifdef SMP_HAVE_SNDFILE
#include <sndfile.h>

#include "io/audio/flac_stream.h"
#include "io/audio/ogg_pages.h"

enum {
    SMP_SNDFILE_SAMPLES = 8192 /* of the buffer */,
    SMP_SNDFILE_PORTION = 1024 /* frames that are written at once; the library takes as many of Vorbis */,
    SMP_SNDFILE_PATCH = 42 /* bytes: a FLAC up to the end of STREAMINFO */
};

typedef struct smp_sndfile {
    SNDFILE *file;
    float *buffer;        /* SMP_SNDFILE_SAMPLES floats, or as many 32-bit integers */
    bool real;            /* the library works with floats; false: integers, whose high bits are the sample */
    int bits;             /* of those integers */
    const uint8_t *order; /* Vorbis and Opus: the position of WAV's channel c; null: the same order */
    smp_source *source;   /* reader; so are the members up to verify */
    smp_ogg_link *links;  /* the chain of streams; one entry for other formats than Ogg */
    size_t link_count, at_link;
    smp_ogg_link link;                /* the one that the library sees as its file */
    int64_t left;                     /* frames of it that are not read yet */
    uint8_t patch[SMP_SNDFILE_PATCH]; /* its first patch_size bytes as the library sees them, with the right length */
    size_t patch_size;
    smp_flac_info info;       /* of FLAC */
    smp_md5 md5;              /* of the samples read */
    smp_sound_over over;      /* writer */
    int64_t put;              /* writer: frames */
    bool verify;              /* check it against info */
    smp_output *output;       /* writer */
    smp_ogg_pages *pages;     /* writer of Ogg: the incomplete page */
    smp_bytes held;           /* writer to a pipe: the whole file, since the library seeks back to the header, */
    bool streams;             /* unless what is written goes on at once */
    int64_t have;             /* writer: frames in the buffer */
    int64_t position, length; /* writer: the library's position, and the furthest it reached */
    smp_bytes comment;        /* writer of FLAC: of a comment what follows its vendor; empty: the library's stays */
    smp_bytes pictures;       /* its blocks with pictures */
    smp_bytes head;           /* the library's blocks while they are not complete */
    int64_t more;             /* writer: bytes that the file has and the library does not know of, */
    int64_t more_at;          /* from this position of its on */
    smp_code code;            /* writer: the first failure, with its message */
    smp_error *err;
} smp_sndfile;

/* The position of each of WAV's channels (L R C LFE BL BR ...) in a Vorbis frame; null when the orders are equal. */
const uint8_t *smp_vorbis_order(int channels);
#endif
