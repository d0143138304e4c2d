/* Options for reading an input. */
#pragma once

#include "base/limits.h"

/* The samples of an input without a header (--raw), one after another. */
typedef struct smp_raw {
    bool given, sound;
    bool real, big; /* kind of sample: float or integer; highest byte first */
    int bytes;      /* of a sample */
    int channels;
    int64_t width, height; /* of a picture */
    double rate;           /* of a sound */
    uint64_t offset;       /* bytes in front of the first sample */
} smp_raw;

/* Data that the run asks for besides rows, if the format can give it. Zeroed: rows alone. */
typedef struct smp_read_want {
    int shrink;         /* decode at 1/2, 1/4, 1/8 of the size; 0: whole */
    uint64_t scan_from; /* pixels from which on a picture's coded scan replaces its rows (smp_media.scan); 0: never */
    bool coded;         /* the coded data of a picture or sound instead of its rows (smp_media.coded) */
    int64_t from, part; /* with `coded`, of a sound: so many frames from that one on; part 0: all */
    bool live;          /* a sound from a pipe may come as it is made: see smp_media.live */
    bool letters;       /* the input is a text and a font, and the rows are marks (io/font/font.c) */
    bool whole;         /* it is likely small, and read whole to memory that smp_reader_shared gives: rows may be there
                           before they are asked for */
} smp_read_want;

/* How camera raw is developed. Zeroed: by the camera's white balance, to sRGB, at full size. */
typedef struct smp_read_camera {
    int white; /* an smp_camera_white */
    bool linear, half;
} smp_read_camera;

typedef enum smp_camera_white { SMP_WHITE_CAMERA, SMP_WHITE_AUTO, SMP_WHITE_NONE } smp_camera_white;

typedef struct smp_read_options {
    smp_limits limits;
    bool memory_meant;  /* limits.max_memory was given, and a small file may take all of it */
    double time_limit;  /* seconds that decoding a file may take, where decoders are processes; 0: by its size */
    int64_t page;       /* which one of a file that holds several is read, 1 first; 0: the first, with a note */
    double dpi;         /* at which PDF and SVG are drawn; 0: the usual */
    int64_t draw_width; /* in pixels, of what is drawn; 0: by dpi */
    smp_read_camera camera;
    bool frames;    /* all pictures of a file are wanted, one after another */
    bool no_verify; /* do not check the checksums of decoded data */
    smp_raw raw;    /* the input has no header, and this is what it would say */
    smp_read_want want;
} smp_read_options;

static inline smp_read_options smp_read_defaults(void)
{
    return (smp_read_options){.limits = smp_limits_default()};
}
