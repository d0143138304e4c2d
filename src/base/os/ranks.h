/* Finds which of several tasks this process is, as schedulers, MPI's starters and GNU parallel tell in the
 * environment. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct smp_rank {
    int64_t number, count; /* 1..count of count; count 0: how many there are is not told; both 0: none of several */
    bool gaps;             /* of an array some numbers are left out, so that number and count do not share the work */
    char source[160];      /* "SLURM_ARRAY_TASK_ID 3 of 1-8": what was taken */
} smp_rank;

/* The rank in a program that was started several times at once (srun, mpirun). Slurm's steps, Open MPI, PMI (MPICH,
 * Intel MPI), PMIx. Not set: count 0. */
smp_rank smp_rank_of_step(void);

/* The index in an array of jobs: Slurm, PBS, Grid Engine; or a job of GNU parallel. */
smp_rank smp_rank_of_array(void);

/* Both together: each task of an array may start several. An unknown count is taken from `count`, 0: stays unknown. */
smp_rank smp_rank_find(int64_t count);

/* Returns how many of a step's tasks share this host; 1: alone, or not told. */
int64_t smp_rank_neighbours(void);
