/* The team of this process: see team.h. */
#include "cli/team.h"

smp_team *smp_cli_team;
