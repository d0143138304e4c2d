/* Tone curves on GPUs. The 45 operations of a curve would take twice as long as moving a byte: bytes are looked up. */
#include "elementwise/tone_curve.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(tone_curve, tables, false)
