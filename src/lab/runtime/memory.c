/* Memory of the runtime: all of it is the host's, so that copies are plain and managed memory needs nothing. */
#define _GNU_SOURCE 1 /* PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP */
#include <pthread.h>
#include <string.h>

#include "base/checked.h"
#include "lab/machine/buffers.h"
#include "lab/runtime/runtime.h"

enum { WITHIN_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };
enum { ADDRESS = 512 }; /* to a multiple of which memory is aligned */

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int inside;

int lab_alone(void)
{
    return pthread_mutex_lock(&lock);
}

void lab_alone_end(const int *)
{
    pthread_mutex_unlock(&lock);
}

void lab_enter(void)
{
    pthread_mutex_lock(&lock);
    if (!inside++)
        smp_warp_memory_open_to_host(lab_memory(), true);
}

void lab_leave(void)
{
    if (!--inside)
        smp_warp_memory_open_to_host(lab_memory(), false);
    pthread_mutex_unlock(&lock);
}

/* Allocates memory that the host may access, too. */
static int allocate(void **out, size_t size, bool pinned)
{
    LAB_ALONE;
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    if (lab_capture_forbids())
        return LAB_CAPTURE_UNSUPPORTED;
    lab_use_primary();
    *out = smp_warp_buffer(lab_memory(), size, NULL);
    if (*out)
        warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)*out)->pinned = pinned;
    lab_host_allocates(*out, size);
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}

static int allocate_on_device(void **out, size_t size)
{
    static int said;
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    if (lab_broken())
        return lab_broken();
    lab_use_primary();
    lab_enter();
    *out = smp_warp_device_buffer(lab_memory(), size);
    lab_host_allocates(*out, size);
    if (*out && !said && !smp_warp_memory_is_device(lab_memory(), *out))
        said =
            fprintf(stderr, "smempipe kernel: code of the host that accesses device memory is not noticed: it has no "
                            "addresses of its own here (ulimit -v)\n");
    lab_leave();
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}

bool lab_is_buffer(const void *at, size_t size)
{
    LAB_ALONE;
    uint64_t start, bytes, address = (uint64_t)(uintptr_t)at, left = size;
    while (left && smp_warp_buffer_of(lab_memory(), address, &start, &bytes)) {
        bytes -= address - start;
        address += bytes;
        left -= left < bytes ? left : bytes;
    }
    return !left;
}

void *lab_address(size_t size)
{
    LAB_ALONE;
    return warp_addresses(lab_memory(), size, ADDRESS);
}
int lab_allocate_at(void *memory, size_t size)
{
    LAB_ALONE;
    if (lab_is_buffer(memory, 1))
        return LAB_SUCCESS;
    lab_host_allocates(memory, size);
    return lab_error(warp_buffer_at(lab_memory(), memory, size, -1) ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}
/* A captured stream's memory comes with the graph's launch. */
static int allocate_on(void **out, size_t size, void *stream)
{
    int error;
    if (!out || !size || !lab_captures(stream))
        return allocate_on_device(out, size);
    *out = lab_address(size);
    return *out && lab_capture_memory(stream, *out, size, &error) ? error : lab_error(LAB_OUT_OF_MEMORY);
}

/* Whether the host's calls may use bytes: they are a buffer's, and of no kernel's malloc. */
static bool is_for_host(const void *at, size_t size)
{
    const warp_buffer *b = warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)at);
    return lab_is_buffer(at, size) && !(size && b->kernels);
}

/* Whether rows that are said to be on the device are a buffer's; tells if not. */
static bool fits_rows(const char *call, const void *at, size_t pitch, size_t width, size_t height)
{
    LAB_ALONE;
    size_t size = 0;
    if (width && height && (!smp_mul_size(pitch, height - 1, &size) || !smp_add_size(size, width, &size)))
        size = SIZE_MAX;
    const bool fits = is_for_host(at, size);
    if (!fits)
        lab_host_misses(call, at, size);
    return fits;
}

static bool is_direction(int kind)
{
    return kind >= 0 && kind <= BY_ADDRESS;
}

/* The direction that cudaMemcpyDefault leaves to the addresses: those of buffers are the device's, as are those of
 * its memory that is no buffer any more. */
static int direction(const void *to, const void *from, int kind)
{
    LAB_ALONE;
    const bool to_device = smp_warp_memory_is_device(lab_memory(), to) || lab_is_buffer(to, 1);
    const bool from_device = smp_warp_memory_is_device(lab_memory(), from) || lab_is_buffer(from, 1);
    return kind != BY_ADDRESS         ? kind
           : to_device && from_device ? DEVICE_TO_DEVICE
           : to_device                ? HOST_TO_DEVICE
           : from_device              ? DEVICE_TO_HOST
                                      : WITHIN_HOST;
}

static int copy(const char *call, void *to, const void *from, size_t size, int kind)
{
    LAB_ALONE;
    if (!is_direction(kind))
        return lab_error(LAB_INVALID_DIRECTION);
    kind = direction(to, from, kind);
    const bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
    const bool from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
    if (lab_broken())
        return lab_broken();
    const void *const wrong = to_device && !is_for_host(to, size)       ? to
                              : from_device && !is_for_host(from, size) ? from
                                                                        : NULL;
    if (wrong || (size && (!to || !from))) {
        lab_host_misses(call, wrong, size);
        return lab_error(LAB_INVALID_VALUE);
    }
    if (size && ((kind == HOST_TO_DEVICE && smp_warp_memory_is_device(lab_memory(), from)) ||
                 (kind == DEVICE_TO_HOST && smp_warp_memory_is_device(lab_memory(), to))))
        lab_host_confuses(call, size);
    smp_warp_memory_know_copy(lab_memory(), to, from, size);
    lab_enter();
    memmove(to, from, size);
    lab_leave();
    return LAB_SUCCESS;
}

LAB_ALIAS(cudaMalloc, (void **p, size_t size),
          lab_capture_forbids() ? LAB_CAPTURE_UNSUPPORTED : allocate_on_device(p, size))
LAB_BOTH(cudaMallocHost, cuMemAllocHost_v2, (void **p, size_t size), allocate(p, size, true))
LAB_BOTH(cudaMallocManaged, cuMemAllocManaged, (void **p, size_t size, unsigned), allocate(p, size, false))
LAB_BOTH(cudaHostAlloc, cuMemHostAlloc, (void **p, size_t size, unsigned), allocate(p, size, true))
LAB_BOTH(cudaMallocAsync, cuMemAllocAsync, (void **p, size_t size, void *stream), allocate_on(p, size, stream))
LAB_API int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH = 512 };
    size_t all;
    if (!p || !pitch)
        return lab_error(LAB_INVALID_VALUE);
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (__builtin_mul_overflow(*pitch, height, &all))
        return lab_error(LAB_OUT_OF_MEMORY);
    return cudaMalloc(p, all);
}

/* Memory of the program's own that is registered: a buffer of kernels' at its place. */
static bool is_registered(const void *host)
{
    const warp_buffer *b = warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)host);
    return b && !b->owned && !b->device;
}

static int free_buffer(const char *call, void *p, bool pinned)
{
    LAB_ALONE;
    lab_use_primary();
    const warp_buffer *b = warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)p);
    const bool freed = !p || (!is_registered(p) && b && b->pinned == pinned && !b->mapped && !b->kernels &&
                              smp_warp_buffer_free(lab_memory(), p));
    if (p)
        lab_host_frees(call, p, freed);
    return lab_error(freed ? LAB_SUCCESS : LAB_INVALID_VALUE);
}
int lab_free(void *p)
{
    return free_buffer("cudaFree", p, false);
}
static int free_now(const char *call, void *p)
{
    return lab_capture_forbids() ? LAB_CAPTURE_UNSUPPORTED : free_buffer(call, p, false);
}
LAB_ALIAS(cudaFree, (void *p), free_now("cudaFree", p))
LAB_ALIAS(cudaFreeHost, (void *p),
          lab_capture_forbids() ? LAB_CAPTURE_UNSUPPORTED : free_buffer("cudaFreeHost", p, true))
static int free_on(const char *call, void *p, void *stream)
{
    int error;
    const bool taken = p && smp_warp_memory_is_device(lab_memory(), p) && lab_capture_memory(stream, p, 0, &error);
    return taken ? error : free_buffer(call, p, false);
}
LAB_ALIAS(cudaFreeAsync, (void *p, void *stream), free_on("cudaFreeAsync", p, stream))

static bool meets_buffer(uint64_t start, uint64_t end)
{
    const warp_buffer *b = lab_memory()->buffers, *const all = b + lab_memory()->count;
    while (b < all && (b->start >= end || b->start + b->size <= start))
        b++;
    return b < all;
}

LAB_API int cudaHostRegister(void *host, size_t size, unsigned)
{
    LAB_ALONE;
    const uint64_t start = (uint64_t)(uintptr_t)host;
    return lab_error(!host || !size || start + size < start                  ? LAB_INVALID_VALUE
                     : meets_buffer(start, start + size)                     ? LAB_REGISTERED
                     : smp_warp_memory_adopt(lab_memory(), host, size, NULL) ? LAB_SUCCESS
                                                                             : LAB_OUT_OF_MEMORY);
}
LAB_API int cudaHostUnregister(void *host)
{
    LAB_ALONE;
    return lab_error(is_registered(host) && smp_warp_buffer_free(lab_memory(), host) ? LAB_SUCCESS
                                                                                     : LAB_NOT_REGISTERED);
}
LAB_API int cudaHostGetDevicePointer(void **device, void *host, unsigned)
{
    if (!device || !lab_is_buffer(host, 1))
        return lab_error(LAB_INVALID_VALUE);
    *device = host;
    return LAB_SUCCESS;
}

lab_copy_3d lab_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                          int kind)
{
    return (lab_copy_3d){.from = {(void *)(uintptr_t)from, from_pitch, width, height},
                         .to = {to, to_pitch, width, height},
                         .extent = {width, height, 1},
                         .kind = kind};
}

LAB_API int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    int error;
    const lab_copy_3d all = lab_copy_rows(to, size, from, size, size, 1, kind);
    return lab_capture_copy(stream, &all, &error) ? error : copy("cudaMemcpy", to, from, size, kind);
}
LAB_ALIAS(cudaMemcpy, (void *to, const void *from, size_t size, int kind), cudaMemcpyAsync(to, from, size, kind, NULL))
static int copy_plane(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind)
{
    int error = lab_broken();
    const bool wide = width > to_pitch || width > from_pitch;
    if (!error && !is_direction(kind))
        return lab_error(LAB_INVALID_DIRECTION);
    kind = direction(to, from, kind);
    if (!error && (((kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE) &&
                    !fits_rows("cudaMemcpy2D", to, to_pitch, width, height)) ||
                   ((kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE) &&
                    !fits_rows("cudaMemcpy2D", from, from_pitch, width, height)) ||
                   wide))
        return lab_error(wide ? LAB_INVALID_PITCH : LAB_INVALID_VALUE);
    for (size_t y = 0; y < height && !error; y++)
        error = copy("cudaMemcpy2D", (char *)to + y * to_pitch, (const char *)from + y * from_pitch, width, kind);
    return error;
}
LAB_API int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, int kind, void *stream)
{
    int error;
    const lab_copy_3d all = lab_copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
    return lab_capture_copy(stream, &all, &error) ? error
                                                  : copy_plane(to, to_pitch, from, from_pitch, width, height, kind);
}
LAB_ALIAS(cudaMemcpy2D,
          (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
          cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL))
/* cudaMemcpy3DParms: a row is counted in elements where there is an array, and a place in an array, too. */
int lab_copy_box(const lab_copy_3d *p)
{
    int error = LAB_SUCCESS;
    lab_pitched from = p->from, to = p->to;
    size_t from_element = 1, to_element = 1, size;
    if ((p->from_array && !lab_array_rows(p->from_array, p->from_at, p->extent, &from, &from_element)) ||
        (p->to_array && !lab_array_rows(p->to_array, p->to_at, p->extent, &to, &to_element)) ||
        (p->from_array && p->to_array && from_element != to_element) ||
        !smp_mul_size(p->extent[0], p->from_array ? from_element : to_element, &size))
        return lab_error(LAB_INVALID_VALUE);
    for (size_t z = 0; z < p->extent[2]; z++)
        for (size_t y = 0; y < p->extent[1] && !error; y++) {
            const size_t from_row = (p->from_at[2] + z) * from.height + p->from_at[1] + y;
            const size_t to_row = (p->to_at[2] + z) * to.height + p->to_at[1] + y;
            error =
                copy("cudaMemcpy3D", (char *)to.memory + to_row * to.pitch + p->to_at[0] * to_element,
                     (const char *)from.memory + from_row * from.pitch + p->from_at[0] * from_element, size, p->kind);
        }
    return error;
}
LAB_API int cudaMemcpy3DAsync(const lab_copy_3d *p, void *stream)
{
    int error;
    return lab_capture_copy(stream, p, &error) ? error : lab_copy_box(p);
}
LAB_ALIAS(cudaMemcpy3D, (const lab_copy_3d *p), cudaMemcpy3DAsync(p, NULL))
int lab_fill(const lab_values *v)
{
    LAB_ALONE;
    size_t bytes;
    if (lab_broken())
        return lab_broken();
    if ((v->element != 1 && v->element != 2 && v->element != 4) || (uintptr_t)v->memory % v->element ||
        (v->height > 1 && v->pitch % v->element) || !smp_mul_size(v->width, v->element, &bytes) ||
        !fits_rows(v->height > 1 ? "cudaMemset2D" : "cudaMemset", v->memory, v->pitch, bytes, v->height))
        return lab_error(LAB_INVALID_VALUE);
    lab_enter();
    for (size_t y = 0; y < v->height; y++) {
        char *row = (char *)v->memory + y * v->pitch;
        smp_warp_memory_know(lab_memory(), row, bytes);
        if (v->element == 1)
            memset(row, (int)v->value, bytes);
        for (size_t i = 0; i < v->width && v->element > 1; i++)
            memcpy(row + i * v->element, &v->value, v->element);
    }
    lab_leave();
    return LAB_SUCCESS;
}
static int fill_on(void *stream, const lab_values v)
{
    int error;
    return lab_capture_set(stream, &v, &error) ? error : lab_fill(&v);
}
#define VALUES(pitch, value, bytes, width, height) ((lab_values){p, pitch, (unsigned)(value), bytes, width, height})
LAB_ALIAS(cudaMemset, (void *p, int value, size_t size), fill_on(NULL, VALUES(0, value, 1, size, 1)))
LAB_ALIAS(cudaMemsetAsync, (void *p, int value, size_t size, void *stream),
          fill_on(stream, VALUES(0, value, 1, size, 1)))
LAB_ALIAS(cudaMemset2D, (void *p, size_t pitch, int value, size_t width, size_t height),
          fill_on(NULL, VALUES(pitch, value, 1, width, height)))
LAB_ALIAS(cudaMemset2DAsync, (void *p, size_t pitch, int value, size_t width, size_t height, void *stream),
          fill_on(stream, VALUES(pitch, value, 1, width, height)))
/* The driver's */
#define FILLS(bits, type)                                                                                              \
    LAB_DRIVER(cuMemsetD##bits##_v2, (void *p, type value, size_t count),                                              \
               fill_on(NULL, VALUES(0, value, (bits) / 8, count, 1)))                                                  \
    LAB_DRIVER(cuMemsetD##bits##Async, (void *p, type value, size_t count, void *stream),                              \
               fill_on(stream, VALUES(0, value, (bits) / 8, count, 1)))                                                \
    LAB_DRIVER(cuMemsetD2D##bits##_v2, (void *p, size_t pitch, type value, size_t width, size_t height),               \
               fill_on(NULL, VALUES(pitch, value, (bits) / 8, width, height)))
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

/* ------------------------------------------------------------------------------------------------ symbols */

static int copy_symbol(const void *symbol, void *to, const void *from, size_t size, size_t offset, int kind,
                       void *stream)
{
    LAB_ALONE;
    int error;
    size_t bytes;
    char *memory = lab_symbol(symbol, &bytes);
    if (!memory)
        return lab_error(LAB_INVALID_SYMBOL);
    if (offset > bytes || size > bytes - offset)
        lab_host_misses_symbol(to ? "cudaMemcpyFromSymbol" : "cudaMemcpyToSymbol", size, offset, bytes);
    if (offset > bytes || size > bytes - offset || (size && !to && !from))
        return lab_error(LAB_INVALID_VALUE);
    from = to ? memory + offset : from;
    to = to ? to : memory + offset;
    const lab_copy_3d all = lab_copy_rows(to, size, from, size, size, 1, kind);
    if (lab_capture_copy(stream, &all, &error))
        return error;
    smp_warp_memory_know(lab_memory(), to, size);
    lab_enter();
    memmove(to, from, size);
    lab_leave();
    return LAB_SUCCESS;
}

LAB_ALIAS(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t size, size_t offset, int kind),
          copy_symbol(symbol, NULL, from, size, offset, kind, NULL))
LAB_ALIAS(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t size, size_t offset, int kind),
          copy_symbol(symbol, to, NULL, size, offset, kind, NULL))
LAB_ALIAS(cudaMemcpyToSymbolAsync,
          (const void *symbol, const void *from, size_t size, size_t offset, int kind, void *stream),
          copy_symbol(symbol, NULL, from, size, offset, kind, stream))
LAB_ALIAS(cudaMemcpyFromSymbolAsync, (void *to, const void *symbol, size_t size, size_t offset, int kind, void *stream),
          copy_symbol(symbol, to, NULL, size, offset, kind, stream))
LAB_API int cudaGetSymbolAddress(void **p, const void *symbol)
{
    size_t size;
    lab_use_primary();
    if (!p)
        return lab_error(LAB_INVALID_VALUE);
    *p = lab_symbol(symbol, &size);
    return lab_error(*p ? LAB_SUCCESS : LAB_INVALID_SYMBOL);
}
LAB_API int cudaGetSymbolSize(size_t *size, const void *symbol)
{
    if (!size)
        return lab_error(LAB_INVALID_VALUE);
    return lab_error(lab_symbol(symbol, size) ? LAB_SUCCESS : LAB_INVALID_SYMBOL);
}

/* ------------------------------------------------------------------------------------------------ advice */

LAB_BOTH(cudaMemPrefetchAsync, cuMemPrefetchAsync, (void), LAB_SUCCESS)
LAB_BOTH(cudaMemPrefetchAsync_v2, cuMemPrefetchAsync_v2, (void), LAB_SUCCESS)
LAB_BOTH(cudaMemAdvise, cuMemAdvise, (void), LAB_SUCCESS)
LAB_BOTH(cudaMemAdvise_v2, cuMemAdvise_v2, (void), LAB_SUCCESS)
LAB_API int cudaMemGetInfo(size_t *unused, size_t *total)
{
    if (!unused || !total)
        return lab_error(LAB_INVALID_VALUE);
    *unused = *total = (size_t)80 << 30;
    return LAB_SUCCESS;
}
/* cudaPointerAttributes: type, device, devicePointer, hostPointer */
LAB_API int cudaPointerGetAttributes(void *attributes, const void *p)
{
    LAB_ALONE;
    enum { UNREGISTERED, HOST, DEVICE };
    struct {
        int type, device;
        const void *on_device, *on_host;
    } *out = attributes;
    uint64_t start, size;
    if (!out)
        return lab_error(LAB_INVALID_VALUE);
    const bool known = smp_warp_buffer_of(lab_memory(), (uint64_t)(uintptr_t)p, &start, &size);
    out->type = known ? DEVICE : UNREGISTERED;
    out->device = 0;
    out->on_device = known ? p : NULL;
    out->on_host = p;
    return LAB_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------ the driver's */

LAB_DRIVER(cuMemAlloc_v2, (void **p, size_t size), size ? allocate_on_device(p, size) : LAB_INVALID_VALUE)
LAB_DRIVER(cuMemAllocPitch_v2, (void **p, size_t *pitch, size_t width, size_t height, unsigned),
           width &&height ? cudaMallocPitch(p, pitch, width, height) : LAB_INVALID_VALUE)
LAB_DRIVER(cuMemFree_v2, (void *p), free_now("cuMemFree", p))
LAB_DRIVER(cuMemFreeHost, (void *p), p ? cudaFreeHost(p) : LAB_INVALID_VALUE)
LAB_DRIVER(cuMemFreeAsync, (void *p, void *stream), free_on("cuMemFreeAsync", p, stream))
LAB_DRIVER(cuMemHostRegister_v2, (void *host, size_t size, unsigned flags), cudaHostRegister(host, size, flags))
LAB_DRIVER(cuMemHostUnregister, (void *host), cudaHostUnregister(host))
LAB_DRIVER(cuMemHostGetDevicePointer_v2, (void **p, void *host, unsigned), cudaHostGetDevicePointer(p, host, 0))
LAB_DRIVER(cuMemGetInfo_v2, (size_t * unused, size_t *total), cudaMemGetInfo(unused, total))

/* Rows of the host's that are none are no crash. */
static bool can_read(const lab_pitched *rows, const size_t extent[3])
{
    size_t size = 0;
    return !extent[0] || !extent[1] || smp_warp_memory_is_device(lab_memory(), rows->memory) ||
           (smp_mul_size(rows->pitch, extent[1] - 1, &size) && smp_add_size(size, extent[0], &size) &&
            lab_readable(rows->memory, size));
}
/* Whether a copy is done here; *error: how it went otherwise. */
static bool is_now(const lab_copy_3d *c, void *stream, int *error)
{
    *error = LAB_INVALID_HANDLE;
    if (!lab_is_stream(stream))
        return false;
    *error = LAB_INVALID_VALUE;
    if (((c->kind == WITHIN_HOST || c->kind == HOST_TO_DEVICE) && !can_read(&c->from, c->extent)) ||
        ((c->kind == WITHIN_HOST || c->kind == DEVICE_TO_HOST) && !can_read(&c->to, c->extent)))
        return false;
    return !lab_capture_copy(stream, c, error);
}
static int copy_on(const char *call, void *to, const void *from, size_t size, int kind, void *stream)
{
    int error;
    const lab_copy_3d all = lab_copy_rows(to, size, from, size, size, 1, kind);
    return is_now(&all, stream, &error) ? copy(call, to, from, size, kind) : error;
}
#define COPIES(name, ending, kind)                                                                                     \
    LAB_DRIVER(name##ending, (void *to, const void *from, size_t size), copy_on(#name, to, from, size, kind, NULL))    \
    LAB_DRIVER(name##Async##ending, (void *to, const void *from, size_t size, void *stream),                           \
               copy_on(#name "Async", to, from, size, kind, stream))
COPIES(cuMemcpy, , BY_ADDRESS)
COPIES(cuMemcpyHtoD, _v2, HOST_TO_DEVICE)
COPIES(cuMemcpyDtoH, _v2, DEVICE_TO_HOST)
COPIES(cuMemcpyDtoD, _v2, DEVICE_TO_DEVICE)

/* Half of a CUDA_MEMCPY2D */
typedef struct side {
    size_t x, y; /* x in bytes */
    int type;
    void *host, *device, *array;
    size_t pitch;
} side;
typedef struct copy_2d {
    side from, to;
    size_t width, height;
} copy_2d;
enum { OF_HOST = 1, OF_DEVICE, OF_ARRAY, OF_EITHER };

/* Where it lies; false: nowhere, or it has no such rows. */
static bool take_side(const side *s, const copy_2d *c, lab_pitched *out)
{
    size_t element = 1;
    static const size_t nothing[3];
    *out = (lab_pitched){s->type == OF_HOST ? s->host : s->device, s->pitch ? s->pitch : c->width, c->width, 0};
    if (s->type != OF_ARRAY)
        return s->type >= OF_HOST && s->type <= OF_EITHER;
    return lab_array_rows(s->array, nothing, nothing, out, &element) && s->x % element + c->width % element == 0 &&
           lab_array_rows(s->array, (size_t[3]){s->x / element, s->y}, (size_t[3]){c->width / element, c->height}, out,
                          &element);
}
static int copy_2d_of(const copy_2d *c, void *stream)
{
    int error;
    lab_pitched from, to;
    if (!c || !take_side(&c->from, c, &from) || !take_side(&c->to, c, &to))
        return LAB_INVALID_VALUE;
    const int kind = c->from.type == OF_EITHER || c->to.type == OF_EITHER ? BY_ADDRESS
                     : c->from.type == OF_HOST ? (c->to.type == OF_HOST ? WITHIN_HOST : HOST_TO_DEVICE)
                     : c->to.type == OF_HOST   ? DEVICE_TO_HOST
                                               : DEVICE_TO_DEVICE;
    const lab_copy_3d all =
        lab_copy_rows((char *)to.memory + c->to.y * to.pitch + c->to.x, to.pitch,
                      (char *)from.memory + c->from.y * from.pitch + c->from.x, from.pitch, c->width, c->height, kind);
    return is_now(&all, stream, &error)
               ? copy_plane(all.to.memory, to.pitch, all.from.memory, from.pitch, c->width, c->height, kind)
               : error;
}
LAB_DRIVER(cuMemcpy2D_v2, (const copy_2d *c), copy_2d_of(c, NULL))
LAB_DRIVER(cuMemcpy2DUnaligned_v2, (const copy_2d *c), copy_2d_of(c, NULL))
LAB_DRIVER(cuMemcpy2DAsync_v2, (const copy_2d *c, void *stream), copy_2d_of(c, stream))

LAB_API int cuMemGetAddressRange_v2(uint64_t *start, uint64_t *size, const void *p)
{
    LAB_ALONE;
    uint64_t from, bytes;
    if (!smp_warp_buffer_of(lab_memory(), (uint64_t)(uintptr_t)p, &from, &bytes))
        return LAB_NOT_FOUND;
    *(start ? start : &from) = from;
    *(size ? size : &bytes) = bytes;
    return LAB_SUCCESS;
}
