/* See apart.c. */
#pragma once

#include "lab/machine/watch.h"

/* Whether a launch is worth a try. */
bool warp_worth_apart(const smp_warp_launch *launch);

/* A table of buffers for one thread. False: no memory; it is to be closed in any case, once its launch is. */
bool warp_open_shadow(const smp_warp_memory *memory, smp_warp_memory *shadow);
void warp_close_shadow(smp_warp_memory *shadow);

/* Adds what blocks of another thread accessed. True: some met those of `sum`. */
bool warp_shadows_meet(smp_warp_memory *sum, smp_warp_memory *more);
/* Takes over what a thread's blocks wrote, and the clock. */
void warp_join_shadow(smp_warp_memory *memory, smp_warp_memory *shadow);
