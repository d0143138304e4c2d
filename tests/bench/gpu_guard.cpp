/* The one C++ file of the benchmark: see gpu_guard.h. */
#include "gpu_guard.h"

bool gpu_guarded(bool (*work)(void *context), void *context, bool *thrown)
{
    *thrown = false;
    try {
        return work(context);
    } catch (...) {
        *thrown = true;
    }
    return false;
}
