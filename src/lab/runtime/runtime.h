/* libsmp_cudart: a stand-in for CUDA's runtime library, over the warp machine. Programs that nvcc compiled link it and
 * run unmodified; `smempipe kernel` says where the PTX is and where results go (commands/lab/kernel.h). */
#pragma once

#include "lab/machine/warp.h"

#define LAB_API __attribute__((visibility("default")))
/* A function that is a single expression. */
#define LAB_ALIAS(name, parameters, result)                                                                            \
    LAB_API int name parameters                                                                                        \
    {                                                                                                                  \
        return result;                                                                                                 \
    }

/* cudaError_t, as far as it is given here. */
enum {
    LAB_SUCCESS = 0,
    LAB_INVALID_VALUE = 1,
    LAB_OUT_OF_MEMORY = 2,
    LAB_INVALID_CONFIGURATION = 9,
    LAB_NOT_INITIALIZED = 3,
    LAB_INVALID_PITCH = 12,
    LAB_INVALID_SYMBOL = 13,
    LAB_INVALID_DIRECTION = 21,
    LAB_INVALID_FUNCTION = 98,
    LAB_INVALID_DEVICE = 101,
    LAB_INVALID_IMAGE = 200,
    LAB_INVALID_CONTEXT = 201,
    LAB_NO_BINARY = 209,
    LAB_UNSUPPORTED_LIMIT = 215,
    LAB_INVALID_PTX = 218,
    LAB_FILE_NOT_FOUND = 301,
    LAB_INVALID_HANDLE = 400,
    LAB_NOT_FOUND = 500,
    LAB_ILLEGAL_ADDRESS = 700,
    LAB_OUT_OF_RESOURCES = 701, /* registers */
    LAB_ILLEGAL_INSTRUCTION = 715,
    LAB_MISALIGNED_ADDRESS = 716,
    LAB_LAUNCH_FAILURE = 719,
    LAB_CONTEXT_DESTROYED = 709,
    LAB_ASSERT = 710,
    LAB_REGISTERED = 712,
    LAB_NOT_REGISTERED = 713,
    LAB_TOO_LARGE = 720, /* a cooperative launch */
    LAB_NOT_SUPPORTED = 801,
    LAB_CAPTURE_UNSUPPORTED = 900,
    LAB_CAPTURE_IMPLICIT = 906,
    LAB_CLUSTER_SIZE = 912
};

typedef struct lab_dim3 {
    unsigned x, y, z;
} lab_dim3;

/* cudaLaunchConfig_t */
typedef struct lab_config {
    lab_dim3 grid, block;
    size_t shared;
    void *stream;
    void *attributes;
    unsigned attribute_count;
} lab_config;

/* cudaPitchedPtr, cudaMemcpy3DParms */
typedef struct lab_pitched {
    void *memory;
    size_t pitch, width, height;
} lab_pitched;

typedef struct lab_copy_3d {
    void *from_array;
    size_t from_at[3];
    lab_pitched from;
    void *to_array;
    size_t to_at[3];
    lab_pitched to;
    size_t extent[3];
    int kind;
} lab_copy_3d;

/* cudaExtent: bytes of a row, or elements of an array's; rows, slices */
typedef struct lab_extent {
    size_t width, height, depth;
} lab_extent;

/* An address of device memory that is not there yet, null: none is left; then it is, if it was not. */
void *lab_address(size_t size);
int lab_allocate_at(void *memory, size_t size);

lab_copy_3d lab_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                          int kind);

/* The rows of an array, and the bytes of an element; false: it is none, or does not hold this part. */
bool lab_array_rows(const void *array, const size_t at[3], const size_t extent[3], lab_pitched *rows, size_t *element);

/* cudaMemsetParams: elements of 1, 2 or 4 bytes in rows */
typedef struct lab_values {
    void *memory;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} lab_values;
int lab_fill(const lab_values *v);
int lab_copy_box(const lab_copy_3d *p);
int lab_free(void *p);

LAB_API int cudaMalloc(void **p, size_t size);
LAB_API int cudaFree(void *p);
LAB_API int cudaMemcpy(void *to, const void *from, size_t size, int kind);
LAB_API int cudaMemset(void *p, int value, size_t size);
LAB_API int cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height);
LAB_API int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind);
LAB_API int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
LAB_API int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
LAB_API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, int kind, void *stream);
LAB_API int cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, void *stream);
LAB_API int cudaMallocAsync(void **p, size_t size, void *stream);
LAB_API int cudaLaunchHostFunc(void *stream, void (*function)(void *data), void *data);
enum { LAB_DEVICE_TO_DEVICE = 3 }; /* of cudaMemcpyKind */

smp_warp_memory *lab_memory(void);
/* Exits with a message. */
void lab_die(const smp_error *err) __attribute__((noreturn));

/* Remembers an error for cudaGetLastError and returns it. What a kernel does wrong stays, as on a GPU: lab_broken tells
 * that error, or 0. */
int lab_error(int error);
int lab_last_error(bool clear);
int lab_broken(void);
/* The program asks for errors of launches: those that were refused so far are not the lab's to complain about. */
void lab_noticed(void);

/* The number that the driver has for an error of the runtime. */
int lab_driver_error(int error);

/* What programs hold by a pointer: bytes of zeros, null: no memory; whether one is of that kind, and lives; frees it,
 * unless it is none. */
typedef enum lab_kind {
    LAB_STREAM,
    LAB_EVENT,
    LAB_ARRAY,
    LAB_CONTEXT,
    LAB_LINK,
    LAB_ALLOCATION,
    LAB_GRAPH,
    LAB_GRAPH_EXEC,
    LAB_PHYSICAL,
    LAB_POOL
} lab_kind;
void *lab_hold(lab_kind kind, size_t bytes);
bool lab_holds(lab_kind kind, const void *handle);
bool lab_let_go(lab_kind kind, void *handle);

/* Whether it is a stream that lives, or one that always does. */
bool lab_is_stream(const void *stream);
bool lab_is_blocking(const void *stream); /* the legacy stream waits for it */

/* Threads without one of the driver's contexts get the runtime's where they call the runtime. */
void lab_use_primary(void);
int lab_current(void **out); /* null: this thread has none */
/* What a call of the driver lacks: cuInit, a context that lives; LAB_SUCCESS: nothing. */
int lab_lacks(void);
/* A call of the driver that is a single expression, in a context. */
#define LAB_DRIVER(name, parameters, result)                                                                           \
    LAB_API int name parameters                                                                                        \
    {                                                                                                                  \
        const int lacks = lab_lacks();                                                                                 \
        return lacks ? lacks : lab_driver_error(result);                                                               \
    }

/* The same, by the names that the runtime and the driver have for it. */
#define LAB_BOTH(runtime, driver, parameters, result)                                                                  \
    LAB_ALIAS(runtime, parameters, result) LAB_DRIVER(driver, parameters, result)

/* The processors of the device that programs are told of, and the blocks of a kernel that one holds. */
enum { LAB_PROCESSORS = 132 };
int lab_resident_blocks(const void *function, int threads, size_t shared, int *blocks);

/* Runs a kernel. cluster: its blocks, all 0 as the kernel says. While a stream is captured, work on it becomes
 * nodes of a graph instead: then these give true. */
int lab_launch(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
               const lab_dim3 *cluster);
/* The same for a kernel alone: tasks becomes what it launched; and with all of that. */
int lab_run(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
            const lab_dim3 *cluster, smp_warp_tasks *tasks);
int lab_run_all(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared, bool together,
                const lab_dim3 *cluster);
struct lab_graph; /* graph.h */
/* Whether a stream is captured, or an event was recorded in one that is. What follows one that is captured becomes so:
 * an event that a stream records, a stream that waits for an event. */
bool lab_captures(const void *member);
int lab_capture_follows(const void *member, const void *followed);
void lab_capture_forgets(const void *member);
/* The program waits for it, or asks whether it is done. What is captured is never done: an error, and the capture ends
 * without a graph. */
#define LAB_DEVICE ((const void *)-1)
int lab_capture_waits(const void *member);
/* Whether it forbids calls that a graph would not repeat, as of memory: 900, and the capture ends without a graph. */
bool lab_capture_forbids(void);
bool lab_capture_launch(void *stream, const void *function, lab_dim3 grid, lab_dim3 block, void **arguments,
                        size_t shared, bool together, const lab_dim3 *cluster, int *error);
bool lab_capture_copy(void *stream, const lab_copy_3d *copy, int *error);
bool lab_capture_set(void *stream, const lab_values *values, int *error);
bool lab_capture_memory(void *stream, void *memory, size_t allocated,
                        int *error); /* allocated: bytes; 0: it is freed */
bool lab_capture_graph(void *stream, struct lab_graph *g, int *error);

/* What the host does with memory (host.c): it allocates; frees, or tries to; gives a call an address where that many
 * bytes of a buffer are not; or the device's address for the host's. */
void lab_host_allocates(const void *start, size_t size);
void lab_host_frees(const char *call, const void *start, bool freed);
void lab_host_misses(const char *call, const void *at, size_t size);
void lab_host_misses_symbol(const char *call, size_t size, size_t from, size_t all);
void lab_host_confuses(const char *call, size_t size);
/* The findings about it; null: there are none. leaks: what lives counts. */
const smp_warp_result *lab_host_result(bool leaks);

/* A call of another library is one of the lab's own: says so once for each library, and what holds of it. */
void lab_stand_in(const char *library, const char *what);
/* Whether bytes that such a call is given are a buffer's; a finding if not. */
bool lab_reaches(const char *call, const void *at, size_t size);
/* Whether bytes are a buffer's, or those of several that are mapped side by side. */
bool lab_is_buffer(const void *at, size_t size);

/* Reports a missing function, once for each name. */
int lab_missing(const char *name);

/* Where a module's code lies: paths, from smp_alloc, null: there is none. */
typedef struct lab_code {
    char *ptx, *sass;
    char *cubin; /* where it does not lie beside the SASS */
    char *why;   /* there is no SASS */
} lab_code;
typedef struct lab_module lab_module;

/* A module that the program loads; it has the texts of `code` from now on. Closed, its kernels have no names. */
smp_code lab_module_open(const lab_code *code, lab_module **out, smp_error *err);
bool lab_is_module(const lab_module *m);
void lab_modules_close(const lab_module *m, const void *context); /* it, or without it those loaded in a context */
/* The host's name of the kernel of this symbol; null: there is none. */
const void *lab_module_kernel(const lab_module *m, const char *symbol);
void *lab_module_variable(const lab_module *m, const char *name, size_t *size);
/* Why there is no SASS of a kernel; null: there is. */
const char *lab_kernel_why(const void *host);

/* Loads PTX, a cubin or a fatbin of the program's memory, or of a file. log: what is wrong with it, for the program. */
enum { LAB_LOG = 512 };
int lab_load(const void *image, const char *path, lab_module **out, char log[LAB_LOG]);
/* Whether the host may read all of that. */
bool lab_readable(const void *at, size_t size);

/* The device's memory of a __device__ variable; null: it is none. */
void *lab_symbol(const void *host, size_t *size);
/* A kernel's code; null: there is none, or the name is no kernel's. The function's value is *ptx, without it *sass. */
const smp_warp_kernel *lab_kernel_codes(const void *host, const smp_warp_kernel **ptx, const smp_warp_kernel **sass);
const smp_warp_kernel *lab_kernel(const void *host);
/* The host's name of a kernel; null: it has none. */
const void *lab_function_of(const smp_warp_kernel *kernel);
/* The bytes of dynamic shared memory that its launches may ask for; false: no block has so many, or it is no kernel. */
size_t lab_dynamic_limit(const void *host);
bool lab_allow_dynamic(const void *host, int bytes);
/* The blocks of its largest cluster: 8, and 16 where the program allows sizes that are not portable. */
unsigned lab_most_cluster(const void *host);
void lab_allow_wide(const void *host, bool allow);
/* The registers of a thread; false: they are not known, since its SASS is not at hand. */
bool lab_registers(const void *host, uint32_t *registers);

/* Until the end of the block that says so, its thread alone works on what the program's threads share: modules, memory,
 * results, what is captured. Nests. */
#define LAB_ALONE __attribute__((cleanup(lab_alone_end), unused)) const int alone = lab_alone()
int lab_alone(void);
void lab_alone_end(const int *alone);

/* The thread is alone, and the host's code may access device memory between the two, which nest. */
void lab_enter(void);
void lab_leave(void);
