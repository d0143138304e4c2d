/* NPP throws C++ exceptions out of its C functions (an NppStatus, when the GPU cannot be used, say). */
#ifndef SMP_TESTS_BENCH_GPU_GUARD_H
#define SMP_TESTS_BENCH_GPU_GUARD_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls work(context) and gives what it returns; false, with *thrown set, when something was thrown through it. The C
 * files that it passes through are compiled with -fexceptions. */
bool gpu_guarded(bool (*work)(void *context), void *context, bool *thrown);

#ifdef __cplusplus
}
#endif
#endif
