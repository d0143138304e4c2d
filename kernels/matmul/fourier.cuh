/* Shared by the kernels of Fourier transforms of pictures. */
#pragma once

#include "matmul/fourier.h"

#include "lib/fft.cuh"

/* A number more after every sixteen. */
struct fourier_padded {
    smp_number *at;
    SMP_DEVICE_MEMBER smp_number *operator()(int i) const { return at + (unsigned)i + (unsigned)i / 16; }
};

SMP_DEVICE smp_number fourier_pair(float re, float im)
{
    smp_number v;
    v.v[0] = re, v.v[1] = im;
    return v;
}
SMP_DEVICE void fourier_put(float *to, float re, float im)
{
    *reinterpret_cast<smp_number *>(to) = fourier_pair(re, im);
}
SMP_DEVICE smp_number fourier_get(const float *from)
{
    return *reinterpret_cast<const smp_number *>(from);
}

/* A number of the output; pairs: it lies at a multiple of 8 bytes. */
SMP_DEVICE void fourier_put_complex(float *to, bool pairs, float re, float im)
{
    re = smp_one_nan(re), im = smp_one_nan(im);
    if (pairs) {
        fourier_put(to, re, im);
        return;
    }
    to[0] = re, to[1] = im;
}
