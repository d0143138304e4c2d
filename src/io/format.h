/* The interface of a file format: a table of functions. To add a format, write one file that defines an
 * smp_file_format, and add one row to format_list.def; help, --version and completion follow. Copy images/qoi.c and its
 * suite tests/io/qoi.c: known bytes, there and back, every truncation, damage, failed allocations. Fuzzing wants a seed
 * and the magic among its words (tests/fuzz/seeds.py). By hand: README (which has no line to spare), cli/topics/
 * formats.txt, python/smempipe/_feed_files.py; libraries: packages.md. test_docs.py -k readme -k formats -k feed tells.
 *
 * Samples go top row first, interleaved; alpha is straight. A writer may be given 1 to 4 channels: it widens them
 * itself; write_shape changes the shape for what is lost, and sets shape->format where the file has one depth. sniff
 * looks at the magic alone, so that a short file is told as cut; sizes that a header says are multiplied by checked.h.
 * A format without an end mark of its own takes bytes behind the last row for an error (npy.c); nothing is passed over
 * without a word. */
#pragma once

#include <string.h>

#include "base/alloc.h"
#include "base/stride.h"
#include "io/files/output.h"
#include "io/files/source.h"
#include "io/library.h"
#include "io/media.h"

enum {
    SMP_SNIFF = 512,  /* bytes from the beginning of a file that sniff() may look at */
    SMP_MOST_ID3 = 16 /* tags in front of a sound */
};

/* For films, of which the sound is read. */
#define SMP_VIDEO_HINT                                                                                                 \
    "pictures of a film come from ffmpeg: ffmpeg -i FILM -f yuv4mpegpipe - | smempipe run -e STAGE --frames - OUT.y4m"

/* Rows, or row y alone: the one that follows the last. */
typedef smp_code smp_read_rows(smp_reader *reader, void *to, int64_t stride, int64_t rows, smp_error *err);
typedef smp_code smp_read_row(smp_reader *reader, int64_t y, void *to, smp_error *err);
typedef smp_code smp_write_rows(smp_writer *writer, const void *from, int64_t stride, int64_t rows, smp_error *err);
typedef smp_code smp_write_row(smp_writer *writer, int64_t y, const void *from, smp_error *err);

/* Processor time that decoding may take without --time-limit. */
typedef struct smp_decode_time {
    int spare;   /* seconds for any file, beside one for each MB that goes in, */
    int unknown; /* in place of that for an input of unknown size, */
    int out;     /* and one for so many bytes of rows */
} smp_decode_time;

typedef struct smp_file_format {
    const char *name;              /* "PNG" */
    const char *const *extensions; /* lower case, without the dot; ends with null; the first is the usual one */
    smp_kind kind;                 /* what it holds */
    bool bare;                     /* a picture file without a place for profiles, EXIF and texts */
    bool texts;                    /* it has a place for texts of any key, or tells by itself which it leaves out */
    size_t text_most;              /* bytes of KEY=TEXT that a picture's file holds; 0: it has no place for most keys */
    const char *text_keys;         /* for which it has one, "Title Artist"; null: any */
    bool iptc;                     /* it has one for IPTC records */
    bool dpi;                      /* the same of the resolution */
    bool gamma;                    /* the same of gamma and primaries without a profile */
    smp_library library;           /* opened while the program runs, where a file needs it; 0: none */
    bool confined;                 /* a library writes it: in a process of its own (io/decoder/worker.h) */
    bool open_end;                 /* a sound is written whose length is not known before its end */
    const smp_write_takes *takes;  /* options of files that are written; may be null */
    bool pages;                    /* a file may hold several pictures, of which smp_read_options.page chooses */
    const smp_decode_time *time;   /* null: the usual one */

    /* Whether it has a place for colours that cICP numbers; null: as `gamma`, unless bare. */
    bool (*says_cicp)(const uint8_t cicp[4]);

    /* Whether a file begins like this format. size <= SMP_SNIFF. Null: cannot be read. */
    bool (*sniff)(const uint8_t *head, size_t size);

    /* The other format of a file that begins so, where what follows further on tells; null: none. May be null. */
    const struct smp_file_format *(*instead)(const smp_source *source);

    /* Whether it begins further on, behind other bytes; asked where no format's sniff() knows the file. May be null. */
    bool (*find)(smp_source *source);

    /* It takes the ID3 tags in front of a sound itself: read_open begins in front of them, at reader->id3 bytes before
     * the sound. A sound with such tags that no other format knows is taken for this one. */
    bool id3;

    size_t read_state; /* bytes of reader->state, which read_open finds zeroed; 0: it sets the state itself, if any */
    /* Reads the header: fills reader->media (except file_format), checks limits before allocating. After a failure
     * read_close is called too, if state is set. */
    smp_code (*read_open)(smp_reader *reader, smp_error *err);
    /* rows >= 1, never past the last. Of an open end: where fewer are left, sets reader->end. */
    smp_read_rows *read_rows;
    smp_read_row *read_row; /* in place of read_rows */
    /* As smp_reader_some, in place of reading little by little; may be null. */
    smp_code (*read_some)(smp_reader *reader, void *to, int64_t stride, int64_t rows, int64_t *got, smp_error *err);
    smp_code (*settle)(smp_reader *reader, smp_error *err); /* as smp_reader_settle, in place of opening again */
    /* Checks what follows the last row; may be null. */
    smp_code (*read_end)(smp_reader *reader, smp_error *err);
    /* Behind the last row: goes to the next picture, of the same shape, whose row 0 is then next. *more: there is one.
     * Null: a file holds one. */
    smp_code (*read_next)(smp_reader *reader, bool *more, smp_error *err);
    void (*read_close)(smp_reader *reader); /* frees the state; null: smp_free does */

    /* Changes *shape (the shape to be written) into one that the format can hold, or fails. extension: lower case, from
     * the list; null for standard output. Null: cannot be written. */
    smp_code (*write_shape)(const struct smp_file_format *format, const char *extension, smp_shape *shape,
                            smp_error *err);
    size_t write_state; /* as read_state */
    /* Writes the header and the metadata (null: none) to writer->output. */
    smp_code (*write_open)(smp_writer *writer, const smp_meta *meta, smp_error *err);
    smp_write_rows *write_rows;
    smp_write_row *write_row; /* in place of write_rows */
    /* Behind the last row: another picture follows, of writer->shape. meta: its metadata; null: none, or the first's.
     * Null: a file holds one. */
    smp_code (*write_next)(smp_writer *writer, const smp_meta *meta, smp_error *err);
    bool shapes; /* those pictures may differ in width and height; of others all have the first's */
    /* Writes what follows the last row of the last picture; may be null. */
    smp_code (*write_end)(smp_writer *writer, smp_error *err);
    void (*write_close)(smp_writer *writer); /* frees the state; null: smp_free does */
    /* Whether a file with these options may hold the coded picture of an input (smp_media.coded, file_format) as it
     * is, turned as smp_write_coded.orientation says if `turns`. Null: never. */
    bool (*keeps_coded)(const smp_write_options *options, const smp_media *media);
    bool turns;
} smp_file_format;

/* A reader and a writer in files of their own: what their headers declare, and their fields of a format. by: row, rows.
 */
#define SMP_DECLARE_READER(name, by)                                                                                   \
    smp_code name##_read_open(smp_reader *reader, smp_error *err);                                                     \
    smp_read_##by name##_read_##by;                                                                                    \
    void name##_read_close(smp_reader *reader)
#define SMP_DECLARE_WRITER(name, by)                                                                                   \
    smp_code name##_write_shape(const smp_file_format *format, const char *extension, smp_shape *shape,                \
                                smp_error *err);                                                                       \
    smp_code name##_write_open(smp_writer *writer, const smp_meta *meta, smp_error *err);                              \
    smp_write_##by name##_write_##by;                                                                                  \
    smp_code name##_write_end(smp_writer *writer, smp_error *err);                                                     \
    void name##_write_close(smp_writer *writer)
/* The fields of a format whose functions are in its own file, called as the fields. */
#define SMP_READS(by)  .read_open = read_open, .read_##by = read_##by
#define SMP_WRITES(by) .write_shape = write_shape, .write_open = write_open, .write_##by = write_##by
#define SMP_READER(name, by)                                                                                           \
    .read_open = name##_read_open, .read_##by = name##_read_##by, .read_close = name##_read_close
#define SMP_WRITER(name, by)                                                                                           \
    .write_shape = name##_write_shape, .write_open = name##_write_open, .write_##by = name##_write_##by,               \
    .write_end = name##_write_end, .write_close = name##_write_close

struct smp_reader {
    const smp_file_format *format;
    smp_source source;
    smp_read_options options;
    smp_media media;
    int64_t next_row;
    int64_t end;         /* rows of a sound of open end, once it has ended; INT64_MAX: they go on */
    int64_t frame_bytes; /* of samples that lie as they are; 0: they are coded */
    atomic_bool stopped;
    smp_notes notes;
    uint64_t id3;     /* bytes of ID3 tags in front, for a format that takes them itself */
    uint32_t delay;   /* smp_reader_delay */
    size_t tag_bytes; /* of a sound's tags kept so far; SIZE_MAX: no more are kept */
    smp_code broken;  /* the first failure; every later call fails too */
    void *state;      /* the format's */
    char *name;       /* the path, for messages */
};

struct smp_writer {
    const smp_file_format *format;
    const smp_file_format *by; /* whose functions write: the format's, or those of another process */
    const char *extension;     /* as in the format's list; null for standard output */
    smp_output *output;
    smp_shape shape;
    smp_write_options options; /* `inputs` is not valid after open */
    smp_coding coding;         /* of the input */
    uint32_t delay;            /* smp_writer_delay */
    uint64_t clipped;          /* samples clamped */
    smp_notes notes;
    int64_t next_row;
    bool begun, broken, finished;
    void *state; /* the format's */
    char *name;  /* the path, for messages */
};

#define F(symbol) extern const smp_file_format symbol;
#include "io/format_list.def"
#undef F

/* Reads from memory, which must outlive the reader: for fuzz targets and tests. */
smp_code smp_reader_open_memory(const void *data, size_t size, const smp_read_options *options, smp_reader **out,
                                smp_error *err);

/* Opens the format's writer, whose fields but `state` are set, or goes on to the next picture. */
smp_code smp_writer_begin(smp_writer *writer, const smp_meta *meta, smp_error *err);

/* Reads from a source and takes it over, also on failure. name: for messages. */
smp_code smp_reader_open_source(smp_source *source, const char *name, const smp_read_options *options, smp_reader **out,
                                smp_error *err);

/* All formats, in the order in which they are tried; null past the last. */
const smp_file_format *smp_format_at(size_t index);

/* The one of its extensions that this is, in any case; null: none. */
const char *smp_format_extension(const smp_file_format *format, const char *extension);

/* Microseconds for which the picture that is written is shown, and how often all are (0: for ever): as options say, or
 * the input. */
uint32_t smp_writer_shown(const smp_writer *writer);
uint32_t smp_writer_plays(const smp_writer *writer);

/* "an" AIFF, and "an" MP3 and NPY, which are spelt; "a" FLAC. */
static inline const char *smp_article(const char *format)
{
    return strchr("AEIMNOS", format[0]) ? "an" : "a";
}

/* The format whose signature a file's first bytes have, or null. */
const smp_file_format *smp_format_sniff(const uint8_t *head, size_t size);

/* The same of a source that begins so, by what follows too. */
const smp_file_format *smp_format_of(const smp_source *source, const uint8_t *head, size_t size);

/* The format of a source. ID3 tags may stand in front of a sound. They are skipped, and *id3 is their size, unless the
 * format takes them itself. Null without a failure of the source: the format is not known. */
smp_code smp_format_find(smp_source *source, const smp_file_format **format, uint64_t *id3, smp_error *err);

/* Fails: says what the file is, as far as that is known, and what is read. */
smp_code smp_format_unknown(smp_source *source, smp_error *err);

/* Size of the ID3v2 tag that a file begins with; 0: none. Source: id3.org, "ID3 tag version 2.4.0", section 3.1. */
uint64_t smp_id3_size(const uint8_t *head, size_t size);

/* For read_open: checks a picture's size against the limits. bytes: the memory that the reader needs for it. Sizes
 * below 1 are SMP_E_DECODE, too large ones SMP_E_LIMIT. */
smp_code smp_check_picture(const smp_limits *limits, int64_t width, int64_t height, uint64_t bytes, smp_error *err);

/* The same for the frames of a sound: more than --max-pixels are SMP_E_LIMIT. */
smp_code smp_check_frames(const smp_limits *limits, int64_t frames, smp_error *err);

/* Checks a reader's media, and the memory that it asked smp_check_picture for, against the options' limits and the
 * input's size (UINT64_MAX: unknown). Readers are checked where they open, and by the program again where another
 * process did. */
smp_code smp_check_media(const smp_read_options *options, const smp_media *media, uint64_t memory, uint64_t size,
                         smp_error *err);

/* The memory that a file of this size is worth, since some bytes can ask for any, unless the user says how much there
 * may be. Real pictures of the largest sizes take 5 to 150 bytes for each of their file. */
uint64_t smp_worth(const smp_read_options *options, uint64_t file);

/* The most `bytes` that smp_check_picture was asked about, in this thread, for the reader opened last. */
uint64_t smp_checked_bytes(void);

/* For read_open: the whole file, from smp_alloc also after a failure, with zeros behind it. */
smp_code smp_read_whole(smp_reader *reader, size_t zeros, uint8_t **data, size_t *size, smp_error *err);

/* A header that promises more than the file can hold is a mistake or an attack: fails before anything is allocated.
 * least: the fewest bytes of such a picture in the file. */
smp_code smp_check_size(const smp_source *source, uint64_t least, smp_error *err);

/* Notes that a file is cut short, read all the same, and how many of its rows are missing; filled: their colour. */
void smp_note_cut(smp_notes *notes, int64_t missing, int64_t rows, const char *filled);

/* Bytes of a row of this shape, which was checked before. */
static inline int64_t smp_row_bytes(const smp_shape *shape)
{
    return shape->width * shape->channels * smp_sample_size((int)shape->format);
}

/* From a row to the next where rows are decoded before they are asked for: as pictures lie in memory
 * (run/strips/step.h). */
static inline int64_t smp_ahead_stride(const smp_shape *shape)
{
    return smp_stride(shape->width, smp_row_bytes(shape));
}

/* The format and extension of a file name; as: the extension that standard output is written by, null: none. */
smp_code smp_find_writer(const char *path, const char *as, smp_kind kind, const smp_file_format **format,
                         const char **extension, smp_error *err);

/* A file's name as messages have it: "standard output" for -. */
const char *smp_display_name(const char *path);

/* For write_shape: fails with SMP_E_WRITE unless the channels are gray, gray and alpha, RGB or RGBA. `format`: the
 * format's name. */
smp_code smp_check_colour(const char *format, const smp_shape *shape, smp_error *err);

/* The same where the picture is larger than FFmpeg reads: nobody gets a file that cannot be read again. */
smp_code smp_check_sides(const char *format, const smp_shape *shape, smp_error *err);

/* ------------------------------------------------------------------------------------------------ metadata */

/* Copies a blob; false: out of memory. An empty blob stays null. */
bool smp_blob_set(smp_blob *blob, const void *data, size_t size);

/* Reads a part of the file that is metadata, "EXIF"; none where it does not lie in the file, or has more than 32 MB,
 * which is noted. False: out of memory. */
bool smp_meta_read(const smp_source *source, const char *what, uint64_t at, uint64_t size, smp_blob *blob,
                   smp_notes *notes);

/* Adds a text. Bytes that are not UTF-8 are taken as Latin-1. A carriage return is a newline, or part of one. Control
 * characters except tab and newline are dropped. False: out of memory. */
bool smp_meta_add_text(smp_meta *meta, const char *key, const char *value, size_t length);

enum { SMP_EXIF_TEXT = 400 }; /* bytes of a text in EXIF that is a part of a name or line */
enum { SMP_EXIF_MODEL = 0x0110, SMP_EXIF_CHANGED = 0x0132, SMP_EXIF_TAKEN = 0x9003 /* DateTimeOriginal */ };
/* The text of a tag, in EXIF's own directory or the first, as far as there is room; false, and "": there is none. */
bool smp_exif_text(const smp_blob *exif, uint32_t tag, char *text, size_t room);

/* What is noted of a file that goes on with such bytes behind its picture; padding is nothing, nor a few bytes. */
enum { SMP_BEHIND = 16 };
#define SMP_BEHIND_LOST "what follows behind the picture is left out"
static inline bool smp_behind_counts(const uint8_t *next, size_t size)
{
    return size >= SMP_BEHIND && memcmp(next, next + 1, SMP_BEHIND - 1) != 0;
}

/* Whether bytes up to the first 0 are this text, once they are taken as smp_meta_add_text takes them. */
bool smp_text_says(const void *said, size_t count, const char *value);

/* Takes out the texts whose key begins so; how many. */
size_t smp_meta_drop_texts(smp_meta *meta, const char *begin);

/* Adds a copy of what a sound's tags hold besides texts. False: out of memory. */
bool smp_meta_attach(smp_meta *meta, const smp_attached *one);

/* Whether the first directory of EXIF has this text under a tag of the key's meaning: then it need not be written
 * twice.
 */
bool smp_exif_says(const smp_blob *exif, const char *key, const char *value);

bool smp_exif_says_resolution(const smp_blob *exif);
/* Takes the resolution from EXIF where the file says none elsewhere. */
void smp_meta_keep_exif_resolution(smp_meta *meta);
/* Sets the resolution, whole pixels an inch, where there is one. */
void smp_exif_set_resolution(uint8_t *data, size_t size, uint32_t dpi);

/* The orientation (1..8) in a TIFF structure; 1 when it has none or is damaged. */
int smp_exif_orientation(const uint8_t *data, size_t size);

/* Keeps EXIF as boxes of HEIF and JPEG XL hold it, behind a number that says where it begins. False: out of memory. */
bool smp_meta_keep_exif_box(smp_meta *meta, const uint8_t *box, size_t size);

/* Sets the orientation to 1, if there is one. */
void smp_exif_reset_orientation(uint8_t *data, size_t size);

/* The same for a format whose pictures nobody turns, which is noted where EXIF would have it turned. format: "a PSD".
 */
void smp_meta_tell_turned(smp_meta *meta, const char *format, smp_notes *notes);

/* Swaps the axes: exchanges the resolutions, and width with height. */
void smp_exif_exchange_axes(uint8_t *data, size_t size);

/* Sets the picture's width and height, if there are any. */
void smp_exif_set_size(uint8_t *data, size_t size, int64_t width, int64_t height);

/* Removes the second directory (IFD1) and the thumbnail it points at. */
void smp_exif_drop_thumbnail(smp_blob *exif);

/* One number of the first directory of a TIFF structure; false when it is missing. */
bool smp_tiff_number(const uint8_t *data, size_t size, uint32_t tag, uint32_t *value);

/* The same for an XMP packet, in place; null is allowed. */
void smp_xmp_reset_orientation(char *xmp);
void smp_xmp_exchange_axes(char *xmp);
/* Elements and attributes of a namespace and name become blanks. False: there are none. */
bool smp_xmp_drop(char *xmp, const char *space, const char *property);

/* A text of EXIF becomes empty, in both directories, or a number 0, in the first. False: there is none. */
bool smp_exif_drop_text(smp_blob *exif, uint32_t tag);

/* Notes that EXIF stays where it names people, texts of theirs or a place. */
void smp_meta_tell_kept(const smp_meta *meta, smp_notes *notes);

/* What EXIF says of "Title", "Artist", "Comment" or "Copyright". False, and "": nothing. */
bool smp_meta_exif_says(const smp_meta *meta, const char *key, char *text, size_t room);

enum { SMP_IPTC_MARK = 0x1C /* a data set begins so */ };
/* Whether the last data set is not all there. */
bool smp_iptc_cut(const smp_blob *iptc);

/* Notes damage of XMP, IPTC and EXIF. */
void smp_meta_check(const smp_meta *meta, smp_notes *notes);

/* Takes out a data set of record 2. False: there is none. */
bool smp_iptc_drop(smp_blob *iptc, uint8_t set);

/* A resource of Photoshop among others. at: of its bytes; 0 where they are not all there. */
typedef struct smp_resource {
    uint32_t id;
    uint64_t at, size;
} smp_resource;

/* The one at *at, which goes to the next; false: there is none. */
bool smp_resource_next(const smp_source *source, uint64_t *at, uint64_t end, smp_resource *one);

/* Takes IPTC records from them, if there are none yet; notes which others of a picture are left out (paths, guides).
 * False: out of memory. */
bool smp_meta_take_resources(smp_meta *meta, const smp_source *source, uint64_t at, uint64_t end, smp_notes *notes);

/* Drops what XMP, EXIF and IPTC say of a tag, so that no program tells another value than the one that is set. */
void smp_meta_drop_said(smp_meta *meta, const char *key, smp_notes *notes);

/* Copies EXIF, with the orientation 1, and XMP, for formats that have no place for other texts. Notes the other texts.
 * format: "a WebP". False: out of memory. */
bool smp_meta_keep_blocks(const smp_meta *meta, const char *format, smp_blob *exif, smp_blob *xmp, smp_notes *notes);

/* Whether this ICC profile is for pictures with so many colour channels (1 or 3). */
bool smp_icc_fits(const smp_blob *icc, int colours);

/* White, red, green, blue, x and y each, of these primaries of ITU-T H.273: 1 (sRGB's), 9 and 12. False: others. */
bool smp_chromaticities(int primaries, double chrm[8]);

/* The matrix from XYZ, relative to this white, to linear sRGB. */
void smp_srgb_of_white(const double white[3], double to[9]);

/* The tone curve of a picture with this metadata, for smp_shape: by cICP, an ICC profile, sRGB or gAMA. */
double smp_meta_curve(const smp_meta *meta);

/* Marks the picture as upright in EXIF and XMP. For orientations 5 to 8 also swaps the axes. */
void smp_meta_apply_orientation(smp_meta *meta, int orientation);

/* Whether the machine is little-endian. */
static inline bool smp_little_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}
