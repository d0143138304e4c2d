/* Shared by the CUDA device's files: cuda_device.c (opening, launches, times), cuda_memory.c (buffers, copies),
 * cuda_pinned.c (pinned memory), cuda_send.c (copies from where rows are decoded, and to where they are coded) and
 * cuda_kernel.c (modules, functions, resources of a launch). */
#pragma once

#include "device/cuda/cuda.h"
#include "device/kernel_table.h"

enum {
    CUDA_STAGES = 2,            /* pinned buffers for each direction: one is filled while the other is copied */
    CUDA_STAGE_BYTES = 1 << 20, /* of each: locking a page costs more than copying it */
    CUDA_TIMINGS = 256          /* launches, and copies, whose time was not read yet */
};

typedef struct cuda_block { /* device memory: allocated, or kept for the next alloc */
    CUdeviceptr memory;
    size_t size;
    bool borrowed;
} cuda_block;

typedef struct cuda_stage { /* pinned host memory that a copy goes through */
    void *memory;
    CUevent done;
    bool busy;     /* a queued copy uses it */
    bool ordinary; /* memory that is not pinned */
} cuda_stage;

typedef struct cuda_pinned { /* host memory: borrowed, or kept for the next ask */
    void *memory;
    size_t size;
    bool borrowed;
} cuda_pinned;

struct smp_mark {
    CUevent event;
    uint64_t number; /* of its latest record, among those of its device */
    bool borrowed;
};

typedef struct cuda_place { /* a mark as it was recorded once */
    const smp_mark *mark;
    uint64_t number;
} cuda_place;

typedef struct cuda_timing {
    CUevent start, stop;
    smp_cost *cost;       /* null: the slot is free */
    struct cuda_way *way; /* of copies; null: a launch */
    double bytes;         /* of copies */
    bool open;            /* stop is not recorded yet */
    bool unended;         /* nor will be: it takes as long as other copies that way */
} cuda_timing;

typedef struct cuda_way {              /* copies in one direction, which have a stream of their own */
    CUstream stream;                   /* null until the first */
    CUevent end;                       /* of them all, for sync */
    bool busy;                         /* some were queued since the last sync */
    cuda_place behind;                 /* what the stream waited for last */
    cuda_place latest[2];              /* behind the latest copy, and behind the one before */
    cuda_timing *span;                 /* of copies that follow on each other; null: none is open */
    double timed_bytes, timed_seconds; /* since the last sync */
} cuda_way;

typedef struct cuda_module {
    const void *file; /* an smp_kernel_file, or an smp_foreign_file */
    smp_driver *driver;
    CUcontext context;
    CUmodule module;
    size_t users; /* devices */
} cuda_module;

typedef struct cuda_function {
    char name[96];
    CUfunction function;
    bool opted_in; /* to all shared memory that a block may have */
} cuda_function;

typedef struct cuda_device {
    smp_device base;
    smp_driver *driver;
    CUdevice device;
    CUcontext context;          /* null until retained */
    CUstream stream;            /* of all work but what is sent beside it */
    cuda_way ways[2];           /* what is sent beside it: down, up */
    CUevent waited;             /* null until the first wait */
    void (*before_close)(void); /* null: nobody */
    cuda_block *blocks;
    size_t block_count, block_capacity;
    cuda_stage in[CUDA_STAGES], out[CUDA_STAGES];
    unsigned in_next;
    cuda_pinned *pinned;
    size_t pinned_count, pinned_capacity;
    smp_mark **marks;
    size_t mark_count, mark_capacity;
    uint64_t records; /* of marks */
    bool counted;     /* among the devices of its context */
    cuda_module *modules;
    size_t module_count, module_capacity;
    cuda_function *functions;
    size_t function_count, function_capacity;
    cuda_timing timings[CUDA_TIMINGS];
    unsigned timing_count, timing_next; /* those that were used; the one that was used longest ago, about */
    void *foreign_in, *foreign_out;     /* pictures without gaps, for kernels that are not this program's */
    size_t foreign_in_size, foreign_out_size;
    int threads_per_unit, blocks_per_unit, registers_per_unit, shared_reserved, blocks_most;
} cuda_device;

/* A driver call that must succeed. The function has `smp_code code`, `smp_error *err` and a label `fail`. */
#define CUDA_TRY(gpu, name, ...)                                                                                       \
    do {                                                                                                               \
        CUresult result_ = smp_##name((gpu)->driver, __VA_ARGS__);                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                                 \
            code = smp_driver_error((gpu)->driver, #name, result_, err);                                               \
            goto fail;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Makes the context current in the calling thread. */
smp_code cuda_enter(cuda_device *gpu, smp_error *err);

smp_code cuda_alloc(smp_device *device, size_t size, void **out, smp_error *err);
void cuda_free(smp_device *device, void *memory);
smp_code cuda_zero(smp_device *device, void *memory, size_t size, smp_error *err);
smp_code cuda_copy_in(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                      int64_t row_bytes, int64_t rows, smp_error *err);
smp_code cuda_copy_out(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                       int64_t row_bytes, int64_t rows, smp_error *err);
smp_code cuda_copy(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                   int64_t row_bytes, int64_t rows, smp_error *err);
/* Frees all memory; the context must be current. */
void cuda_memory_close(cuda_device *gpu);

void *cuda_pinned_alloc(smp_device *device, size_t size);
void cuda_pinned_free(smp_device *device, void *memory);
bool cuda_pin(smp_device *device, void *memory, size_t size);
smp_code cuda_send(smp_device *device, const smp_rows_sent *rows, smp_cost *cost, smp_mark **mark, smp_error *err);
smp_code cuda_reach(smp_device *device, const smp_mark *mark, smp_error *err);
void cuda_unmark(smp_device *device, smp_mark *mark);
smp_code cuda_mark(smp_device *device, smp_order order, smp_mark **mark, smp_error *err);
smp_code cuda_follow(smp_device *device, const smp_mark *mark, smp_error *err);
/* Lets the stream of work wait for what was sent beside it, so that who waits for the one waits for all. */
smp_code cuda_join_ways(cuda_device *gpu, smp_error *err);
/* Nothing is timed any more: times mean nothing after a failure, and their owners may be gone. */
void cuda_spans_drop(cuda_device *gpu);
/* Waits for an event. The driver wakes a thread that sleeps some 50 us late, so it is asked for as long before; then
 * the thread leaves its processor to decoders and encoders. wakes: the event wakes who waits for it, which costs the
 * stream 3 us; for others the thread sleeps an eighth of the time that it has waited, asks again, and so on. */
smp_code cuda_await(cuda_device *gpu, CUevent event, bool wakes, smp_error *err);
/* Frees marks and the streams of what is sent; the context must be current, and the streams drained. */
void cuda_send_close(cuda_device *gpu);
/* Counts the device among those of its context; at the end frees all that is pinned, with the context current. */
smp_code cuda_pinned_open(cuda_device *gpu, smp_error *err);
void cuda_pinned_close(cuda_device *gpu);

/* Around work that is queued in a stream, whose time is added to *cost: a pair of events; waits for the oldest work if
 * none is free. cost null: *out is too, and nothing is timed. */
smp_code cuda_timing_begin(cuda_device *gpu, CUstream stream, const smp_cost *cost, cuda_timing **out, smp_error *err);
smp_code cuda_timing_end(cuda_device *gpu, CUstream stream, cuda_timing *timing, smp_cost *cost, smp_error *err);

/* Function, grid and block of a launch for these views, checked against the device's limits; opts into dynamic shared
 * memory. *kernel: the function's name without formats. */
smp_code cuda_prepare(cuda_device *gpu, const smp_launch *launch, const smp_io *io, const void *params,
                      const char **kernel, cuda_function **function, smp_grid *grid, smp_error *err);
/* The module of a file, loaded from image unless a device of the GPU has it. */
smp_code cuda_load_module(cuda_device *gpu, const void *file, const void *image, CUmodule *out, smp_error *err);

/* Lets a function have dynamic shared memory beyond 48 KB in all: as much as there is, since other threads launch the
 * same function, and what one of them sets holds for all. *done: it was. */
smp_code cuda_opt_in(cuda_device *gpu, CUfunction function, unsigned shared, bool *done, smp_error *err);

/* Queues a kernel that is not this program's (cuda_foreign.c). */
smp_code cuda_foreign(cuda_device *gpu, const struct smp_foreign *k, const smp_io *io, smp_error *err);
void cuda_kernels_close(cuda_device *gpu);
