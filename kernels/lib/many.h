/* A launch over many pictures: kernel NAME_many runs NAME's body for each, with views and parameters of its own. They
 * lie in device memory, one behind the other: an smp_io, then, from SMP_MANY_PARAMS on, the kernel parameter struct;
 * the whole a multiple of SMP_MANY_ALIGN bytes. blockIdx.z is the picture. All have the grid of the largest, so that a
 * body needs to bear blocks that have nothing to do, and uses x and y of the grid alone. */
#pragma once

#include "lib/view.h"

typedef struct smp_many {
    const void *items;
} smp_many;

enum {
    SMP_MANY_ALIGN = 16,
    SMP_MANY_PARAMS = (sizeof(smp_io) + SMP_MANY_ALIGN - 1) / SMP_MANY_ALIGN * SMP_MANY_ALIGN,
    SMP_MANY_MOST = 65535 /* pictures of a launch */
};

#ifdef __cplusplus
template <typename P> struct smp_many_item {
    alignas(SMP_MANY_ALIGN) smp_io io;
    alignas(SMP_MANY_ALIGN) P p;
};

/* Of kernels NAME_IN_OUT, in the form of SMP_KERNEL_PAIR_. */
#define SMP_KERNEL_MANY(name, in, IN, out, OUT, type)                                                                  \
    SMP_KERNEL(name##_##in##_##out##_many, smp_many, io, p)                                                            \
    {                                                                                                                  \
        const smp_many_item<type> *item = static_cast<const smp_many_item<type> *>(p.items) + blockIdx.z;              \
        name<IN, OUT>(item->io, item->p);                                                                              \
    }
#endif
