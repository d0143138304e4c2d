/* Arrays, textures and surfaces. An array is a buffer whose rows follow each other, so that copies to it are copies of
 * rows. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "lab/machine/texture.h"
#include "lab/runtime/runtime.h"

/* cudaChannelFormatDesc */
typedef struct lab_channels {
    int bits[4], kind;
} lab_channels;

enum { ARRAY_MAGIC = 0x41727261 };

typedef struct lab_array {
    uint32_t magic;
    lab_channels channels;
    lab_extent size, given; /* at least 1, and 0 for what is not there */
    unsigned flags;
    char *memory;
    size_t pitch;
} lab_array;

/* 0: a channel has another width than 8, 16 or 32 bits. */
static size_t channel_bytes(const lab_channels *c)
{
    int bits = 0;
    for (int i = 0; i < 4; i++) {
        if (c->bits[i] && c->bits[i] != 8 && c->bits[i] != 16 && c->bits[i] != 32)
            return 0;
        bits += c->bits[i];
    }
    return (size_t)bits / 8;
}

LAB_API int cudaMalloc3DArray(lab_array **out, const lab_channels *channels, lab_extent size, unsigned flags)
{
    enum { CUBEMAP = 4, FACES = 6 };
    void *memory = NULL;
    size_t bytes;
    const lab_extent given = size;
    size.height += !size.height;
    size.depth += !size.depth;
    if (!out || !channels || !size.width || !channel_bytes(channels) || (unsigned)channels->kind > WARP_TEXEL_FLOAT ||
        (flags & CUBEMAP && (size.width != size.height || size.depth % FACES)))
        return lab_error(LAB_INVALID_VALUE);
    if (!smp_mul_size(size.width, channel_bytes(channels), &bytes) || !smp_mul_size(bytes, size.height, &bytes) ||
        !smp_mul_size(bytes, size.depth, &bytes) || bytes > INT32_MAX)
        return lab_error(LAB_OUT_OF_MEMORY);
    lab_array *a = malloc(sizeof *a);
    const int error = a ? cudaMalloc(&memory, bytes) : lab_error(LAB_OUT_OF_MEMORY);
    if (error) {
        free(a);
        return error;
    }
    *a = (lab_array){ARRAY_MAGIC, *channels, size, given, flags, memory, size.width * channel_bytes(channels)};
    *out = a;
    return LAB_SUCCESS;
}
/* Of one or two dimensions. */
LAB_API int cudaMallocArray(lab_array **out, const lab_channels *channels, size_t width, size_t height, unsigned flags)
{
    return cudaMalloc3DArray(out, channels, (lab_extent){width, height, 0}, flags);
}
LAB_API int cudaArrayGetInfo(lab_channels *channels, lab_extent *size, unsigned *flags, const lab_array *a)
{
    if (!a || a->magic != ARRAY_MAGIC)
        return lab_error(LAB_INVALID_VALUE);
    if (channels)
        *channels = a->channels;
    if (size)
        *size = a->given;
    if (flags)
        *flags = a->flags;
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaGetChannelDesc, (lab_channels * channels, const lab_array *a), cudaArrayGetInfo(channels, NULL, NULL, a))
bool lab_array_rows(const void *array, const size_t at[3], const size_t extent[3], lab_pitched *rows, size_t *element)
{
    const lab_array *a = array;
    if (a->magic != ARRAY_MAGIC)
        return false;
    const size_t size[3] = {a->size.width, a->size.height, a->size.depth};
    for (int i = 0; i < 3; i++)
        if (at[i] > size[i] || extent[i] > size[i] - at[i])
            return false;
    *rows = (lab_pitched){a->memory, a->pitch, a->pitch, a->size.height};
    *element = channel_bytes(&a->channels);
    return true;
}
LAB_API int cudaFreeArray(lab_array *a)
{
    if (!a)
        return LAB_SUCCESS;
    if (a->magic != ARRAY_MAGIC)
        return lab_error(LAB_INVALID_VALUE);
    const int error = cudaFree(a->memory);
    a->magic = 0;
    free(a);
    return error;
}
/* Whether so many bytes of so many rows lie in an array from there on. */
static bool has_rows(const lab_array *a, size_t x, size_t y, size_t width, size_t height)
{
    return a && a->magic == ARRAY_MAGIC && x <= a->pitch && width <= a->pitch - x && y <= a->size.height &&
           height <= a->size.height - y;
}
static bool has_bytes(const lab_array *a, size_t x, size_t y, size_t size)
{
    return has_rows(a, x, y, 0, 0) && size <= (a->size.height - y) * a->pitch - (y < a->size.height ? x : 0);
}
LAB_ALIAS(cudaMemcpy2DToArrayAsync,
          (lab_array * to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
           void *stream),
          has_rows(to, x, y, width, height)
              ? cudaMemcpy2DAsync(to->memory + y * to->pitch + x, to->pitch, from, pitch, width, height, kind, stream)
              : lab_error(LAB_INVALID_VALUE))
LAB_ALIAS(cudaMemcpy2DToArray,
          (lab_array * to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind),
          cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL))
LAB_ALIAS(cudaMemcpyToArray, (lab_array * to, size_t x, size_t y, const void *from, size_t size, int kind),
          has_bytes(to, x, y, size) ? cudaMemcpy(to->memory + y * to->pitch + x, from, size, kind)
                                    : lab_error(LAB_INVALID_VALUE))
LAB_ALIAS(cudaMemcpy2DFromArrayAsync,
          (void *to, size_t pitch, const lab_array *from, size_t x, size_t y, size_t width, size_t height, int kind,
           void *stream),
          has_rows(from, x, y, width, height) ? cudaMemcpy2DAsync(to, pitch, from->memory + y * from->pitch + x,
                                                                  from->pitch, width, height, kind, stream)
                                              : lab_error(LAB_INVALID_VALUE))
LAB_ALIAS(cudaMemcpy2DFromArray,
          (void *to, size_t pitch, const lab_array *from, size_t x, size_t y, size_t width, size_t height, int kind),
          cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL))

/* cudaResourceDesc */
enum { OF_ARRAY, OF_MIPMAPS, OF_LINEAR, OF_ROWS };
typedef struct lab_resource {
    int kind;
    union {
        lab_array *array;
        struct {
            void *memory;
            lab_channels channels;
            size_t size;
        } linear;
        struct {
            void *memory;
            lab_channels channels;
            size_t width, height, pitch;
        } rows;
    } of;
} lab_resource;

/* cudaTextureDesc */
typedef struct lab_sampling {
    int address[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int of_mipmaps;
    float levels[3];
    int not_trilinear, seamless;
} lab_sampling;

static bool describe(const lab_resource *from, warp_texture *to)
{
    lab_channels channels = {.kind = WARP_TEXEL_FLOAT};
    size_t size[3] = {1, 1, 1};
    const void *memory = NULL;
    if (from->kind == OF_ARRAY && from->of.array && from->of.array->magic == ARRAY_MAGIC) {
        const lab_array *a = from->of.array;
        channels = a->channels;
        memory = a->memory;
        size[0] = a->size.width;
        size[1] = a->size.height;
        size[2] = a->size.depth;
        to->pitch = a->pitch;
        to->slice = a->pitch * a->size.height;
    } else if (from->kind == OF_LINEAR) {
        channels = from->of.linear.channels;
        memory = from->of.linear.memory;
        size[0] = channel_bytes(&channels) ? from->of.linear.size / channel_bytes(&channels) : 0;
        to->pitch = 0;
    } else if (from->kind == OF_ROWS) {
        channels = from->of.rows.channels;
        memory = from->of.rows.memory;
        size[0] = from->of.rows.width;
        size[1] = from->of.rows.height;
        to->pitch = from->of.rows.pitch;
    }
    if (!memory || !channel_bytes(&channels) || channels.kind < 0 || channels.kind > WARP_TEXEL_FLOAT)
        return false;
    to->at = (uint64_t)(uintptr_t)memory;
    to->kind = (uint8_t)channels.kind;
    for (int i = 0; i < 4; i++)
        to->bits[i] = (uint8_t)channels.bits[i];
    for (int i = 0; i < 3; i++) {
        if (!size[i] || size[i] > INT32_MAX)
            return false;
        to->size[i] = (uint32_t)size[i];
    }
    return true;
}

LAB_API int cudaCreateTextureObject(uint64_t *out, const lab_resource *from, const lab_sampling *how, const void *)
{
    LAB_ALONE;
    warp_texture t = {.at = 0};
    if (!out || !from || !how || !describe(from, &t))
        return from && from->kind == OF_MIPMAPS ? lab_missing("cudaCreateTextureObject of mipmaps")
                                                : lab_error(LAB_INVALID_VALUE);
    if (how->seamless)
        return lab_missing("cudaCreateTextureObject of a seamless cube map");
    for (int i = 0; i < 3; i++)
        t.address[i] = (uint8_t)(how->address[i] & 3);
    t.linear = how->filter == 1;
    t.normalized = how->normalized;
    t.as_fraction = how->read_mode == 1;
    memcpy(t.border, how->border, sizeof t.border);
    *out = warp_texture_add(&t);
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}

LAB_API int cudaDestroyTextureObject(uint64_t handle)
{
    LAB_ALONE;
    return lab_error(!handle || warp_texture_remove(handle) ? LAB_SUCCESS : LAB_INVALID_VALUE);
}

LAB_API int cudaCreateSurfaceObject(uint64_t *out, const lab_resource *from)
{
    LAB_ALONE;
    warp_texture t = {.at = 0};
    if (!out || !from || from->kind != OF_ARRAY || !describe(from, &t))
        return lab_error(LAB_INVALID_VALUE);
    *out = warp_texture_add(&t);
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}

LAB_ALIAS(cudaDestroySurfaceObject, (uint64_t handle), cudaDestroyTextureObject(handle))
