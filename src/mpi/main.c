/* smempipe-mpi: smempipe whose batch and measure share a list of work among the ranks of an MPI job. */
#include "cli/cli.h"
#include "mpi/ranks.h"

int main(int argc, char **argv)
{
    smp_cli_team = &smp_mpi_team;
    return smp_cli_main(argc, argv);
}
