/* balance on GPUs: a product a sample; bytes can become values that clip, so they are computed and counted. */
#include "elementwise/balance.h"
#include "lib/elementwise.cuh"
SMP_ELEMENTWISE_GPU(balance, packs, true)
