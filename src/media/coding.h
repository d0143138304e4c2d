/* Coding of a file's samples. A reader gives it, and a writer of the same kind keeps what it can of it, even with
 * --strip. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The sample types of sound files. The numbers are libsndfile's. */
typedef enum smp_sound_type {
    SMP_SOUND_NONE = 0,
    SMP_SOUND_S8 = 1,
    SMP_SOUND_S16 = 2,
    SMP_SOUND_S24 = 3,
    SMP_SOUND_S32 = 4,
    SMP_SOUND_U8 = 5,
    SMP_SOUND_F32 = 6,
    SMP_SOUND_F64 = 7,
    SMP_SOUND_ULAW = 0x10,
    SMP_SOUND_ALAW = 0x11,
    SMP_SOUND_IMA_ADPCM = 0x12,
    SMP_SOUND_MS_ADPCM = 0x13,
    SMP_SOUND_GSM = 0x20,
    SMP_SOUND_VORBIS = 0x60,
    SMP_SOUND_OPUS = 0x64,
    SMP_SOUND_MPEG_1 = 0x80, /* layers 1 to 3 */
    SMP_SOUND_MPEG_2 = 0x81,
    SMP_SOUND_MPEG_3 = 0x82
} smp_sound_type;

typedef struct smp_sound {
    int type;      /* an smp_sound_type; writers take the nearest that they support */
    uint32_t mask; /* the speakers, as bits of WAVE_FORMAT_EXTENSIBLE; 0: unknown */
    bool rf64;     /* a WAV made for more than 4 GB */
    bool alac;     /* packed without loss, as an M4A made of it is too */
} smp_sound;

enum { SMP_JPEG_DC_CODES = 12 };

/* Quantisation of a JPEG's components, their sampling, and its layout. */
typedef struct smp_jpeg_coding {
    int components; /* 1: gray, 3: YCbCr; 0: none that could be used again */
    uint8_t steps[3][64];
    uint8_t across[3], down[3]; /* sampling factors */
    uint8_t inks;               /* 1: of CMYK, which only JPEGs keep as it is coded */
    uint8_t progressive;        /* 1: coarse at first; told of files without components, too */
    uint8_t codes;              /* 1: the lengths of its Huffman codes are known, of luma and chroma, by symbol: */
    uint8_t dc_bits[2][SMP_JPEG_DC_CODES], ac_bits[2][256]; /* 0: there is no such code */
} smp_jpeg_coding;

/* Bits of a PNG, TIFF, GIF or BMP. Writers of PNG keep that where the samples still fit. */
typedef struct smp_png_coding {
    int bits; /* of a gray sample (1, 2, 4) or an index (1, 2, 4, 8); 0: neither */
    bool palette;
} smp_png_coding;

/* Writers of WebP keep it unless a quality is asked for. */
typedef struct smp_webp_coding {
    bool lossless;
} smp_webp_coding;

/* Samples without a header. */
typedef struct smp_raw_coding {
    bool big; /* integers of 16 bits have the highest byte first */
} smp_raw_coding;

typedef struct smp_video {
    uint32_t aspect[2]; /* width to height of a pixel; 0 0: unknown */
    int bits;           /* of a sample: 8 to 16; 0: the input was no video */
    int across, down;   /* log2 of how many pixels share a sample of chroma, sideways and downwards */
    bool gray, full;    /* luma alone; codes use their whole range, and not 16..235 of 255 */
    char fields;        /* y4m's I: p, t, b, m; 0: unknown */
    char siting[8];     /* y4m's name of where chroma lies: "jpeg", "mpeg2", "paldv"; "" */
} smp_video;

typedef enum smp_coding_kind {
    SMP_CODING_UNKNOWN,
    SMP_CODING_SOUND,
    SMP_CODING_JPEG,
    SMP_CODING_PNG,
    SMP_CODING_WEBP,
    SMP_CODING_RAW, /* of a picture */
    SMP_CODING_VIDEO
} smp_coding_kind;

typedef struct smp_coding {
    smp_coding_kind kind;
    uint32_t rate[2]; /* pictures a second of a stream: numerator, denominator; 0 0: unknown */
    uint32_t plays;   /* how often an animation is shown; 0: for ever, or not known */
    bool uneven;      /* pictures of it are shown for different times: smp_reader_delay */
    union {
        smp_sound sound;
        smp_jpeg_coding jpeg;
        smp_png_coding png;
        smp_webp_coding webp;
        smp_raw_coding raw;
        smp_video video;
    };
} smp_coding;

/* Makes it one of this kind, of which nothing is known, unless it is one already. Keeps the times. */
void smp_coding_begin(smp_coding *coding, smp_coding_kind kind);

/* The part of that kind; zeroed where it is of another. */
const smp_sound *smp_coding_sound(const smp_coding *coding);
const smp_jpeg_coding *smp_coding_jpeg(const smp_coding *coding);
const smp_png_coding *smp_coding_png(const smp_coding *coding);
const smp_webp_coding *smp_coding_webp(const smp_coding *coding);
const smp_raw_coding *smp_coding_raw(const smp_coding *coding);
const smp_video *smp_coding_video(const smp_coding *coding);
