/* Rows of a TIFF as they were before differences of neighbours were taken. Sources: TIFF 6.0, section 14; Adobe
 * Photoshop TIFF Technical Notes 3 (floating-point predictor). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIFF_PREDICT_NOT = 1, TIFF_PREDICT_ACROSS = 2, TIFF_PREDICT_FLOATS = 3 };

/* bits: 8 to 64 of a sample, with predictor 1 any; samples: of a pixel of the row; swap: the file has the other byte
 * order; line: room for a row, with predictor 3. The samples get the machine's byte order. */
void smp_tiff_unpredict(int predictor, int bits, size_t samples, bool swap, uint8_t *row, size_t size, uint8_t *line);
