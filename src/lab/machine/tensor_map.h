/* Tensor maps as this machine writes them: 128 bytes, as a GPU's are, of its own making. The host's code makes one
 * (cuTensorMapEncodeTiled), and kernels copy boxes of the tensor by it (ptx/tensor.c). */
#pragma once

#include <stdint.h>

enum { WARP_TENSOR_RANK = 5, WARP_TENSOR_BYTES = 128 };
#define WARP_TENSOR_MAGIC UINT32_C(0x70616d74)

typedef struct warp_tensor_map {
    uint32_t magic;
    uint8_t rank, element, swizzle; /* element: bytes; swizzle: 0, or 1, 3, 7 for 32, 64, 128 bytes */
    uint64_t address;
    uint64_t strides[WARP_TENSOR_RANK - 1]; /* bytes, from the second dimension on */
    uint64_t dims[WARP_TENSOR_RANK];        /* up to 2^32 */
    uint16_t box[WARP_TENSOR_RANK];
    uint8_t rest[30];
} warp_tensor_map;
