/* median on GPUs: window.cuh with the networks of median.h.
 *   naive  9 or 25 global reads a result.
 *   tiled  a tile with its halo in shared memory, four results a thread and column. 38 or 198 integer minima and maxima
 *          a result, less those that nothing reads: the larger one is bound by them. */
#include "stencil/median.h"

#include "stencil/window.cuh"

SMP_WINDOW_GPU(median, smp_window, SMP_WINDOW_ORDERED, smp_median, SMP_MEDIAN_SIZES)
