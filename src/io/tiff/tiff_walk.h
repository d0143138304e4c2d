/* The directories of a TIFF, walked by this program before any library sees the file: sizes, counts and places are
 * checked against the limits and the file's end. Reads classic TIFF and BigTIFF, either byte order. Sources: TIFF 6.0;
 * Adobe Photoshop TIFF Technical Notes; the BigTIFF design, libtiff.gitlab.io. */
#pragma once

#include "io/format.h"

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
    TIFF_EXIF_FOLDER = 34665,
    TIFF_ICC = 34675,
    TIFF_GPS_FOLDER = 34853,
    TIFF_DNG = 50706
};
enum { TYPE_BYTE = 1, TYPE_ASCII, TYPE_SHORT, TYPE_LONG, TYPE_RATIONAL, TYPE_UNDEFINED = 7, TYPE_LONG8 = 16 };
enum { TIFF_WHITE_IS_ZERO, TIFF_BLACK_IS_ZERO, TIFF_RGB, TIFF_PALETTE_COLOUR, TIFF_INK = 5, TIFF_YCBCR };
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
    uint64_t folder; /* where the directory of the page is */
    smp_tiff_entry *entries;
    size_t count;
} smp_tiff;

/* Contents of the page. */
typedef struct smp_tiff_page {
    int64_t width, height;
    int bits, samples, colours; /* samples: of a pixel in the file; colours: without alpha and others */
    bool is_float, planar, alpha, premultiplied;
    int alpha_at; /* the sample that is alpha */
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

/* A rational number; 0 when there is none. */
double smp_tiff_rational(const smp_tiff *tiff, uint32_t tag);

/* Bytes of a value of this type; 0: unknown. */
size_t smp_tiff_type_size(uint32_t type);

/* Checks all that the picture's size and place depend on: SMP_E_DECODE, SMP_E_LIMIT. */
smp_code smp_tiff_check_page(const smp_tiff *tiff, const smp_limits *limits, smp_tiff_page *page, smp_error *err);

/* The entry of the places of strips or tiles, or of their sizes; null: there is none. Some files have strips' entries
 * for tiles. */
const smp_tiff_entry *smp_tiff_segments(const smp_tiff *tiff, const smp_tiff_page *page, bool sizes);

/* The name of a compression, or null where it is not read. */
const char *smp_tiff_compression_name(int compression);
