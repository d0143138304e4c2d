/* How a JPEG is coded, as the stage that codes it wants to know: its parameters, and the tables that follow from them.
 *
 * A plan that lets a device code its output adds the stage behind the last step, and behind what makes 8 bits of it:
 *     smp_jpeg_params params;
 *     if (smp_jpeg_scan_serves(path, &options, &shape, &coding, &params))       in io/jpeg/jpeg_by_device.h
 *         add a step with smp_stage_with_role(SMP_ROLE_JPEG_ENCODE) and these parameters; open the writer with the
 *         picture's own shape and smp_write_options.coded, and give it the rows of the step's output.
 * The step's output is a picture of bytes (kernels/jpeg/jpeg_encode.h): smp_jpeg_coded says how many of them are the
 * scan, or that it does not fit. Then the writer fails with SMP_E_PROCESS, and the picture is to be coded by it. */
#pragma once

#include "jpeg/jpeg_encode.h"
#include "media/shape.h"

/* The resolution of colour. */
enum { SMP_JPEG_FULL, SMP_JPEG_HALF_ACROSS, SMP_JPEG_HALF_BOTH, SMP_JPEG_HALF_DOWN };

/* A table of Huffman codes: how many have 1, 2, ... 16 bits, and their symbols in order. */
typedef struct smp_jpeg_huffman {
    uint8_t counts[16], symbols[162];
} smp_jpeg_huffman;

typedef struct smp_jpeg_params {
    int64_t quality; /* 1..100: libjpeg's tables of that quality; where `own` is not set */
    int sampling;    /* SMP_JPEG_FULL and so on */
    int64_t restart; /* MCUs between restart markers; 0: none */
    bool own;        /* steps of quantisation of each component are given, in natural order */
    uint8_t steps[3][SMP_JPEG_BLOCK];
    smp_jpeg_huffman dc[2], ac[2]; /* with `own`: codes of luma and chroma, of every symbol */
} smp_jpeg_params;

bool smp_jpeg_params_equal(const smp_jpeg_params *a, const smp_jpeg_params *b);

/* Whether the coder's output whose first bytes these are, SMP_JPEG_HEAD of them, holds a whole scan. */
bool smp_jpeg_scan_fits(const void *head);

/* The rows of that output, of shape `rows`, that hold the scan: at least one. head: its first row. */
int64_t smp_jpeg_scan_row_count(const void *head, const smp_shape *rows);

/* Fills in the index in zigzag order (T.81, figure A.6) of each coefficient, row by row. */
void smp_jpeg_fill_places(uint8_t place[SMP_JPEG_BLOCK]);

/* Takes bytes of a stage's memory, from a multiple of `align` on: where they begin. */
static inline int64_t smp_jpeg_take(int64_t *end, int64_t bytes, int64_t align)
{
    const int64_t at = *end;
    *end += (bytes + align - 1) / align * align;
    return at;
}

/* Steps, codes and order, for the kernels. */
void smp_jpeg_fill_tables(const smp_jpeg_params *params, smp_jpeg_tables *tables);
