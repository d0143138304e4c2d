/* A small picture in memory, of 8 bits a sample. */
#ifndef SMP_REPORT_MEASURE_SMALL_PICTURE_H
#define SMP_REPORT_MEASURE_SMALL_PICTURE_H

#include <stdint.h>

typedef struct smp_small_picture {
    uint8_t *samples; /* without gaps, from smp_alloc; null: there is none */
    int64_t width, height;
    int channels; /* gray or RGB, with alpha or without */
} smp_small_picture;

#endif
