/* The buffers of global memory, for memory.c and copy.c. */
#pragma once

#include "lab/machine/warp.h"

enum { WARP_BUFFER_NAME = 48, WARP_COPIES_KEPT = 2, WARP_USUAL_HEAP = 8 << 20 /* cudaLimitMallocHeapSize */ };

struct warp_seen;

typedef struct warp_buffer {
    uint64_t start, size;
    void *owned;
    bool device;                 /* of the arena */
    bool kernels;                /* of a kernel's malloc */
    bool pinned;                 /* of the host's, which cudaFreeHost frees */
    bool mapped;                 /* by cuMemMap, which cudaFree does not free */
    char name[WARP_BUFFER_NAME]; /* how findings call it; "": by its address */
    struct warp_seen *cells;     /* who accessed it (watch.c); null: nobody yet */
    size_t cells_size;
    uint64_t unknown;     /* bytes that nobody has written (known.c) */
    unsigned char *known; /* a bit for each that somebody has; null while all or none are unknown */
} warp_buffer;

struct smp_warp_memory {
    warp_buffer *buffers; /* by start */
    size_t count, capacity;
    unsigned char *arena; /* addresses of the device (arena.c); null: none are set apart */
    size_t arena_size, arena_used, device_bytes;
    bool is_open;        /* to the host */
    unsigned char *heap; /* of kernels' malloc: what is left of a piece; limit: of all that lives, 0: the usual one */
    unsigned char *heap_unused; /* from there to `heap` nothing was given back to the system */
    size_t heap_left, heap_used, heap_limit;
    uint64_t version; /* of the buffers: it changes where they do */
    uint64_t cells_bytes;
    uint32_t clock;     /* of the launches so far (watch.h) */
    warp_buffer *freed; /* of the arena */
    struct smp_warp_copy *kept[WARP_COPIES_KEPT];
    size_t freed_count, freed_capacity;
};

bool warp_insert_buffer(smp_warp_memory *memory, const warp_buffer *buffer, const char *name);
/* Releases what is kept beside a buffer. */
void warp_forget_buffer(smp_warp_memory *memory, warp_buffer *buffer);
/* A hash of bytes behind those of `hash` (copy.c). */
uint64_t warp_mix(uint64_t hash, const void *bytes, size_t size);
/* Somebody writes bytes of a buffer. Whether all bytes there are unknown. */
void warp_know(warp_buffer *buffer, uint64_t offset, uint64_t size);
bool warp_is_unknown(const warp_buffer *buffer, uint64_t offset, uint64_t size);
/* The buffer in which an address lies; null: none. */
warp_buffer *warp_find_buffer(const smp_warp_memory *memory, uint64_t address);

/* malloc and free of kernels: 0: there is no memory; false: it is not the address of such a buffer. */
uint64_t warp_kernel_buffer(smp_warp_memory *memory, uint64_t size);
bool warp_kernel_buffer_free(smp_warp_memory *memory, uint64_t address);
/* Addresses of the device that nothing has yet, a page more behind them; null: none are left. alignment: a power of 2.
 * They become a buffer, of memory of its own or of a file's. */
void *warp_addresses(smp_warp_memory *memory, size_t size, size_t alignment);
bool warp_buffer_at(smp_warp_memory *memory, void *start, size_t size, int file);
/* The youngest one that was freed, null: none. */
const warp_buffer *warp_find_freed(const smp_warp_memory *memory, uint64_t address);
void warp_free_device(smp_warp_memory *memory, const warp_buffer *buffer);
void warp_close_arena(smp_warp_memory *memory);

/* "4 bytes past the end of 'out' (1024 bytes)": what an address is that lies in no buffer. *illegal: a GPU would notice
 * the access. */
void warp_describe(const smp_warp_memory *memory, uint64_t address, char *text, size_t size, bool *illegal);
