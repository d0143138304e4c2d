/* The buffers of global memory, for memory.c and copy.c. */
#ifndef SMP_WARP_BUFFERS_H
#define SMP_WARP_BUFFERS_H

#include "warp/warp.h"

enum { WARP_BUFFER_NAME = 48 };

typedef struct warp_buffer {
    uint64_t start, size;
    void *owned;
    char name[WARP_BUFFER_NAME]; /* how findings call it; "": by its address */
} warp_buffer;

struct smp_warp_memory {
    warp_buffer *buffers; /* by start */
    size_t count, capacity;
};

#endif
