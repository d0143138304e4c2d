/* Segments of recursive filters: see biquads.h. */
#include "stages/shared/sound/biquads.h"

#include <math.h>

/* The larger magnitude of the roots of z^2 + a1 z + a2. */
static double larger_pole(const smp_biquad *f)
{
    const double inside = f->a1 * f->a1 - 4 * f->a2;
    return inside < 0 ? sqrt(f->a2) : (fabs(f->a1) + sqrt(inside)) / 2;
}

smp_code smp_segments_of(const smp_biquad *filters, int count, smp_segments *segments, smp_error *err)
{
    enum { WHOLE = 1024, MOST = 1 << 22 /* frames */ };
    *segments = (smp_segments){.length = SMP_BIQUAD_SEGMENT};
    for (int i = 0; i < count; i++) {
        const double pole = larger_pole(&filters[i]);
        const double warm = pole > 0 ? ceil(-32 * log(2) / log(pole) / WHOLE) * WHOLE : 0;
        if (!(pole < 1 && warm <= MOST)) {
            smp_fail(err, SMP_E_PIPE, "the filter is too narrow for this rate: it rings for more than %d frames", MOST);
            return smp_hint(err, "give a higher freq= or a smaller q=");
        }
        segments->warm = smp_max_i64(segments->warm, (int64_t)warm);
    }
    segments->length = smp_max_i64(segments->length, segments->warm);
    return SMP_OK;
}
