/* Pictures and sounds in files, as rows. Readers recognise a format by its content, writers by the name's extension.
 * Readers deliver rows in order, once. Writers write to a temporary file in the target's folder, and commit() puts it
 * in place: a failure at any moment leaves the old file as it was. */
#pragma once

#include "base/error.h"
#include "base/notes.h"
#include "io/files/output.h"
#include "io/read_options.h"
#include "io/write_option.h"
#include "media/coding.h"
#include "media/shape.h"

typedef struct smp_blob {
    unsigned char *data;
    size_t size;
} smp_blob;

/* The key of an XMP packet among the texts; it is PNG's (XMP Specification, part 3, 1.1.5). */
#define SMP_XMP_KEY "XML:com.adobe.xmp"

/* Contents of a sound's tags besides texts. */
typedef struct smp_attached {
    char frame[5];     /* "": a picture file, as it is; else the name of a frame of ID3v2.4, whose body `data` is */
    char type[64];     /* of a picture: "image/jpeg"; "": unknown */
    int kind;          /* of a picture: 3 is a front cover (ID3v2.4.0 frames, 4.14) */
    char *description; /* of a picture, UTF-8; null: none */
    smp_blob data;
} smp_attached;

/* Metadata that is kept unless --strip is given. Blobs are from smp_alloc and owned by the meta. */
typedef struct smp_meta {
    smp_blob icc;      /* ICC profile */
    char icc_name[80]; /* PNG's name for it */
    smp_blob exif;     /* TIFF structure without "Exif\0\0"; its orientation is reset to 1 after it is applied */
    smp_blob iptc;     /* IPTC-IIM records: captions, keywords, rights */
    double gamma;      /* PNG gAMA; 0: absent */
    int srgb_intent;   /* PNG sRGB; -1: absent */
    bool has_chrm;
    double chrm[8];              /* PNG cHRM: white x y, red x y, green x y, blue x y */
    double x_density, y_density; /* pixels a metre; 0: absent */
    bool density_is_aspect;
    bool has_cicp, has_mdcv, has_clli;
    uint8_t cicp[4];  /* PNG cICP: primaries, transfer, matrix, full range; the numbers of ITU-T H.273 */
    uint8_t mdcv[24]; /* PNG mDCV: the colours of the mastering display */
    uint8_t clli[8];  /* PNG cLLI: the maximum and the average light level */
    struct smp_text {
        char *key, *value;
        char language[4]; /* of a comment or of lyrics in ID3, "deu"; "": not told */
    } * texts; /* PNG tEXt, zTXt, iTXt; JPEG COM has the key "Comment", its XMP packet SMP_XMP_KEY; sound tags */
    size_t text_count, text_capacity;
    smp_attached *attached; /* of a sound */
    size_t attached_count, attached_capacity;
    smp_coding coding; /* writers keep it even with --strip */
} smp_meta;

void smp_meta_free(smp_meta *meta);

/* Copies; false: out of memory, and *to is then empty. */
bool smp_meta_copy(smp_meta *to, const smp_meta *from);

/* Its colour profile: its own ICC profile or, of integer samples, one made of cICP, gAMA and cHRM (*made, which the
 * caller frees). No data: there is none, and the picture is sRGB as far as anybody knows. */
smp_blob smp_meta_profile(const smp_meta *meta, const smp_shape *shape, smp_blob *made);

/* Changes of a pipeline to a picture, as far as metadata depends on them. */
typedef struct smp_change {
    bool changed;          /* samples moved or have other values */
    bool toned;            /* they have other values */
    bool srgb;             /* their colours are sRGB now, whatever profile the input had */
    bool encoded;          /* they were light, and have sRGB's curve now */
    bool swapped;          /* rows became columns */
    int64_t width, height; /* of the output; 0: unknown */
    double dpi;            /* the resolution that was asked for; 0: none */
} smp_change;

/* Changes of a file's tags. */
typedef struct smp_meta_change {
    const char *const *tags; /* "title=Rain", several values of a key in several; no value: the key's texts go */
    size_t tag_count;
    bool untag;     /* all texts, pictures and frames go first */
    smp_blob cover; /* takes the place of the front cover; no data: it stays */
} smp_meta_change;

enum { SMP_TAG_KEY = 80 }; /* bytes of a key with its end */

/* False: out of memory. */
bool smp_meta_edit(smp_meta *meta, const smp_meta_change *change);

/* Copies the key in front of "="; gives the value behind it. */
const char *smp_meta_change_key(const char *pair, char key[SMP_TAG_KEY]);

/* Adapts metadata to the changed picture: removes the thumbnail, swaps axes, sets sizes. */
void smp_meta_apply_change(smp_meta *meta, const smp_change *change, smp_notes *notes);

/* The front cover of a sound, or its first picture; null: it has none. */
const smp_attached *smp_meta_cover(const smp_meta *meta);

/* Takes out the tags that say how loud a sound is (ReplayGain, R 128, iTunes, RVA2); how many. */
size_t smp_meta_drop_levels(smp_meta *meta);

/* Takes out the frames that say what is where in a sound (chapters, timed lyrics); how many. */
size_t smp_meta_drop_times(smp_meta *meta);

/* A picture whose rows are those of its coded scan: bytes, which the stage with SMP_ROLE_JPEG decodes. */
typedef struct smp_scan {
    smp_shape shape;  /* of the rows; its kind is none where the rows are the picture's */
    int across, down; /* pixels that share a sample of chroma */
} smp_scan;

#define SMP_OPEN_HEIGHT (INT64_C(1) << 40) /* frames: more than any sound has */

typedef struct smp_media {
    smp_shape shape;         /* as decoded, before orientation */
    smp_scan scan;           /* with smp_read_options.want.scan_from */
    int orientation;         /* EXIF 1..8; 1 when absent */
    const char *file_format; /* "PNG", "JPEG", ... */
    int64_t pages;           /* how many the file holds; 0: the format has one */
    int bits;                /* of a sample in the file: 1, 2, 4, 8, 16, 24, 32, 64 */
    bool shrinks;            /* smp_read_options.want.shrink works */
    bool copies;             /* smp_read_options.want.coded may give `coded`; */
    bool cuts;               /* and want.part of a sound; the reader gives rows where it does not */
    smp_blob coded;          /* all of the file but its metadata, for smp_write_options; from smp_alloc */
    bool live;               /* rows come as somebody makes them: smp_reader_some */
    bool open_end;           /* the same, and how many there will be is not known: shape.height is SMP_OPEN_HEIGHT */
    int leftover;            /* bytes behind the last whole frame of a sound without a header */
    char detail[96];         /* "palette, interlaced", "4:2:0, quality unknown" */
    smp_meta meta;
} smp_media;

/* The shape of the rows that a reader gives. */
static inline const smp_shape *smp_media_rows(const smp_media *media)
{
    return media->scan.shape.kind ? &media->scan.shape : &media->shape;
}

typedef struct smp_reader smp_reader;

/* path "-" is standard input. Opens, reads the header, and checks limits before it allocates. *out is null on failure.
 */
smp_code smp_reader_open(const char *path, const smp_read_options *options, smp_reader **out, smp_error *err);

/* The same of a regular file that is open, and takes fd over, also on failure. name: for messages. */
smp_code smp_reader_open_file(int fd, const char *name, const smp_read_options *options, smp_reader **out,
                              smp_error *err);

/* Of what is made from nothing, with these parameters, which outlive the reader. A sound without end is one from a pipe
 * (smp_read_options.want.live), or an error. */
struct smp_origin;
smp_code smp_reader_open_made(const struct smp_origin *origin, const void *params, const char *name,
                              const smp_read_options *options, smp_reader **out, smp_error *err);

/* Of several files of one kind and size, whose rows come in turn: row 0 of each, then row 1. A sound that is shorter
 * than the others goes on silently. paths ends with null. */
smp_code smp_reader_open_stack(const char *const *paths, const smp_read_options *options, smp_reader **out,
                               smp_error *err);

const smp_media *smp_reader_media(const smp_reader *reader);

/* The next `rows` rows: samples in native byte order, interleaved, stride bytes apart. A damaged or truncated file is
 * an error (SMP_E_DECODE), never short data. After the last row the rest of the file is checked too. */
smp_code smp_reader_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
void smp_reader_close(smp_reader *reader);

/* Reads the next rows of a live sound: at least one, at most `rows`, and no more than are there without waiting. *got
 * 0: the sound has ended. Stops waiting, and fails, after smp_reader_stop from another thread. */
smp_code smp_reader_some(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err);
void smp_reader_stop(smp_reader *reader);

/* Reads a live sound, of which nothing was read, to its end, so that its length is known. Replaces reader and media.
 * After a failure the reader can only be closed. */
smp_code smp_reader_settle(smp_reader **reader, smp_error *err);

/* After the last row: goes to the next picture, which has the same shape. *more: there is one, and its rows are next:
 * all of a stream's only where it was opened with smp_read_options.frames. Damage before it is an error. */
smp_code smp_reader_next(smp_reader *reader, bool *more, smp_error *err);

/* Microseconds for which the picture is shown whose rows were read last; 0: as smp_coding.rate says. */
uint32_t smp_reader_delay(const smp_reader *reader);

/* Memory that the process which decodes (io/decoder/worker.h) writes rows to itself, page-aligned and followed by
 * nothing that may be read: it spares a copy of the rows. Null: there is none, and any memory will do. Once a reader;
 * valid until it is closed. All rows then go there. */
void *smp_reader_shared(smp_reader *reader, size_t size);

/* In the note of a reader that leaves pictures of the file unread, or what a file has beside its sound. */
#define SMP_FIRST_ALONE "only the first is read"
#define SMP_SOUND_ALONE "only its best sound is read"

/* Notes from reading so far; complete after the last row. */
const smp_notes *smp_reader_notes(const smp_reader *reader);

/* Seconds that the operating system took to read bytes so far. The rest of a call's time is decoding. */
double smp_reader_input_seconds(const smp_reader *reader);

typedef struct smp_writer smp_writer;

/* Takes the rows of a picture from row y on, in place of a file of this name. Called from several threads, for pictures
 * of different names. */
typedef struct smp_row_taker {
    smp_code (*take)(void *context, const char *name, const smp_shape *shape, int64_t y, int64_t rows, const void *from,
                     int64_t stride, smp_error *err);
    void *context;
} smp_row_taker;

/* Options for writing a sound. */
typedef struct smp_write_sound {
    bool fit_rate; /* one whose rate the format has not is resampled (smp_writer_fits_rate) */
    bool open_end; /* its height is more than any, and the rows that are written are all */
    bool live;     /* what is written goes on to who reads the pipe */
} smp_write_sound;

/* Coded data that is written in place of samples. Zeroed: none. */
typedef struct smp_write_coded {
    const smp_blob *picture; /* of a picture or sound that the format keeps (smp_media.coded), and no rows come */
    int orientation;         /* as which it is to be shown, EXIF's 1 to 8 */
    smp_shape scan;          /* of a JPEG: its rows hold a coded scan (io/jpeg/jpeg_by_device.h); width 0: samples */
} smp_write_coded;

/* A file of several pictures, each of which is written as if it were a file of its own: smp_writer_commit leaves the
 * file here, and smp_writer_open goes on with it. Zeroed: it is not begun. */
typedef struct smp_book {
    smp_writer *writer;
    const char *const *inputs; /* of all pictures, in place of smp_output_options.inputs */
} smp_book;

typedef struct smp_write_options {
    smp_output_options output;
    smp_book *book; /* null: a file of its own. It outlives the writer. */
    /* No file is made: it gets the rows, in the shape of a file of this name. It outlives the writer; may be null. */
    const smp_row_taker *taker;
    const char *format;            /* of standard output, an extension; null: the usual */
    bool strip;                    /* no metadata */
    const smp_meta_change *change; /* of tags, behind `strip`; null: none */
    int threads;                   /* for compression; 0: one for each core */
    smp_write_values values;       /* of options that formats have (write_option.h) */
    smp_write_sound sound;
    smp_write_coded coded;
} smp_write_options;

/* Whether a file of this name, with these options, may hold an input's coded picture as it is; turned: in another
 * orientation than that is coded. */
bool smp_writer_keeps_coded(const char *path, const smp_write_options *options, const smp_media *media, bool turned);

/* The kind of sample that was asked for, an smp_sound_type; SMP_SOUND_NONE: that of the input. */
int smp_asked_sound_type(const smp_write_options *options);

/* The shape that a file of this name will hold for a picture of this shape. *out differs from `shape` in format (a JPEG
 * is u8), and in channels and alpha where the format has none (the planner then flattens on black). Fails for an
 * unknown extension or an impossible shape (9 channels in a PNG). path "-" writes PNG for pictures and WAV for sound.
 * Opens nothing. */
smp_code smp_writer_shape(const char *path, const smp_shape *shape, smp_shape *out, smp_error *err);

/* The same, where standard output gets the format of this extension; null: the usual one. */
smp_code smp_writer_shape_as(const char *path, const char *format, const smp_shape *shape, smp_shape *out,
                             smp_error *err);

/* Whether a file of this name takes the sound at another rate alone, which shape->rate then is. */
bool smp_writer_fits_rate(const char *path, const char *format, smp_shape *shape);

/* Whether files with this extension can be written, and what they hold (kind may be null). */
smp_code smp_writer_extension(const char *extension, smp_kind *kind, smp_error *err);

/* Returns the kind of media that files with that name's extension hold, read or written; none if no format has it. */
smp_kind smp_name_kind(const char *path);

/* Whether files in the format of that name (smp_media.file_format) are called so. */
bool smp_name_of_format(const char *path, const char *file_format);

/* The kind of media of a name, as smp_name_kind has it; none when such files cannot be written. */
smp_kind smp_writer_kind(const char *path);

/* shape: from smp_writer_shape. Before any work it checks that the target is none of the inputs and may be written.
 * meta may be null. *out is null on failure. */
smp_code smp_writer_open(const char *path, const smp_shape *shape, const smp_meta *meta,
                         const smp_write_options *options, smp_writer **out, smp_error *err);
smp_code smp_writer_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);

/* The format that a file of this name is written in, as smp_media.file_format; null: none, or not known yet. */
const char *smp_writer_format(const char *path, const char *format);

/* Whether files of this name can be written of a sound whose length is not known before its end. */
bool smp_writer_open_ended(const char *path, const char *format);

/* Whether files of this name are pictures without a place for profiles, EXIF and texts. */
bool smp_writer_bare(const char *path, const char *format);

/* Whether they say gamma and primaries without a profile, or are no pictures for people. */
bool smp_writer_says_gamma(const char *path, const char *format);

/* Whether files of this name are in the format of that name (smp_media.file_format). */
bool smp_writer_is(const char *path, const char *format, const char *file_format);

/* Whether a file of this name (standard output: of this extension) can hold several pictures of one shape. */
bool smp_writer_streams(const char *path, const char *format);

/* After the last row: another picture of the same shape follows. */
smp_code smp_writer_next(smp_writer *writer, smp_error *err);

/* Before a picture's first row: for how many microseconds it is shown; 0: as smp_coding.rate says. */
void smp_writer_delay(smp_writer *writer, uint32_t delay);

/* Samples of a sound that were changed so far, to fit integers or to be finite. (Stages clamp and count pictures'
 * samples.) */
uint64_t smp_writer_clipped(const smp_writer *writer);

/* Notes about what the file cannot hold. */
const smp_notes *smp_writer_notes(const smp_writer *writer);

/* Writes what belongs behind the last row, as commit does; there may be notes of it. */
smp_code smp_writer_finish(smp_writer *writer, smp_error *err);

/* Finishes files that will be committed, from the last to the first, and makes them safe together: see
 * smp_outputs_sync. */
smp_code smp_writers_sync(smp_writer *const *writers, size_t count, smp_error *err);

/* Finishes the file, checks every close, fsyncs, and puts it in place. Always frees the writer. On failure nothing is
 * left. */
smp_code smp_writer_commit(smp_writer *writer, smp_error *err);

/* Takes a file of several pictures out of its book, to be committed; null: no picture was written. */
smp_writer *smp_book_close(smp_book *book);

/* Removes the temporary file and frees the writer; null is allowed. */
void smp_writer_abort(smp_writer *writer);

/* Removes the temporary files of open writers. Async-signal-safe, for SIGINT and SIGTERM handlers. */
void smp_writer_abort_all(void);
