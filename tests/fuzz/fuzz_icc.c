/* libFuzzer entry: colour profiles: which pictures they are for, the tone curve that `light linear` takes from one, and
 * the matrix and curves of the stage profile, whose light must be from 0 to 1, and its tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/format.h"
#include "media/icc.h"

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
        for (int i = 0; i <= 64 && !icc.tables[SMP_ICC_PERCEPTUAL].data; i++)
            for (int c = 0; c < (icc.gray ? 1 : 3); c++)
                if (!(fabs(smp_icc_light(&icc.curves[c], i / 64.)) <= 1))
                    abort();
    for (int i = 0; i < 4; i++) {
        const bool inks = i & 1;
        smp_icc_lut lut;
        double xyz[3];
        if ((inks ? smp_icc_read_cmyk : smp_icc_read)(own, size, &icc) || !icc.tables[SMP_ICC_PERCEPTUAL].data ||
            smp_icc_lut_open(&icc, (smp_icc_intent)(i / 2), &lut))
            continue;
        if (isnan(smp_icc_lut_black(&icc, (smp_icc_intent)(i / 2), &lut)))
            abort();
        for (int n = 0; n < 125; n++) {
            smp_icc_lut_xyz(&lut, (const double[]){n / 25 / 4., n / 5 % 5 / 4., n % 5 / 4., n % 7 / 6.}, xyz);
            if (isnan(xyz[0] + xyz[1] + xyz[2]))
                abort();
        }
    }
    smp_free(own);
    return 0;
}
