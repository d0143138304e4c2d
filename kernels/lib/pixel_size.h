/* Pixels that only move, on CPUs: copies of a constant number of bytes are one or two instructions. */
#pragma once

#include "lib/constants.h"

/* The bytes of a pixel, a size_t: a constant in the usual cases (lib/constants.h). */
#define SMP_BY_PIXEL_SIZE(size, statement)                                                                             \
    switch (size) {                                                                                                    \
        SMP_CASE_OF(1, statement)                                                                                      \
        SMP_CASE_OF(2, statement)                                                                                      \
        SMP_CASE_OF(3, statement)                                                                                      \
        SMP_CASE_OF(4, statement)                                                                                      \
        SMP_CASE_OF(6, statement)                                                                                      \
        SMP_CASE_OF(8, statement)                                                                                      \
        SMP_CASE_OF(12, statement)                                                                                     \
        SMP_CASE_OF(16, statement)                                                                                     \
    default: {                                                                                                         \
        const size_t N = size;                                                                                         \
        statement;                                                                                                     \
    }                                                                                                                  \
    }
