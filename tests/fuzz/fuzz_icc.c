/* libFuzzer entry: colour profiles: which pictures they are for, the tone curve that `light linear` takes from one, and
 * the matrix and curves of the stage profile, whose light must be from 0 to 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"
#include "stages/shared/icc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *own = smp_alloc_raw(size);
    smp_icc icc;
    if (!own)
        return 0;
    memcpy(own, data, size);
    const smp_meta meta = {.icc = {.data = own, .size = size}};
    const double curve = smp_meta_curve(&meta);
    for (int colours = 1; colours <= 3; colours += 2)
        smp_icc_fits(&meta.icc, colours);
    if (isnan(curve))
        abort();
    if (!smp_icc_read(own, size, &icc))
        for (int i = 0; i <= 64; i++)
            for (int c = 0; c < (icc.gray ? 1 : 3); c++)
                if (!(fabs(smp_icc_light(&icc.curves[c], i / 64.)) <= 1))
                    abort();
    smp_free(own);
    return 0;
}
