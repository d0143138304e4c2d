/* Pictures and sounds in files, as rows. Readers recognise a format by its content, writers by the name's extension.
 * Readers deliver rows in order, once. Writers write to a temporary file in the target's folder, which only commit()
 * puts in place, so that a failure at any moment leaves what was there before. */
#ifndef SMP_IO_MEDIA_H
#define SMP_IO_MEDIA_H

#include "base/error.h"
#include "base/limits.h"
#include "base/notes.h"
#include "stages/stage.h"

typedef struct smp_blob {
    unsigned char *data;
    size_t size;
} smp_blob;

/* How the samples of a sound lie in its file; the numbers are libsndfile's. */
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
    SMP_SOUND_VORBIS = 0x60,
    SMP_SOUND_OPUS = 0x64
} smp_sound_type;

/* Of a sound's file; kept by writers even with --strip, since it is about the samples. */
typedef struct smp_sound {
    int type;      /* an smp_sound_type; writers take the nearest that they have */
    uint32_t mask; /* which speakers, the bits of WAVE_FORMAT_EXTENSIBLE; 0: not said */
    bool rf64;     /* a WAV made for more than 4 GB */
} smp_sound;

/* The key of an XMP packet among the texts: PNG's (XMP Specification, part 3, 1.1.5). */
#define SMP_XMP_KEY "XML:com.adobe.xmp"

/* What is kept beside the samples unless --strip. Blobs are from smp_alloc and owned by the meta. */
typedef struct smp_meta {
    smp_blob icc;      /* ICC profile */
    char icc_name[80]; /* PNG's name for it */
    smp_blob exif;     /* TIFF structure without "Exif\0\0"; its orientation is reset to 1 when applied */
    double gamma;      /* PNG gAMA; 0: absent */
    int srgb_intent;   /* PNG sRGB; -1: absent */
    bool has_chrm;
    double chrm[8];              /* PNG cHRM: white x y, red x y, green x y, blue x y */
    double x_density, y_density; /* pixels a metre; 0: absent */
    bool density_is_aspect;
    bool has_cicp, has_mdcv, has_clli;
    uint8_t cicp[4];  /* PNG cICP: primaries, transfer, matrix, full range; the numbers of ITU-T H.273 */
    uint8_t mdcv[24]; /* PNG mDCV: the colours of the display that it was made on */
    uint8_t clli[8];  /* PNG cLLI: the brightest sample, the brightest average */
    struct smp_text {
        char *key, *value;
    } * texts; /* PNG tEXt, zTXt, iTXt; JPEG COM has the key "Comment", its XMP packet SMP_XMP_KEY; sound tags */
    size_t text_count, text_capacity;
    smp_sound sound;
} smp_meta;

void smp_meta_free(smp_meta *meta);

/* False when memory is exhausted; *to is empty then. */
bool smp_meta_copy(smp_meta *to, const smp_meta *from);

/* What a pipeline did to a picture, as far as its metadata goes. */
typedef struct smp_change {
    bool changed;          /* its samples moved or have other values */
    bool toned;            /* they have other values */
    bool swapped;          /* rows became columns */
    int64_t width, height; /* of the picture that is written; 0: not said */
} smp_change;

/* Makes metadata right for the changed picture: no thumbnail of the old one, axes exchanged, sizes set. */
void smp_meta_apply_change(smp_meta *meta, const smp_change *change, smp_notes *notes);

typedef struct smp_media {
    smp_shape shape;         /* as decoded, before orientation */
    int orientation;         /* EXIF 1..8; 1 when absent */
    const char *file_format; /* "PNG", "JPEG", ... */
    int bits;                /* a sample in the file: 1, 2, 4, 8, 16, 24, 32, 64 */
    char detail[96];         /* "palette, interlaced", "4:2:0, quality unknown" */
    smp_meta meta;
} smp_media;

typedef struct smp_reader smp_reader;

/* path "-" is standard input. Opens, reads the header, checks limits before allocating. *out is null on failure. */
smp_code smp_reader_open(const char *path, const smp_limits *limits, smp_reader **out, smp_error *err);
const smp_media *smp_reader_media(const smp_reader *reader);

/* The next `rows` rows, samples in native byte order, interleaved, stride bytes apart. A damaged or truncated file is
 * an error (SMP_E_DECODE), never short data. After the last row the rest of the file is checked too. */
smp_code smp_reader_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
void smp_reader_close(smp_reader *reader);

/* Memory that the process which decodes (io/worker.h) writes rows to itself, page-aligned and followed by nothing that
 * may be read: it spares a copy of the rows. Null: there is none, and any memory will do. Once a reader; valid until it
 * is closed. All rows then go there. */
void *smp_reader_shared(smp_reader *reader, size_t size);

/* What was found while reading so far; complete after the last row. */
const smp_notes *smp_reader_notes(const smp_reader *reader);

/* Seconds that the operating system took to read bytes so far; what calls took beyond them is decoding. */
double smp_reader_input_seconds(const smp_reader *reader);

typedef struct smp_write_options {
    bool force;       /* replace an existing file */
    bool strip;       /* no metadata */
    int png_level;    /* 0 fastest .. 9 smallest; -1: default */
    int threads;      /* that compress; 0: one a core */
    int jpeg_quality; /* 1..100; 0: default */
    int sound_type;   /* an smp_sound_type; 0: as the input's */
    const char *const
        *inputs; /* files that must not be overwritten (compared by device and inode); ends with null; may be null */
    bool lazy_folder;       /* the caller will sync the folder (smp_sync_folder): for many files in one */
    double *output_seconds; /* gets the seconds that the operating system took for the file added; may be null */
} smp_write_options;

smp_write_options smp_write_options_default(void);

/* What a file of this name will hold of a picture of this shape: *out differs from `shape` in format (a JPEG is u8),
 * and in channels and alpha where the format has none (the planner flattens on black then). An error when the extension
 * is unknown or the shape impossible (9 channels in a PNG). path "-" writes PNG for pictures, WAV for sound. Opens
 * nothing. */
smp_code smp_writer_shape(const char *path, const smp_shape *shape, smp_shape *out, smp_error *err);

/* What files of that name's extension hold when they are written; none when they cannot be. */
smp_kind smp_writer_kind(const char *path);

typedef struct smp_writer smp_writer;

/* shape: as smp_writer_shape gave it. Checks that the target is none of the inputs and may be written, before any work.
 * meta may be null. *out is null on failure. */
smp_code smp_writer_open(const char *path, const smp_shape *shape, const smp_meta *meta,
                         const smp_write_options *options, smp_writer **out, smp_error *err);
smp_code smp_writer_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);

/* Samples that had to be changed so far, to fit integers or to be finite (a sound's; pictures are clamped by stages,
 * which count). */
uint64_t smp_writer_clipped(const smp_writer *writer);

/* What the file cannot hold. */
const smp_notes *smp_writer_notes(const smp_writer *writer);

/* Finishes the file, checks every close, fsyncs, puts it in place. Frees the writer whatever happens; on failure
 * nothing is left. */
smp_code smp_writer_commit(smp_writer *writer, smp_error *err);

/* Makes names that were put into a folder survive a crash of the machine. */
void smp_sync_folder(const char *folder);

/* Removes the temporary file and frees; null is allowed. */
void smp_writer_abort(smp_writer *writer);

/* Removes temporary files of writers still open; async-signal-safe, for SIGINT and SIGTERM handlers. */
void smp_writer_abort_all(void);

#endif
