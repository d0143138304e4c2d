/* tensor: a picture of bytes to its place in a batch for training, by a table of what each byte becomes. */
#pragma once

#include "lib/view.h"

typedef struct smp_tensor {
    int32_t channels; /* of the batch */
    int32_t spread;   /* 1: all of them are the picture's first */
    int32_t planar;   /* a channel after the other */
    int32_t size;     /* bytes of a sample: 1, which stays as it is; 2, 4: io.table has 256 for each channel */
} smp_tensor;
