/* Memory that a device of a room above may have pinned is announced before it goes: a pinned page stays with the
 * device, which would go on reading it when its place in memory has another. */
#ifndef SMP_BASE_OS_GOING_H
#define SMP_BASE_OS_GOING_H

/* Who wants to be told, in any thread. One function for the process. */
void smp_memory_goes_to(void (*tell)(void *memory));

/* Memory that begins here is unmapped next, or gives back its pages. */
void smp_memory_goes(void *memory);

#endif
