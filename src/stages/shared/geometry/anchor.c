/* See anchor.h. */
#include "stages/shared/geometry/anchor.h"

#include <math.h>

const char *const smp_anchors[] = {"auto",  "top-left",    "top",    "top-right",    "left", "centre",
                                   "right", "bottom-left", "bottom", "bottom-right", NULL};

enum { TOP_LEFT = 1, CENTRE = 5 };

static int place(int anchor, bool moved)
{
    return (anchor != SMP_ANCHOR_AUTO ? anchor : moved ? TOP_LEFT : CENTRE) - TOP_LEFT;
}

static int64_t anchored(int64_t whole, int64_t part, int step)
{
    return (int64_t)floor((double)(whole - part) * step / 2);
}

int64_t smp_anchored_x(int anchor, bool moved, int64_t whole, int64_t part)
{
    return anchored(whole, part, place(anchor, moved) % 3);
}

int64_t smp_anchored_y(int anchor, bool moved, int64_t whole, int64_t part)
{
    return anchored(whole, part, place(anchor, moved) / 3);
}
