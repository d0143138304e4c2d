/* Arrays and textures. An array is a buffer whose rows follow each other, so that copies to it are copies of rows. */
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
    size_t width, height; /* at least 1 */
    char *memory;
    size_t pitch;
} lab_array;

static size_t channel_bytes(const lab_channels *c)
{
    int bits = 0;
    for (int i = 0; i < 4; i++)
        bits += c->bits[i] == 8 || c->bits[i] == 16 || c->bits[i] == 32 ? c->bits[i] : 0;
    return (size_t)bits / 8;
}

/* Of one or two dimensions. */
LAB_API int cudaMallocArray(lab_array **out, const lab_channels *channels, size_t width, size_t height, unsigned)
{
    void *memory = NULL;
    size_t size;
    height += !height;
    if (!out || !channels || !width || !channel_bytes(channels) || (unsigned)channels->kind > WARP_TEXEL_FLOAT)
        return lab_error(LAB_INVALID_VALUE);
    if (!smp_mul_size(width, channel_bytes(channels), &size) || !smp_mul_size(size, height, &size) || size > INT32_MAX)
        return lab_error(LAB_OUT_OF_MEMORY);
    lab_array *a = malloc(sizeof *a);
    const int error = a ? cudaMalloc(&memory, size) : lab_error(LAB_OUT_OF_MEMORY);
    if (error) {
        free(a);
        return error;
    }
    *a = (lab_array){ARRAY_MAGIC, *channels, width, height, memory, width * channel_bytes(channels)};
    *out = a;
    return LAB_SUCCESS;
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
/* ------------------------------------------------------------------------------------------------ copies */

LAB_API int cudaMemcpy2DToArray(lab_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, int kind)
{
    return cudaMemcpy2D(to->memory + y * to->pitch + x, to->pitch, from, pitch, width, height, kind);
}
LAB_API int cudaMemcpyToArray(lab_array *to, size_t x, size_t y, const void *from, size_t size, int kind)
{
    return cudaMemcpy(to->memory + y * to->pitch + x, from, size, kind);
}
LAB_API int cudaMemcpy2DFromArray(void *to, size_t pitch, const lab_array *from, size_t x, size_t y, size_t width,
                                  size_t height, int kind)
{
    return cudaMemcpy2D(to, pitch, from->memory + y * from->pitch + x, from->pitch, width, height, kind);
}

/* ------------------------------------------------------------------------------------------------ objects */

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

/* cudaTextureDesc, as far as it means something without mipmaps */
typedef struct lab_sampling {
    int address[3], filter, read_mode, srgb;
    float border[4];
    int normalized;
} lab_sampling;

static bool describe(const lab_resource *from, warp_texture *to)
{
    lab_channels channels = {.kind = WARP_TEXEL_FLOAT};
    size_t size[2] = {1, 1};
    const void *memory = NULL;
    if (from->kind == OF_ARRAY && from->of.array && from->of.array->magic == ARRAY_MAGIC) {
        const lab_array *a = from->of.array;
        channels = a->channels;
        memory = a->memory;
        size[0] = a->width;
        size[1] = a->height;
        to->pitch = a->pitch;
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
    for (int i = 0; i < 2; i++) {
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
    for (int i = 0; i < 2; i++)
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
