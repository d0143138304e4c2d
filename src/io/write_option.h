/* Options of files that are written. Each is one row: in the file of the format that has it, or in write_taken.c where
 * several formats do. Formats list what they take (smp_file_format.takes), and from that follow --help, completion,
 * checks, and the warning for an option that no output is of a format for. */
#pragma once

#include "media/shape.h"

typedef enum smp_write_type { SMP_WRITE_FLAG, SMP_WRITE_NUMBER, SMP_WRITE_CHOICE } smp_write_type;

/* Flags of an option: how help shows it, and whether it may be idle. */
enum {
    SMP_WRITE_RARE = 1,  /* among the last, and not by -h */
    SMP_WRITE_ALONE = 2, /* of a choice: without a value it is the second word */
    SMP_WRITE_SAID = 4,  /* a choice whose default help names */
    SMP_WRITE_KEPT = 8   /* formats that do not take it do nothing else, or refuse it */
};

typedef struct smp_write_option {
    const char *name; /* "png-level", without dashes */
    smp_write_type type;
    int min, max, unset;        /* NUMBER: inclusive bounds, and the value that stands for none; else unset is 0 */
    const char *const *choices; /* CHOICE: null-terminated words, the first of which is the default */
    const char *argument;       /* what help calls the value */
    const char *help;
    unsigned flags;
    unsigned must; /* values that make another file, a bit each: formats without them refuse them */
} smp_write_option;

/* An option that a format takes. words: the choices that it takes, a bit each from the first word on; 0: all. A list
 * ends with a null option. */
typedef struct smp_write_takes {
    const smp_write_option *option;
    unsigned words;
} smp_write_takes;

enum { SMP_WRITE_OPTIONS = 24 }; /* the most that all formats have together */

/* Options that were given. Zeroed: none. */
typedef struct smp_write_values {
    struct {
        const smp_write_option *option;
        int value; /* FLAG: 1; CHOICE: the index of the word */
    } items[SMP_WRITE_OPTIONS];
    size_t count;
} smp_write_values;

/* Returns the value that was given, or `unset`. */
int smp_write_value(const smp_write_values *values, const smp_write_option *option);
/* `unset` takes a value back. */
void smp_write_set(smp_write_values *values, const smp_write_option *option, int value);

/* All options of all formats, each once, in the formats' order; null past the last. */
const smp_write_option *smp_write_option_at(size_t index);
/* Returns the kind of media in the formats that take this option. */
smp_kind smp_write_option_kind(const smp_write_option *option);
/* Whether a format (smp_media.file_format) takes this value. */
bool smp_write_taken(const char *file_format, const smp_write_option *option, int value);
/* Whether this value makes another file, so that formats without it refuse it. */
bool smp_write_must(const smp_write_option *option, int value);
/* The names of the formats that take this value, with commas between them. */
void smp_write_takers(const smp_write_option *option, int value, char *text, size_t size);

/* Options of several formats. */
extern const smp_write_option smp_write_quality;  /* 1..100; 0: the format's default */
extern const smp_write_option smp_write_bitrate;  /* kbit/s of all channels together; 0: the default, or by quality */
extern const smp_write_option smp_write_lossless; /* formats that always lose some refuse it */
extern const smp_write_option smp_write_delay;    /* of animations: milliseconds a picture; 0: as the input */
extern const smp_write_option smp_write_loop;     /* of animations: how often, 0: for ever; -1: as the input */
extern const smp_write_option smp_write_samples;  /* kind of sample: an smp_write_sample */

typedef enum smp_write_sample {
    SMP_SAMPLES_KEEP,
    SMP_SAMPLES_8,
    SMP_SAMPLES_16,
    SMP_SAMPLES_24,
    SMP_SAMPLES_32,
    SMP_SAMPLES_FLOAT,
    SMP_SAMPLES_DOUBLE,
    SMP_SAMPLES_ALAW,
    SMP_SAMPLES_MULAW,
    SMP_SAMPLES_HALF /* of arrays */
} smp_write_sample;

/* For smp_write_takes.words: */
enum {
    SMP_WORDS_PCM = 1u << SMP_SAMPLES_8 | 1u << SMP_SAMPLES_16 | 1u << SMP_SAMPLES_24 | 1u << SMP_SAMPLES_32,
    SMP_WORDS_REAL = 1u << SMP_SAMPLES_FLOAT | 1u << SMP_SAMPLES_DOUBLE,
    SMP_WORDS_LAW = 1u << SMP_SAMPLES_ALAW | 1u << SMP_SAMPLES_MULAW
};
