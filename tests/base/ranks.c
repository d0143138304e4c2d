/* Finds which of several tasks a process is, from tables of environments. */
#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/ranks.h"

enum { MOST = 6 };

typedef struct environment {
    const char *const set[MOST]; /* "NAME=VALUE" */
    int64_t number, count;
} environment;

static const char *const known[] = {"OMPI_COMM_WORLD_RANK",
                                    "OMPI_COMM_WORLD_SIZE",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE",
                                    "MPI_LOCALNRANKS",
                                    "LOCAL_WORLD_SIZE",
                                    "PMI_RANK",
                                    "PMI_SIZE",
                                    "PMIX_RANK",
                                    "SLURM_PROCID",
                                    "SLURM_STEP_NUM_TASKS",
                                    "SLURM_STEP_TASKS_PER_NODE",
                                    "SLURM_NODEID",
                                    "SLURM_NTASKS",
                                    "SLURM_ARRAY_TASK_ID",
                                    "SLURM_ARRAY_TASK_MIN",
                                    "SLURM_ARRAY_TASK_MAX",
                                    "SLURM_ARRAY_TASK_STEP",
                                    "SLURM_ARRAY_TASK_COUNT",
                                    "SGE_TASK_ID",
                                    "SGE_TASK_FIRST",
                                    "SGE_TASK_LAST",
                                    "SGE_TASK_STEPSIZE",
                                    "PBS_ARRAY_INDEX",
                                    "PBS_ARRAYID",
                                    "PARALLEL_SEQ"};

static void put(const environment *e)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        unsetenv(known[i]);
    for (int i = 0; i < MOST && e->set[i]; i++) {
        char name[64];
        const char *value = strchr(e->set[i], '=');
        assert_true((size_t)(value - e->set[i]) < sizeof name);
        memcpy(name, e->set[i], (size_t)(value - e->set[i]));
        name[value - e->set[i]] = '\0';
        setenv(name, value + 1, 1);
    }
}

SMP_TEST(steps)
{
    static const environment cases[] = {
        {{NULL}, 0, 0},
        {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4"}, 3, 4},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1"}, 0, 0}, /* alone */
        {{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"}, 0, 0}, /* none of them */
        {{"OMPI_COMM_WORLD_RANK=2"}, 0, 0},
        {{"PMI_RANK=0", "PMI_SIZE=3"}, 1, 3},
        {{"PMI_RANK=x", "PMI_SIZE=3"}, 0, 0},
        {{"SLURM_PROCID=7", "SLURM_STEP_NUM_TASKS=8"}, 8, 8},
        {{"SLURM_PROCID=0", "SLURM_NTASKS=8"}, 0, 0}, /* a batch script */
        {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=4", "PMI_RANK=0", "PMI_SIZE=1"}, 2, 4},
        {{"PMIX_RANK=3"}, 4, 0},
        {{"PMIX_RANK=0"}, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(&cases[i]);
        const smp_rank rank = smp_rank_of_step();
        assert_int_equal(rank.number, cases[i].number);
        assert_int_equal(rank.count, cases[i].count);
        assert_int_equal(rank.source[0] != '\0', rank.number != 0);
    }
}

SMP_TEST(arrays)
{
    static const environment cases[] = {
        {{"SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=6", "SLURM_ARRAY_TASK_STEP=2",
          "SLURM_ARRAY_TASK_COUNT=4"},
         3,
         4},
        {{"SGE_TASK_ID=9", "SGE_TASK_FIRST=5", "SGE_TASK_LAST=9", "SGE_TASK_STEPSIZE=2"}, 3, 3},
        {{"SGE_TASK_ID=undefined", "SGE_TASK_FIRST=undefined", "SGE_TASK_LAST=undefined"}, 0, 0},
        {{"PBS_ARRAY_INDEX=3"}, 3, 0},
        {{"PARALLEL_SEQ=8"}, 8, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(&cases[i]);
        const smp_rank rank = smp_rank_of_array();
        assert_int_equal(rank.number, cases[i].number);
        assert_int_equal(rank.count, cases[i].count);
        assert_false(rank.gaps);
    }
    put(&(environment){{"SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=6",
                        "SLURM_ARRAY_TASK_STEP=2", "SLURM_ARRAY_TASK_COUNT=3"},
                       0,
                       0});
    assert_true(smp_rank_of_array().gaps);
    put(&(environment){
        {"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=6", "SLURM_ARRAY_TASK_STEP=2"},
        0,
        0});
    assert_true(smp_rank_of_array().gaps); /* between the steps */
}

/* An array whose tasks start several each: together every number comes once. */
SMP_TEST(arrays_of_steps)
{
    bool seen[12] = {false};
    for (int task = 1; task <= 3; task++)
        for (int rank = 0; rank < 4; rank++) {
            char id[40], of[40];
            snprintf(id, sizeof id, "SLURM_ARRAY_TASK_ID=%d", task);
            snprintf(of, sizeof of, "PMI_RANK=%d", rank);
            put(&(environment){{id, "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_MAX=3", of, "PMI_SIZE=4"}, 0, 0});
            const smp_rank both = smp_rank_find(0);
            assert_int_equal(both.count, 12);
            assert_in_range(both.number, 1, 12);
            assert_false(seen[both.number - 1]);
            seen[both.number - 1] = true;
        }
    put(&(environment){{"PBS_ARRAY_INDEX=2", "PMI_RANK=1", "PMI_SIZE=4"}, 0, 0});
    assert_int_equal(smp_rank_find(12).number, 6); /* of 3 tasks of 4 ranks each */
    assert_int_equal(smp_rank_find(12).count, 12);
}

SMP_TEST(neighbours)
{
    static const environment cases[] = {
        {{NULL}, 1, 0},
        {{"OMPI_COMM_WORLD_LOCAL_SIZE=6"}, 6, 0},
        {{"MPI_LOCALNRANKS=2"}, 2, 0},
        {{"LOCAL_WORLD_SIZE=8"}, 8, 0},
        {{"SLURM_STEP_TASKS_PER_NODE=2(x3),1", "SLURM_NODEID=2"}, 2, 0},
        {{"SLURM_STEP_TASKS_PER_NODE=2(x3),1", "SLURM_NODEID=3"}, 1, 0},
        {{"SLURM_STEP_TASKS_PER_NODE=4"}, 4, 0},
        {{"SLURM_STEP_TASKS_PER_NODE=nonsense"}, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(&cases[i]);
        assert_int_equal(smp_rank_neighbours(), cases[i].number);
    }
}
