/* Pixels that only move, on CPUs: copies of a constant number of bytes are one or two instructions. */
#ifndef SMP_KERNELS_LIB_PIXEL_SIZE_H
#define SMP_KERNELS_LIB_PIXEL_SIZE_H

#define SMP_PIXEL_SIZE_CASE(bytes, statement)                                                                          \
    case bytes: {                                                                                                      \
        enum { N = bytes };                                                                                            \
        statement;                                                                                                     \
        break;                                                                                                         \
    }

/* Runs a statement with the bytes of a pixel, a size_t, as N: a constant in the usual cases. */
#define SMP_BY_PIXEL_SIZE(size, statement)                                                                             \
    switch (size) {                                                                                                    \
        SMP_PIXEL_SIZE_CASE(1, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(2, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(3, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(4, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(6, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(8, statement)                                                                              \
        SMP_PIXEL_SIZE_CASE(12, statement)                                                                             \
        SMP_PIXEL_SIZE_CASE(16, statement)                                                                             \
    default: {                                                                                                         \
        const size_t N = size;                                                                                         \
        statement;                                                                                                     \
    }                                                                                                                  \
    }

#endif
