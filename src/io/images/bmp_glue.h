/* Shared by the BMP's reader, run decoder and writer. Source: Microsoft's BITMAPINFOHEADER, BITMAPV4HEADER and
 * BITMAPV5HEADER; IBM's OS/2 2.0 Presentation Manager Reference, "Bitmap File Format". */
#pragma once

#include "io/format.h"
#include "io/images/stored_rows.h"

enum {
    BMP_FILE_HEADER = 14,
    BMP_OS2_HEADER = 12, /* OS/2 1.x: 16-bit sizes, 3-byte colours */
    BMP_INFO_HEADER = 40,
    BMP_V4_HEADER = 108,
    BMP_V5_HEADER = 124
};

typedef enum bmp_coding {
    BMP_PLAIN = 0,
    BMP_RLE8 = 1,
    BMP_RLE4 = 2,
    BMP_BITFIELDS = 3, /* OS/2 2.x: Huffman codes */
    BMP_JPEG = 4,      /* OS/2 2.x: RLE of 24-bit pixels */
    BMP_PNG = 5,
    BMP_ALPHA_BITFIELDS = 6,
    BMP_RLE24 = 7 /* 4 in the file */
} bmp_coding;

/* A channel in a 16, 24 or 32-bit pixel. */
typedef struct bmp_channel {
    uint32_t mask, shift, max;
    uint8_t scaled[256]; /* value to 0..255, where max is at most 255 */
} bmp_channel;

typedef struct bmp_reader {
    uint32_t header; /* bytes */
    uint32_t bits;   /* of a pixel */
    bmp_coding coding;
    bool top_first;
    uint64_t offset; /* of the pixels */
    bmp_channel channels[4];
    uint8_t palette[256][3];    /* red first; colours missing in the file are black, as in browsers */
    uint32_t colours;           /* that are not missing */
    uint64_t beyond;            /* pixels of missing ones */
    uint8_t spread[256][8 * 3]; /* the pixels of a byte that holds several */
    smp_stored_rows stored;
    /* of RLE pictures: all pixels, top row first, as palette index or blue, green, red */
    uint8_t *frame;
    uint8_t *painted; /* a bit for each pixel: 0 where the file skips it */
} bmp_reader;

/* Decodes the RLE data that follows in the source into `frame` and `painted`, which it allocates. *holes: pixels were
 * skipped. */
smp_code smp_bmp_read_runs(smp_reader *reader, bool *holes, smp_error *err);

/* A row of the decoded frame as RGB, or as RGBA when pixels were skipped. */
void smp_bmp_frame_row(const smp_reader *reader, int64_t y, uint8_t *to);

/* The reader's functions for the format table. */
bool smp_bmp_sniff(const uint8_t *head, size_t size);
SMP_DECLARE_READER(smp_bmp, row);
