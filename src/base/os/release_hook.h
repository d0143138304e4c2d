/* Announces memory before it is released, since a device of a room above may have pinned it: a pinned page stays with
 * the device, which would go on reading it when another page has its address. */
#pragma once

/* Sets the one function of the process that is told, in whichever thread releases memory. */
void smp_release_hook_set(void (*tell)(void *memory));

/* To be called before memory that begins here is unmapped or gives back its pages. */
void smp_release_hook_call(void *memory);
