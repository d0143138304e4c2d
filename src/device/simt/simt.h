/* The emulator: the CUDA driver's entry points over host threads and fibers, so that the whole CUDA path, host and
 * kernels, runs without a GPU. The kernels are kernels/ROOM/NAME.cu, compiled by the host compiler. There is one
 * emulator in a process, like a driver. Work is done at once in the calling thread and its workers: streams are always
 * idle, and a kernel's fault shows at the next call, as on a device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "banks/trace.h"
#include "base/error.h"
#include "device/cuda/cuda_api.h"

/* Static storage; never fails (its cuInit does nothing). */
smp_driver *smp_driver_simt(void);

/* Host threads that run blocks; 0: all cores, at most 16. Takes effect for the next context. */
void smp_simt_set_threads(int threads);

/* The most blocks of a grid in y and z; 0: a GPU's 65535. With a small limit, kernels with grid-stride loops iterate on
 * small pictures as they would on huge ones. Takes effect for the next device that is opened. */
void smp_simt_set_blocks(int most);

/* The order in which the warps of a block run, and the lanes of a warp. Results must not depend on it. Others than the
 * two are shuffled, each in its own way. */
enum { SMP_SIMT_FORWARD, SMP_SIMT_REVERSED };
void smp_simt_set_order(int order);

/* Opens libsmempipe-trace.so, which has the traced kernels and calls the emulator back: beside the program or
 * where the installation put it. Once for the process; the next calls give the same answer. An observer that counts
 * every kernel needs no library: it is then opened by the first launch that this observer leaves to it. */
smp_code smp_simt_open_traced(smp_error *err);

/* From now on launches run the traced kernels and add to *trace; null switches back. The caller owns
 * it and frees it with smp_trace_free(). Tracing is 10 to 20 times slower than plain emulation. Without the library
 * launches fail: CUDA_ERROR_NOT_FOUND. */
void smp_simt_set_trace(smp_trace *trace);

/* A launch as the driver gets it. */
typedef struct smp_simt_seen {
    const char *file, *kernel; /* NAME of kernels/ROOM/NAME.cu */
    unsigned grid[3], block[3];
    size_t dynamic_shared;
    void *const *args;
    int threads; /* of the host that run blocks */
} smp_simt_seen;

/* Counts launches in another way than by the traced kernels, where a trace wants that (smp_trace.sass). begin fills
 * *to, leaves the buffers as they were and returns true, or returns false: the traced kernel counts. Only after true,
 * the plain kernel runs, and end is called. */
typedef struct smp_simt_observer {
    bool (*begin)(const smp_simt_seen *launch, smp_trace *trace, smp_trace_launch *to);
    void (*end)(const smp_simt_seen *launch, smp_trace *trace);
    bool (*counts_all)(void); /* whether begin serves every kernel of the program */
} smp_simt_observer;
void smp_simt_set_observer(const smp_simt_observer *observer); /* null: none; it outlives the launches */

/* Calls see for each buffer of the device. */
void smp_simt_each_buffer(void (*see)(void *context, void *data, size_t size), void *context);
