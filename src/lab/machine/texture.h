/* Textures and surfaces: what a handle of the program's means. Their accesses run and are not counted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WARP_TEXTURE_WRAP, WARP_TEXTURE_CLAMP, WARP_TEXTURE_MIRROR, WARP_TEXTURE_BORDER }; /* cudaTextureAddressMode */
enum { WARP_TEXEL_SIGNED, WARP_TEXEL_UNSIGNED, WARP_TEXEL_FLOAT };                        /* cudaChannelFormatKind */

typedef struct warp_texture {
    uint64_t at;             /* of memory of the device */
    uint32_t size[3];        /* texels in a row, rows, slices (or layers, or faces) */
    uint64_t pitch, slice;   /* bytes from a row, and from a slice, to the next */
    uint8_t bits[4], kind;   /* of a texel's channels */
    uint8_t address[3];      /* what stands outside */
    bool linear, normalized; /* a mean of neighbours; coordinates from 0 to 1 */
    bool as_fraction;        /* integers are read as floats from 0 or -1 to 1 */
    float border[4];
} warp_texture;

/* Returns a handle, 0: no memory. Only the thread that works on the machine's state may call these three. */
uint64_t warp_texture_add(const warp_texture *texture);
bool warp_texture_remove(uint64_t handle);
/* Null: it is no handle, whatever number it is. */
const warp_texture *warp_texture_of(uint64_t handle);

static inline uint32_t warp_texel_bytes(const warp_texture *t)
{
    return (uint32_t)(t->bits[0] + t->bits[1] + t->bits[2] + t->bits[3]) / 8;
}
