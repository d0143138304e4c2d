/* See release_hook.h. */
#include "base/os/release_hook.h"

#include <stdatomic.h>

static void (*_Atomic told)(void *memory);

void smp_release_hook_set(void (*tell)(void *memory))
{
    atomic_store(&told, tell);
}

void smp_release_hook_call(void *memory)
{
    void (*tell)(void *) = atomic_load(&told);
    if (tell && memory)
        tell(memory);
}
