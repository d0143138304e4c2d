/* A small picture in memory, of 8 bits a sample. */
#pragma once

#include <stdint.h>

typedef struct smp_small_picture {
    uint8_t *samples; /* without gaps, from smp_alloc; null: there is none */
    int64_t width, height;
    int channels; /* gray or RGB, with alpha or without */
} smp_small_picture;
