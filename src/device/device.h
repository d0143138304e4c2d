/* A device runs kernels over views and owns memory. The executor knows devices only through this table. Work is queued
 * in order. copy_in and copy_out return when the host may reuse its memory; what is sent from pinned memory, or to it,
 * travels meanwhile, and a mark behind it says when it is there. */
#pragma once

#include "base/error.h"
#include "base/wish.h"
#include "stages/stage.h"

typedef struct smp_device smp_device;

typedef struct smp_device_info {
    char name[96];                             /* "Intel Xeon ..., x86-64-v4", "NVIDIA H100 80GB HBM3" */
    char kind[8];                              /* cpu, cuda, simt */
    int index;                                 /* among devices of one kind */
    int compute_major, compute_minor;          /* cuda, simt */
    int units;                                 /* threads, or SMs */
    int64_t memory;                            /* bytes */
    int64_t shared_per_block, shared_per_unit; /* bytes */
    double peak_gbs;                           /* datasheet memory bandwidth; 0: unknown */
    char isa[16];                              /* cpu: base, v3, v4 */
    int numa_node;                             /* cuda: whose memory is nearest; -1: unknown, or there is one node */
    int64_t cache;                             /* bytes of the last cache before memory; 0: unknown */
} smp_device_info;

/* The cost of launches; the executor adds them up. */
typedef struct smp_cost {
    double seconds;
} smp_cost;

typedef struct smp_mark smp_mark; /* a place in the order of a device's work, or of what is sent one way beside it */
typedef enum smp_order { SMP_WORK, SMP_UP, SMP_DOWN } smp_order;

/* Rows of row_bytes on their way; strides are in bytes. */
typedef struct smp_rows_sent {
    bool up; /* to the device, and not from it */
    void *to;
    const void *from;
    int64_t to_stride, from_stride, row_bytes, rows;
    const smp_mark
        *after; /* null: behind all work that was queued, and in front of what will be. Else beside it: behind
                 * this mark, and what was sent that way before; work that needs the rows follows a mark */
} smp_rows_sent;

typedef struct smp_device_ops {
    /* Device memory. *out is null on failure (SMP_E_MEMORY or SMP_E_DEVICE_MEMORY). */
    smp_code (*alloc)(smp_device *device, size_t size, void **out, smp_error *err);
    void (*free)(smp_device *device, void *memory);
    smp_code (*zero)(smp_device *device, void *memory, size_t size, smp_error *err);
    /* Copies rows of row_bytes; strides are in bytes. */
    smp_code (*copy_in)(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                        int64_t row_bytes, int64_t rows, smp_error *err);
    smp_code (*copy_out)(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                         int64_t row_bytes, int64_t rows, smp_error *err);
    /* Copies rows of row_bytes within device memory. They must not overlap. */
    smp_code (*copy)(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                     int64_t row_bytes, int64_t rows, smp_error *err);
    /* The next seven are a GPU's. Pinned memory of the host is kept for the next ask; null: there is no more. */
    void *(*pinned_alloc)(smp_device *device, size_t size);
    void (*pinned_free)(smp_device *device, void *memory);
    /* Pins memory of others, which they release after smp_release_hook_call() only (base/os/release_hook.h). Nobody
     * else sends from it meanwhile. False: it cannot be pinned. */
    bool (*pin)(smp_device *device, void *memory, size_t size);
    /* Queues a copy of pinned memory, and the mark behind it: a new one where *mark is null. The time on the bus is
     * added to *cost as in launch. */
    smp_code (*send)(smp_device *device, const smp_rows_sent *rows, smp_cost *cost, smp_mark **mark, smp_error *err);
    /* Waits until what was queued before a mark is done. Any thread may ask. */
    smp_code (*reach)(smp_device *device, const smp_mark *mark, smp_error *err);
    void (*unmark)(smp_device *device, smp_mark *mark);
    /* Puts a mark behind the work that was queued so far, or behind what was sent up or down beside it: a new one where
     * *mark is null. */
    smp_code (*mark)(smp_device *device, smp_order order, smp_mark **mark, smp_error *err);
    /* Work that is queued from now on waits for a mark; the host does not. */
    smp_code (*follow)(smp_device *device, const smp_mark *mark, smp_error *err);
    /* Queues one launch of a variant over rows io->out.y0 .. +rows. For reductions io->result is the whole result in
     * device memory, of the kind that plan says. Adds the cost to *cost, which must live until sync: a GPU knows it
     * only then. */
    smp_code (*launch)(smp_device *device, const smp_variant *variant, const smp_launch *launch, const smp_io *io,
                       const smp_node_plan *plan, smp_cost *cost, smp_error *err);
    /* Waits until a stream of somebody else's (a CUstream; null: the default one) has done what was queued. */
    smp_code (*wait)(smp_device *device, void *stream, smp_error *err);
    /* Waits until all queued work is done, and what was sent beside it, and reports their errors. */
    smp_code (*sync)(smp_device *device, smp_error *err);
    void (*close)(smp_device *device);
} smp_device_ops;

struct smp_device {
    const smp_device_ops *ops;
    smp_device_info info;
    bool host_memory;     /* the host can read and write alloc()'s memory: no copies are needed */
    const smp_wish *wish; /* null: all is wanted. A CPU's launches fail with SMP_E_INTERRUPTED when it is gone */
};

/* spec: auto, cpu, cuda, cuda:N, simt. `auto` takes the CPU unless the work is worth a GPU's start time
 * (smp_device_times) and a GPU opens; it writes one line about the choice to note (may be null, size bytes). The others
 * never fall back. threads: 0 for all. isa: base, v3 or v4 to force a code path in tests (`auto` is then the CPU); null
 * for the best. */
typedef struct smp_device_request {
    const char *spec;
    int threads;
    const char *isa;
    double work_bytes;     /* an estimate of all bytes that stages read and write; 0: unknown */
    double operations;     /* an estimate of the arithmetic of stages, as smp_node_plan.ops counts it; 0: unknown */
    double transfer_bytes; /* an estimate of the bytes copied to and from a GPU */
    double codec_bytes;    /* of samples that processors decode and code, whatever the device */
    double jpeg_pixels;    /* of JPEGs that a GPU would decode and code, each counted for either */
    int gpus;              /* of the machine: the driver takes longer to start for several; 0: as for one */
} smp_device_request;

/* Estimates for `auto`, biased towards the CPU: seconds for the stages of a pipeline on the CPU with so many threads,
 * and on a GPU with its start time; with what of decoding and encoding differs. */
void smp_device_times(const smp_device_request *request, int threads, double *cpu, double *gpu);

/* Returns the number of GPUs that this machine seems to have, without opening their driver, which takes its time. */
int smp_device_likely_gpus(void);

smp_code smp_device_open(const smp_device_request *request, smp_device **out, char *note, size_t note_size,
                         smp_error *err);
void smp_device_close(smp_device *device);

/* Every device of this machine, and why a kind is missing: for `smempipe devices`. *count entries from smp_alloc. */
smp_code smp_device_list(smp_device_info **out, size_t *count, char *missing, size_t missing_size, smp_error *err);
