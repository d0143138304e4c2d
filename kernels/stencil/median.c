/* median on the CPU: window.h with the networks of median.h.
 *   naive  every window by the border rule: the definition.
 *   tiled  rows in cache, 8 to 64 medians in the lanes of a vector; bytes and 16-bit samples as they are. */
#include "stencil/median.h"

SMP_WINDOW_CPU_ORDERED(median, smp_median, SMP_MEDIAN_SIZES)
