/* Tensor maps of the driver, as this machine writes them. */
#include <string.h>

#include "lab/machine/tensor_map.h"
#include "lab/runtime/runtime.h"

static int refuse(const char *what)
{
    fprintf(stderr, "smempipe kernel: cuTensorMapEncodeTiled: %s is not supported (801)\n", what);
    return LAB_NOT_SUPPORTED;
}

/* CUtensorMapDataType, CUtensorMapSwizzle */
static const uint8_t elements[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const uint8_t swizzles[] = {0, 1, 3, 7};
/* Counts of CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapInterleave and CUtensorMapFloatOOBfill in CUDA 13. */
enum { TYPES = 16, SWIZZLES = 7, INTERLEAVES = 3, FILLS = 2 };
enum { ROW = 16 /* bytes */, MOST_BOX = 256, MOST_STEP = 8 /* elements */ };
#define MOST_DIM   ((uint64_t)1 << 32)
#define MOST_PITCH ((uint64_t)1 << 40) /* exclusive */

/* As a GPU's driver answers: a pitch may be shorter than a row, and no multiple of the one before. It refuses a box of
 * 1 MiB; here one is refused that no block's shared memory holds. */
static bool is_valid(uint64_t address, uint32_t rank, uint32_t element, const uint64_t *dims, const uint64_t *strides,
                     const uint32_t *box, const uint32_t *steps)
{
    bool valid = address && address % ROW == 0 && box[0] * element % ROW == 0;
    uint64_t bytes = element;
    for (uint32_t i = 0; i < rank && valid; i++) {
        valid = dims[i] && dims[i] <= MOST_DIM && box[i] && box[i] <= MOST_BOX && steps[i] && steps[i] <= MOST_STEP &&
                (!i || (strides[i - 1] % ROW == 0 && strides[i - 1] < MOST_PITCH));
        bytes *= box[i];
    }
    return valid && bytes <= SMP_WARP_MAX_SHARED;
}

LAB_API int cuTensorMapEncodeTiled(void *out, unsigned type, uint32_t rank, void *address, const uint64_t *dims,
                                   const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                   int swizzle, int, int fill)
{
    warp_tensor_map map = {.magic = WARP_TENSOR_MAGIC, .rank = (uint8_t)rank, .address = (uint64_t)(uintptr_t)address};
    _Static_assert(sizeof map == WARP_TENSOR_BYTES, "as large as a CUtensorMap");
    if (!rank || rank > WARP_TENSOR_RANK || type >= TYPES || (unsigned)swizzle >= SWIZZLES ||
        (unsigned)interleave >= INTERLEAVES || (unsigned)fill >= FILLS)
        return LAB_INVALID_VALUE;
    if (type >= sizeof elements)
        return refuse("this type of elements");
    if (interleave || fill)
        return refuse(fill ? "a fill by NaNs" : "interleaving");
    if (swizzle >= (int)sizeof swizzles)
        return refuse("this swizzle");
    map.element = elements[type];
    map.swizzle = swizzles[swizzle];
    if (!is_valid(map.address, rank, map.element, dims, strides, box, steps))
        return LAB_INVALID_VALUE;
    for (uint32_t i = 0; i < rank; i++) {
        if (steps[i] != 1)
            return refuse("a step between elements");
        map.dims[i] = dims[i];
        map.box[i] = (uint16_t)box[i];
        if (i)
            map.strides[i - 1] = strides[i - 1];
    }
    const uint32_t width = (map.swizzle + 1u) * ROW, bytes = box[0] * map.element;
    if (map.swizzle && bytes > width)
        return LAB_INVALID_VALUE;
    if (map.swizzle && bytes < width)
        return refuse("a box that is narrower than its swizzle");
    memcpy(out, &map, sizeof map);
    return LAB_SUCCESS;
}
