/* Who is told of memory that goes: see going.h. */
#include "base/os/going.h"

#include <stdatomic.h>

static void (*_Atomic told)(void *memory);

void smp_memory_goes_to(void (*tell)(void *memory))
{
    atomic_store(&told, tell);
}

void smp_memory_goes(void *memory)
{
    void (*tell)(void *) = atomic_load(&told);
    if (tell && memory)
        tell(memory);
}
