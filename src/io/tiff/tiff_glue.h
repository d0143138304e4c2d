/* Shared by the reader and the writer of TIFFs; tiff.c puts their functions into the table. */
#pragma once

#include "io/format.h"
#include "io/meta/cmyk.h"

SMP_DECLARE_READER(smp_tiff, row);
SMP_DECLARE_WRITER(smp_tiff, row);
smp_code smp_tiff_write_next(smp_writer *writer, const smp_meta *meta, smp_error *err);

/* The directories of a TIFF, walked by this program before any library sees the file: sizes, counts and places are
 * checked against the limits and the file's end. Reads classic TIFF and BigTIFF, either byte order. Sources: TIFF 6.0;
 * Adobe Photoshop TIFF Technical Notes; the BigTIFF design, libtiff.gitlab.io. */

enum {
    TIFF_SUBFILE = 254,
    TIFF_WIDTH = 256,
    TIFF_HEIGHT = 257,
    TIFF_BITS = 258,
    TIFF_COMPRESSION = 259,
    TIFF_PHOTOMETRIC = 262,
    TIFF_TITLE = 269,
    TIFF_DESCRIPTION = 270,
    TIFF_MAKE = 271,
    TIFF_MODEL = 272,
    TIFF_STRIP_OFFSETS = 273,
    TIFF_ORIENTATION = 274,
    TIFF_SAMPLES = 277,
    TIFF_ROWS_PER_STRIP = 278,
    TIFF_STRIP_BYTES = 279,
    TIFF_X_RESOLUTION = 282,
    TIFF_WHITE = 318,
    TIFF_Y_RESOLUTION = 283,
    TIFF_PLANAR = 284,
    TIFF_UNIT = 296,
    TIFF_SOFTWARE = 305,
    TIFF_DATE = 306,
    TIFF_ARTIST = 315,
    TIFF_PREDICTOR = 317,
    TIFF_PALETTE = 320,
    TIFF_TILE_WIDTH = 322,
    TIFF_TILE_HEIGHT = 323,
    TIFF_TILE_OFFSETS = 324,
    TIFF_TILE_BYTES = 325,
    TIFF_FOLDERS_BELOW = 330,
    TIFF_INKS = 332,
    TIFF_EXTRA = 338,
    TIFF_SAMPLE_FORMAT = 339,
    TIFF_SUBSAMPLING = 530,
    TIFF_XMP = 700,
    TIFF_COPYRIGHT = 33432,
    TIFF_IPTC = 33723,
    TIFF_RESOURCES = 34377,
    TIFF_EXIF_FOLDER = 34665,
    TIFF_ICC = 34675,
    TIFF_GPS_FOLDER = 34853,
    TIFF_LAYERS = 37724,
    TIFF_INTEROP_FOLDER = 40965,
    TIFF_DNG = 50706
};
enum { TYPE_BYTE = 1, TYPE_ASCII, TYPE_SHORT, TYPE_LONG, TYPE_RATIONAL, TYPE_UNDEFINED = 7, TYPE_LONG8 = 16 };
enum { TYPE_UTF8 = 129 };
enum {
    TIFF_WHITE_IS_ZERO,
    TIFF_BLACK_IS_ZERO,
    TIFF_RGB,
    TIFF_PALETTE_COLOUR,
    TIFF_INK = 5,
    TIFF_YCBCR,
    TIFF_LAB = 8,
    TIFF_ICC_LAB
};
enum { TIFF_LOG_L = 32844, TIFF_LOG_LUV };
enum { TIFF_UNCOMPRESSED = 1, TIFF_OLD_JPEG = 6, TIFF_JPEG };
enum { TIFF_MOST_PLANES = 16 };

/* One entry of a directory. `at`: where in the file its values are. */
typedef struct smp_tiff_entry {
    uint32_t tag, type;
    uint64_t count, at, size; /* size: bytes of all values */
} smp_tiff_entry;

typedef struct smp_tiff {
    const smp_source *source;
    bool big_endian, big; /* big: BigTIFF */
    int64_t pages;
    bool broken;     /* the chain of directories ends in one that is none */
    uint64_t folder; /* where the directory of the page is */
    smp_tiff_entry *entries;
    size_t count;
} smp_tiff;

/* Contents of the page. */
typedef struct smp_tiff_page {
    int64_t width, height;
    int bits, samples, colours; /* samples: of a pixel in the file; colours: without alpha and others */
    bool is_float, planar, alpha, premultiplied;
    bool is_signed, numbers; /* numbers: integers that are not shades, but kept as floats */
    bool rgba;               /* the library makes RGBA of 8 bits of it */
    int alpha_at;            /* the sample that is alpha */
    int compression, photometric;
    bool tiled;
    int64_t across, down;       /* tiles; strips are one across */
    int64_t unit, unit_rows;    /* columns and rows of a tile or strip */
    uint64_t row_bytes;         /* of a row of a tile or strip, of one plane when planar */
    uint64_t segments, largest; /* tiles or strips of all planes; the most bytes of one in the file */
    uint64_t memory;            /* bytes that reading takes */
} smp_tiff_page;

/* Reads the header, follows the chain of directories, and reads the one of the page (1 first). Fails with
 * SMP_E_DECODE. *tiff is to be closed also on failure. */
smp_code smp_tiff_open(smp_tiff *tiff, const smp_source *source, int64_t page, smp_error *err);
void smp_tiff_close(smp_tiff *tiff);

/* Reads the entries of a directory elsewhere, such as EXIF's, as a TIFF with that folder. False: it is none. */
bool smp_tiff_open_folder(smp_tiff *tiff, const smp_tiff *in, uint64_t at);

/* If the page is a thumbnail of a picture whose directory lies below it, opens that picture as a TIFF. False: it is
 * not. */
bool smp_tiff_open_below(smp_tiff *tiff, const smp_tiff *in);

/* The entry, or null. */
const smp_tiff_entry *smp_tiff_find(const smp_tiff *tiff, uint32_t tag);

enum { TIFF_VALUES = 768 /* that one call may read */ };

/* Values of an entry of whole numbers, from the i-th on, by one read; false when it has not so many. */
bool smp_tiff_values(const smp_tiff *tiff, const smp_tiff_entry *entry, uint64_t i, uint64_t count, uint64_t *values);

/* The i-th value alone. */
bool smp_tiff_value(const smp_tiff *tiff, const smp_tiff_entry *entry, uint64_t i, uint64_t *value);

/* Rational number i; 0 when there is none. */
double smp_tiff_rational(const smp_tiff *tiff, uint32_t tag, uint64_t i);

/* Bytes of a value of this type; 0: unknown. */
size_t smp_tiff_type_size(uint32_t type);

/* Checks all that the picture's size and place depend on: SMP_E_DECODE, SMP_E_LIMIT. */
smp_code smp_tiff_check_page(const smp_tiff *tiff, const smp_limits *limits, smp_tiff_page *page, smp_error *err);

/* The entry of the places of strips or tiles, or of their sizes; null: there is none. Some files have strips' entries
 * for tiles. */
const smp_tiff_entry *smp_tiff_segments(const smp_tiff *tiff, const smp_tiff_page *page, bool sizes);

/* The name of a compression, or null where it is not read. */
const char *smp_tiff_compression_name(int compression);

/* Entries of a directory with their values, little-endian: carried from a TIFF to an EXIF block, and from that into a
 * TIFF that is written. */

typedef struct smp_tiff_tag {
    uint16_t tag, type;
    uint64_t count;
    smp_blob value;
} smp_tiff_tag;

typedef struct smp_tiff_tags {
    smp_tiff_tag *items;
    size_t count, capacity;
    uint64_t bytes; /* of all values */
} smp_tiff_tags;

/* Adds an entry that was read, or notes that its type is unknown or all entries together pass a megabyte. False: out of
 * memory. */
bool smp_tiff_tags_take(smp_tiff_tags *tags, const smp_tiff *tiff, const smp_tiff_entry *entry, smp_notes *notes);

/* Adds an entry; value: little-endian, copied. False: out of memory. */
bool smp_tiff_tags_add(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const void *value);

/* The same with whole numbers. */
bool smp_tiff_tags_numbers(smp_tiff_tags *tags, uint32_t tag, uint32_t type, uint64_t count, const uint64_t *values);

bool smp_tiff_tags_has(const smp_tiff_tags *tags, uint32_t tag);
bool smp_tiff_tags_say(const smp_tiff_tags *tags, uint32_t tag, const char *text); /* it is there, with that text */

/* The first directory, and those that entries point at: EXIF's and GPS's in the first, the other in EXIF's. */
enum { TIFF_FIRST, TIFF_EXIF, TIFF_GPS, TIFF_INTEROP, TIFF_FOLDERS };

/* Takes the entries of directory i and of those below, where there are such. tiff: the directory that points at it.
 * False: out of memory. */
bool smp_tiff_folders_take(smp_tiff_tags *folders, const smp_tiff *tiff, int i, smp_notes *notes);

/* Adds the entries that point at directories, and gives the bytes of all with their values, even; 0: out of memory.
 * big: BigTIFF. */
uint64_t smp_tiff_folders_link(smp_tiff_tags *folders, bool big);

/* Writes the directories, of so many bytes in all, which will be at `place` (even) of the file, the values of each
 * behind it; no other directory follows. Sorts the entries. */
void smp_tiff_folders_put(smp_tiff_tags *folders, bool big, uint64_t place, uint64_t size, uint8_t *to);
void smp_tiff_folders_free(smp_tiff_tags *folders);

/* Converts between the metadata of a TIFF and the program's. */

/* Profile, resolution, texts, XMP, and an EXIF block made of the camera's entries. */
smp_code smp_tiff_keep_meta(const smp_tiff *tiff, smp_reader *reader, smp_error *err);

/* Adds the entries of metadata to those of a picture that is written. False: out of memory. */
bool smp_tiff_put_meta(const smp_meta *meta, int colours, smp_tiff_tags *folders, smp_notes *notes);

/* libtiff behind two functions that decode: messages become errors, bytes come from an smp_source. One handle decodes
 * one plane of a page, from top to bottom. */

typedef struct smp_tiff_handle smp_tiff_handle;

/* Opens the page whose directory was walked. libtiff must see the same in it. What it warns of, and is harmless or,
 * with
 * --no-verify, not, becomes the reader's notes. *out is null on failure. */
smp_code smp_tiff_handle_open(smp_reader *reader, const smp_tiff *tiff, const smp_tiff_page *page,
                              smp_tiff_handle **out, smp_error *err);
void smp_tiff_handle_close(smp_tiff_handle *handle);

/* The next row of a page in strips: page->row_bytes. */
smp_code smp_tiff_handle_row(smp_tiff_handle *handle, int plane, int64_t y, void *to, smp_error *err);

/* Row y of a page that the library makes RGBA of, as RGB. */
smp_code smp_tiff_handle_rgb(smp_tiff_handle *handle, int64_t y, uint8_t *to, smp_error *err);

/* A whole tile: page->row_bytes * page->unit_rows. */
smp_code smp_tiff_handle_tile(smp_tiff_handle *handle, int plane, int64_t x, int64_t y, void *to, smp_error *err);

/* Strips and tiles that are deflated, inflated by this program with their check sums, which libtiff, decoding by rows,
 * does not read: single wrong bits went through. One decodes one plane of a page, from top to bottom. */

typedef struct smp_tiff_inflate smp_tiff_inflate;

/* *out is null where libtiff is to read the page: another compression, or an unusual way of deflating. verify: wrong
 * check sums are errors. tiff, page and source must outlive it. */
smp_code smp_tiff_inflate_open(smp_source *source, const smp_tiff *tiff, const smp_tiff_page *page, bool verify,
                               smp_tiff_inflate **out, smp_error *err);
void smp_tiff_inflate_close(smp_tiff_inflate *in);

/* As smp_tiff_handle_row and smp_tiff_handle_tile give them (tiff_library.h). */
smp_code smp_tiff_inflate_row(smp_tiff_inflate *in, int plane, int64_t y, void *to, smp_error *err);
smp_code smp_tiff_inflate_tile(smp_tiff_inflate *in, int plane, int64_t x, int64_t y, void *to, smp_error *err);

/* Rows of a TIFF as they were before differences of neighbours were taken. Sources: TIFF 6.0, section 14; Adobe
 * Photoshop TIFF Technical Notes 3 (floating-point predictor). */

enum { TIFF_PREDICT_NOT = 1, TIFF_PREDICT_ACROSS = 2, TIFF_PREDICT_FLOATS = 3 };

/* bits: 8 to 64 of a sample, with predictor 1 any; samples: of a pixel of the row; swap: the file has the other byte
 * order; line: room for a row, with predictor 3. The samples get the machine's byte order. */
void smp_tiff_unpredict(int predictor, int bits, size_t samples, bool swap, uint8_t *row, size_t size, uint8_t *line);

/* Rows of a TIFF as libtiff gives them, made into the program's: packed bits, palettes, inks, planes, alpha. */

typedef struct smp_tiff_samples {
    const smp_tiff_page *page;
    smp_shape shape;
    uint8_t (*palette)[3];
    smp_cmyk *cmyk;                   /* of CMYK, set by the reader once it has the profile; closed with the samples */
    bool converted;                   /* rows are not stored as they are wanted */
    double white[3], matrix[9];       /* of L*a*b*: where 100, 0, 0 is, and XYZ to light */
    bool rounded;                     /* a number had too many digits */
    uint8_t *lines[TIFF_MOST_PLANES]; /* bits or floats widened, of each plane */
} smp_tiff_samples;

/* Fills in what the samples become, and reads the palette. Takes the memory. */
smp_code smp_tiff_samples_open(smp_tiff_samples *samples, const smp_tiff *tiff, const smp_tiff_page *page,
                               smp_error *err);
void smp_tiff_samples_close(smp_tiff_samples *samples);

/* One row. rows: of each plane, or the one. */
void smp_tiff_samples_row(smp_tiff_samples *samples, const uint8_t *const *rows, void *to);

/* Strips of a TIFF, made smaller: differences of neighbours, then Deflate, LZW or Zstandard. The bytes depend on the
 * strip alone.
 */

typedef enum smp_tiff_compression { SMP_TIFF_DEFLATE, SMP_TIFF_LZW, SMP_TIFF_NONE, SMP_TIFF_ZSTD } smp_tiff_compression;

/* The options --tiff-compression, an smp_tiff_compression, and --tiff-tile: sides of tiles, px; 0: strips. */
extern const smp_write_option smp_tiff_packing, smp_tiff_tile;

typedef struct smp_tiff_packer smp_tiff_packer;

/* For strips of at most `most` bytes. Null: out of memory. */
smp_tiff_packer *smp_tiff_packer_open(const smp_shape *shape, smp_tiff_compression compression, size_t most);
void smp_tiff_packer_close(smp_tiff_packer *packer);

/* Whether this build has it. */
bool smp_tiff_packs(smp_tiff_compression compression);

/* Packs whole rows, which are changed. The result is valid until the next call; null: the library failed. */
const uint8_t *smp_tiff_packer_strip(smp_tiff_packer *packer, uint8_t *rows, size_t size, size_t *packed);

/* LZW as TIFF has it: codes of 9 to 12 bits, the highest bit first, wider one code early. Source: TIFF 6.0, section 13.
 */

enum { SMP_LZW_SLOTS = 1 << 14 };

/* Strings that have a code: a shorter one's code and a byte. */
typedef struct smp_lzw {
    uint32_t string[SMP_LZW_SLOTS]; /* code << 8 | byte, plus 1; 0: the slot is free */
    uint16_t code[SMP_LZW_SLOTS];
} smp_lzw;

/* The most bytes that `size` bytes become. */
size_t smp_lzw_room(size_t size);

/* Compresses; returns the bytes written. */
size_t smp_lzw_pack(smp_lzw *lzw, const uint8_t *from, size_t size, uint8_t *to);
