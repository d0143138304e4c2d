/* Words of 64 bits in global memory by which blocks tell each other how far they are; 0 for nothing. They are stored
 * whole, and read where all blocks see them. A word orders no other memory: what it says lies in itself. Whoever asks
 * in a loop may wait only for blocks that have begun. */
#pragma once

#include "lib/gpu_kernel.h"

#ifdef __CUDACC__
SMP_DEVICE void smp_word_tell(unsigned long long *at, unsigned long long word)
{
    *static_cast<volatile unsigned long long *>(at) = word;
}
SMP_DEVICE unsigned long long smp_word_ask(const unsigned long long *at)
{
    return *static_cast<const volatile unsigned long long *>(at);
}
#else
/* In the emulator a fruitless look lets other blocks run, and ends where the launch failed. */
extern "C" void smp_simt_word_tell(unsigned long long *at, unsigned long long word);
extern "C" unsigned long long smp_simt_word_ask(const unsigned long long *at);
#define smp_word_tell smp_simt_word_tell
#define smp_word_ask  smp_simt_word_ask
#endif
