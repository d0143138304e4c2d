/* Places of a rectangle in another: see anchor.h. */
#include "stages/shared/anchor.h"

#include <math.h>

#include "base/checked.h"

const char *const smp_anchor_auto_names[] = {"auto",  "top-left",    "top",    "top-right",    "left", "centre",
                                             "right", "bottom-left", "bottom", "bottom-right", NULL};

int64_t smp_anchored(int64_t whole, int64_t part, int place)
{
    return (int64_t)floor((double)(whole - part) * place / 2);
}

int64_t smp_pixels(double v)
{
    return smp_max_i64(1, (int64_t)floor(v + 0.5));
}
