/* The planner's state, from a program and shapes, and how steps are added. Internal to planner.c, plan_nodes.c,
 * plan_steps.c and plan_sinks.c. */
#pragma once

#include "media/jpeg_params.h"
#include "pipe/plan/plan.h"

typedef struct smp_planner {
    const smp_plan_request *request;
    smp_diags *diags;
    smp_plan *plan;
    int *step_of;       /* the step that computes a node's picture */
    double *dpi_of;     /* the resolution that stages up to a node ask for; 0: none */
    int *step_of_file;  /* the step that reads a file, or SMP_STEP_NONE */
    void **icc_of_file; /* its profile, from smp_alloc */
    int origin;         /* the step that `@input` means */
    int *converted;     /* step * SMP_ROLES + role: an existing conversion of that step, or SMP_STEP_NONE */
    size_t converted_capacity;
    const smp_jpeg_params *coding; /* of the step that is being inserted */
    bool to_srgb;                  /* it encodes light of a picture without an encoding of its own */
    smp_error *err;                /* never null */
} smp_planner;

/* The step that computes a node's picture; the resolution that stages up to it ask for. */
static inline int smp_planner_picture_of(const smp_planner *p, int node)
{
    return node == SMP_NODE_NONE ? SMP_STEP_NONE : node == SMP_NODE_INPUT ? p->origin : p->step_of[node];
}

static inline double smp_planner_dpi_of(const smp_planner *p, int node)
{
    return node < 0 ? 0 : p->dpi_of[node];
}

/* The steps of a node; those of its inputs are there. */
smp_code smp_planner_add_node(smp_planner *p, int number);

/* A new step at the plan's end. Null: memory is exhausted, and *index is SMP_STEP_NONE. */
smp_step *smp_planner_add_step(smp_planner *p, int *index);

/* Fills in what stage->plan() says for the inputs `input` and `second`. The step takes over params. */
smp_code smp_planner_work_out(smp_planner *p, int index, const smp_stage *stage, void *params, int input, int second);

/* Inserts the stage of a role after step `from`. value: for its first parameter, if it has one. SMP_STEP_NONE: it
 * failed. */
int smp_planner_insert(smp_planner *p, smp_role role, int from, int64_t value);

/* Step `from` converted to the wanted state of alpha and light. Light is converted on straight colour. */
int smp_planner_in_state(smp_planner *p, int from, bool premultiplied, bool linear);

/* Whether the stage's second picture is of this kind (SMP_P_*). */
bool smp_planner_second_is(const smp_stage *stage, unsigned flag);

/* A picture for a file, as its format can hold it. save: its `save` statement, or -1. */
smp_code smp_planner_add_sink(smp_planner *p, int node, int save, const char *path);

/* Once storage is known: steps that store what goes to files as files hold it, and that code it, where they should. */
smp_code smp_planner_store_sinks(smp_planner *p);
smp_code smp_planner_code_sinks(smp_planner *p);
