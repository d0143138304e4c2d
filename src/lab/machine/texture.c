/* See texture.h. */
#include "lab/machine/texture.h"

#include "base/alloc.h"

#define TAG (UINT64_C(0x7e87) << 48)

static warp_texture **textures; /* null: that one was removed */
static size_t count, capacity;

uint64_t warp_texture_add(const warp_texture *texture)
{
    warp_texture *own = smp_alloc(sizeof *own);
    if (!own || !smp_grow(&textures, &capacity, count + 1, sizeof *textures)) {
        smp_free(own);
        return 0;
    }
    *own = *texture;
    textures[count++] = own;
    return TAG | count;
}

const warp_texture *warp_texture_of(uint64_t handle)
{
    const uint64_t number = handle & ~TAG;
    return (handle & TAG) == TAG && number && number <= count ? textures[number - 1] : NULL;
}

bool warp_texture_remove(uint64_t handle)
{
    warp_texture *own = (warp_texture *)(uintptr_t)warp_texture_of(handle);
    if (own)
        textures[(handle & ~TAG) - 1] = NULL;
    smp_free(own);
    return own != NULL;
}
