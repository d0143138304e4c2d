/* Rows of luma and chroma to RGB and back. A sample of chroma stands for all pixels that share it, and is their mean
 * on the way back: what was read and not changed is written nearly as it was. Source: ITU-R BT.601-7, BT.709-6,
 * section 3; which of the two holds for a picture no y4m says, so it goes by its size, as players do. */
#pragma once

#include "io/media.h"

typedef struct smp_ycbcr {
    int64_t width, chroma; /* samples of a row of luma, of chroma; chroma 0: there is none */
    int bits, across;
    int black, middle; /* codes of luma 0 and of no chroma */
    int most;          /* the highest code */
    /* Products of 2^13 (8 bits) or 2^32 with: */
    int64_t luma; /* a code, to give RGB's codes */
    int64_t red_cr, green_cb, green_cr, blue_cb;
    int64_t y[3], cb[3], cr[3]; /* RGB's codes, to give codes; 2^15 or 2^40 */
    bool avx2;                  /* the machine has it */
} smp_ycbcr;

void smp_ycbcr_open(smp_ycbcr *to, const smp_video *video, int64_t width, int64_t height);

/* One row: u8 of 8 bits, else u16; RGB, or gray where there is no chroma. */
void smp_ycbcr_decode(const smp_ycbcr *of, const uint8_t *y, const uint8_t *cb, const uint8_t *cr, void *to);

/* The luma of a row; and adds the row to the sums of those that share chroma: of red, then green, then blue. */
void smp_ycbcr_encode_luma(const smp_ycbcr *of, const void *from, uint8_t *y);
void smp_ycbcr_add(const smp_ycbcr *of, const void *from, int32_t *sums);

/* A row of chroma from the sums of 2^down rows. */
void smp_ycbcr_encode_chroma(const smp_ycbcr *of, const int32_t *sums, int down, uint8_t *cb, uint8_t *cr);
