/* The ranks of an MPI job as a team. All that knows MPI is in ranks.c. */
#ifndef SMP_MPI_RANKS_H
#define SMP_MPI_RANKS_H

#include "cli/team.h"

extern smp_team smp_mpi_team;

#endif
