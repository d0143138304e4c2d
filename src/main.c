/* smempipe. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return smp_cli_main(argc, argv);
}
