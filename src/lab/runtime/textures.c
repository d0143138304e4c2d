/* Arrays, textures and surfaces. An array is a buffer whose rows follow each other, so that copies to it are copies of
 * rows. */
#include <string.h>

#include "base/checked.h"
#include "lab/machine/texture.h"
#include "lab/runtime/runtime.h"

/* cudaChannelFormatDesc */
typedef struct lab_channels {
    int bits[4], kind;
} lab_channels;

typedef struct lab_array {
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
    lab_array *a = lab_hold(LAB_ARRAY, sizeof *a);
    const int error = a ? cudaMalloc(&memory, bytes) : lab_error(LAB_OUT_OF_MEMORY);
    if (error) {
        lab_let_go(LAB_ARRAY, a);
        return error;
    }
    *a = (lab_array){*channels, size, given, flags, memory, size.width * channel_bytes(channels)};
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
    if (!lab_holds(LAB_ARRAY, a))
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
    if (!lab_holds(LAB_ARRAY, a))
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
    if (!lab_holds(LAB_ARRAY, a))
        return lab_error(LAB_INVALID_VALUE);
    const int error = cudaFree(a->memory);
    lab_let_go(LAB_ARRAY, a);
    return error;
}
/* Whether so many bytes of so many rows lie in an array from there on. */
static bool has_rows(const lab_array *a, size_t x, size_t y, size_t width, size_t height)
{
    return lab_holds(LAB_ARRAY, a) && x <= a->pitch && width <= a->pitch - x && y <= a->size.height &&
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
    if (from->kind == OF_ARRAY && lab_holds(LAB_ARRAY, from->of.array)) {
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

static int destroy_texture(uint64_t handle)
{
    LAB_ALONE;
    return lab_error(!handle || warp_texture_remove(handle) ? LAB_SUCCESS : LAB_INVALID_VALUE);
}
LAB_BOTH(cudaDestroyTextureObject, cuTexObjectDestroy, (uint64_t handle), destroy_texture(handle))

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

/* ------------------------------------------------------------------------------------------------ the driver's */

/* CUDA_ARRAY_DESCRIPTOR, whose format is CUarray_format. */
typedef struct lab_plane {
    size_t width, height;
    unsigned format, channels;
} lab_plane;

/* No bits: it is none that is here. */
static lab_channels channels_of(unsigned format, unsigned count)
{
    enum { HALF = 0x10, FLOAT = 0x20, SIGNED = 8 };
    const bool is_float = format == HALF || format == FLOAT;
    const unsigned width = is_float ? (format == HALF ? 2 : 3) : format & ~(unsigned)SIGNED;
    lab_channels channels = {.kind = is_float ? WARP_TEXEL_FLOAT : format & SIGNED ? 0 : 1};
    for (unsigned i = 0; i < count && (count == 1 || count == 2 || count == 4) && width >= 1 && width <= 3; i++)
        channels.bits[i] = 4 << width;
    return channels;
}
static int create_array(lab_array **out, const lab_plane *p)
{
    const lab_channels channels = p ? channels_of(p->format, p->channels) : (lab_channels){.kind = 0};
    return p ? cudaMallocArray(out, &channels, p->width, p->height, 0) : LAB_INVALID_VALUE;
}
LAB_DRIVER(cuArrayCreate_v2, (lab_array * *out, const lab_plane *p), create_array(out, p))
LAB_DRIVER(cuArrayDestroy, (lab_array * a), a ? cudaFreeArray(a) : LAB_INVALID_HANDLE)

/* CUDA_RESOURCE_DESC: as the runtime's, with a format and a count of channels in place of channels. */
typedef struct lab_driver_resource {
    int kind;
    lab_array *array; /* or memory */
    unsigned format, channels;
    size_t sizes[3]; /* bytes, or width, height and pitch */
} lab_driver_resource;

static lab_resource resource_of(const lab_driver_resource *from)
{
    lab_resource r = {.kind = from->kind, .of.array = from->array};
    if (from->kind == OF_LINEAR || from->kind == OF_ROWS) /* channels lie at one place in both */
        r.of.linear.channels = channels_of(from->format, from->channels);
    if (from->kind == OF_LINEAR)
        r.of.linear.size = from->sizes[0];
    else if (from->kind == OF_ROWS)
        memcpy(&r.of.rows.width, from->sizes, sizeof from->sizes);
    return r;
}

/* CUDA_TEXTURE_DESC */
typedef struct lab_driver_sampling {
    int address[3], filter;
    unsigned flags, anisotropy, of_mipmaps;
    float levels[3], border[4];
} lab_driver_sampling;

static int create_texture(uint64_t *out, const lab_driver_resource *from, const lab_driver_sampling *how)
{
    enum { AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10, WORD = 32 };
    warp_texture t = {.at = 0};
    if (!out || !from || !how)
        return LAB_INVALID_VALUE;
    const lab_resource r = resource_of(from);
    const bool is_fraction = describe(&r, &t) && t.kind != WARP_TEXEL_FLOAT && t.bits[0] < WORD;
    lab_sampling s = {.filter = how->filter,
                      .read_mode = is_fraction && !(how->flags & AS_INTEGER),
                      .srgb = (how->flags & SRGB) != 0,
                      .normalized = (how->flags & NORMALIZED) != 0};
    memcpy(s.address, how->address, sizeof s.address);
    memcpy(s.border, how->border, sizeof s.border);
    return cudaCreateTextureObject(out, &r, &s, NULL);
}
LAB_DRIVER(cuTexObjectCreate,
           (uint64_t * out, const lab_driver_resource *from, const lab_driver_sampling *how, const void *),
           create_texture(out, from, how))
