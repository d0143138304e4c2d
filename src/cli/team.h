/* Ranks that share a list of work by messages: processes of smempipe-mpi (src/mpi), of which rank 0 deals the pieces.
 * smempipe is in no team. Every rank calls these functions in this order, those from deal() on only where agree() gave
 * SMP_OK. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SMP_TEAM_NUMBERS = 16 };

typedef struct smp_team {
    int rank, size; /* once joined */
    bool quiet;     /* --quiet was given; beside that, all ranks but 0 are */

    /* Finds the others. Before it, the program has one thread. */
    smp_code (*join)(smp_error *err);

    /* Waits until all ranks are ready to work or know why not (code). All get the code of the first that is not. */
    smp_code (*agree)(smp_code code);

    /* The next piece of the list, of `pieces`; false: there is none. One caller at a time. */
    bool (*deal)(size_t pieces, size_t *piece);

    /* Waits until all ranks have done their work. Rank 0's numbers become the sums of all ranks'. All get the code of
     * the first that failed. */
    smp_code (*finish)(uint64_t *numbers, size_t count, smp_code code);

    /* Every rank's file comes to rank 0, beside its own: paths[1 .. size - 1], from smp_alloc; paths[0] stays. The
     * caller removes them, also after a failure. */
    smp_code (*gather)(const char *path, char **paths, smp_error *err);

    /* The last call, with the code that the process ends with. Whether this rank shall tell its error and end with its
     * code: all ranks make the same mistakes. */
    bool (*leave)(smp_code code);
} smp_team;

extern smp_team *smp_cli_team; /* null: none */
