/* Ranks from environment variables: see ranks.h. Names and meanings: srun(1) and sbatch(1), "OUTPUT ENVIRONMENT
 * VARIABLES"; Open MPI FAQ, "Running MPI jobs", 24; MPICH's and Intel's PMI_RANK; PMIx 4, 1.4; OpenPBS user's guide
 * 9.2; Grid Engine's qsub(1), -t; GNU parallel's parallel(1), PARALLEL_SEQ. */
#include "base/os/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A whole number of the environment; false: there is none. */
static bool number_of(const char *name, int64_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !text[0])
        return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return !errno && *end == '\0';
}

static bool pair_of(const char *rank, const char *size, smp_rank *out)
{
    int64_t number, count;
    if (!number_of(rank, &number) || !number_of(size, &count) || number < 0 || number >= count)
        return false;
    *out = (smp_rank){.number = number + 1, .count = count};
    snprintf(out->source, sizeof out->source, "%s %" PRId64 " of %" PRId64, rank, number, count);
    return true;
}

smp_rank smp_rank_of_step(void)
{
    smp_rank rank = {.number = 0};
    int64_t number;
    if (pair_of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &rank) && rank.count > 1)
        return rank;
    if (pair_of("PMI_RANK", "PMI_SIZE", &rank) && rank.count > 1)
        return rank;
    /* Only srun sets SLURM_STEP_NUM_TASKS; a batch script has SLURM_PROCID and SLURM_NTASKS too, and is one. */
    if (pair_of("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", &rank) && rank.count > 1)
        return rank;
    if (rank.count <= 1 && !number_of("SLURM_STEP_NUM_TASKS", &number) && number_of("PMIX_RANK", &number) &&
        number > 0) { /* without a size; rank 0 may be alone */
        rank = (smp_rank){.number = number + 1};
        snprintf(rank.source, sizeof rank.source, "PMIX_RANK %" PRId64, number);
        return rank;
    }
    return (smp_rank){.number = 0};
}

/* first, last, step: names; their values may be missing ("undefined"). */
static bool range_of(const char *id, const char *first, const char *last, const char *step, smp_rank *out)
{
    int64_t number, from, to, by = 1;
    if (!number_of(id, &number) || !number_of(first, &from) || !number_of(last, &to))
        return false;
    if (!number_of(step, &by) || by < 1)
        by = 1;
    if (number < from || number > to || (number - from) % by)
        return false;
    *out = (smp_rank){.number = (number - from) / by + 1, .count = (to - from) / by + 1};
    snprintf(out->source, sizeof out->source, "%s %" PRId64 " of %" PRId64 "-%" PRId64 ":%" PRId64, id, number, from,
             to, by);
    return true;
}

smp_rank smp_rank_of_array(void)
{
    static const char *const alone[] = {"PBS_ARRAY_INDEX", "PBS_ARRAYID", "PARALLEL_SEQ"};
    smp_rank rank = {.number = 0};
    int64_t number;
    if (range_of("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
                 &rank)) {
        if (number_of("SLURM_ARRAY_TASK_COUNT", &number))
            rank.gaps = number != rank.count;
        return rank;
    }
    if (number_of("SLURM_ARRAY_TASK_ID", &number)) { /* between the steps of its range */
        rank.number = 1;
        rank.count = 2;
        rank.gaps = true;
        snprintf(rank.source, sizeof rank.source, "SLURM_ARRAY_TASK_ID %" PRId64, number);
        return rank;
    }
    if (range_of("SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE", &rank))
        return rank;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        if (number_of(alone[i], &number)) {
            rank = (smp_rank){.number = number};
            snprintf(rank.source, sizeof rank.source, "%s %" PRId64, alone[i], number);
            return rank;
        }
    return rank;
}

smp_rank smp_rank_find(int64_t count)
{
    smp_rank array = smp_rank_of_array(), step = smp_rank_of_step();
    smp_rank *open = array.source[0] && !array.count ? &array : step.source[0] && !step.count ? &step : NULL;
    if (!array.source[0] || !step.source[0]) {
        smp_rank one = array.source[0] ? array : step;
        if (open && count > 0)
            one.count = count;
        return one;
    }
    if (open && open->number >= 1) /* `count` is of both together */
        open->count = open == &array && step.count ? count / step.count : array.count ? count / array.count : 0;
    smp_rank both = {.gaps = array.gaps};
    both.number = (array.number - 1) * step.count + step.number;
    both.count = array.count * step.count;
    snprintf(both.source, sizeof both.source, "%.76s, %.76s", array.source, step.source);
    return both;
}

int64_t smp_rank_neighbours(void)
{
    int64_t count, node = 0;
    if (number_of("OMPI_COMM_WORLD_LOCAL_SIZE", &count) || number_of("MPI_LOCALNRANKS", &count) ||
        number_of("LOCAL_WORLD_SIZE", &count)) /* the last is torchrun's */
        return count > 0 ? count : 1;
    const char *tasks = getenv("SLURM_STEP_TASKS_PER_NODE"); /* "2(x3),1": 2 on each of three nodes, 1 on the next */
    (void)number_of("SLURM_NODEID", &node);
    for (const char *at = tasks; at && *at;) {
        char *end;
        int64_t nodes = 1;
        count = strtoll(at, &end, 10);
        if (end == at || count < 1)
            return 1;
        if (end[0] == '(' && end[1] == 'x') {
            nodes = strtoll(end + 2, &end, 10);
            end += *end == ')';
        }
        if (node < nodes)
            return count;
        node -= nodes;
        at = *end == ',' ? end + 1 : "";
    }
    return 1;
}
