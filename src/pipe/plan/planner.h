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
    double *dpi_of;     /* the resolution of a node's picture; 0: unknown */
    int *step_of_file;  /* the step that reads a file, or SMP_STEP_NONE */
    void **icc_of_file; /* its profile, from smp_alloc */
    int origin;         /* the step that `@input` means */
    int *converted;     /* step * SMP_ROLES + role: an existing conversion of that step, or SMP_STEP_NONE */
    size_t converted_capacity;
    const smp_jpeg_params *coding; /* of the step that is being inserted */
    const smp_size_params *size;   /* the same */
    bool to_srgb;                  /* it encodes light of a picture without an encoding of its own */
    smp_error *err;                /* never null */
} smp_planner;

/* The step that computes a node's picture; its resolution. */
static inline int smp_planner_picture_of(const smp_planner *p, int node)
{
    return node == SMP_NODE_NONE ? SMP_STEP_NONE : node == SMP_NODE_INPUT ? p->origin : p->step_of[node];
}

static inline double smp_planner_dpi_of(const smp_planner *p, int node)
{
    return node == SMP_NODE_INPUT ? p->request->dpi : node < 0 ? 0 : p->dpi_of[node];
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

/* Colour spaces of pictures that meet in a stage, or go to a file. */

/* Whether the values of two pictures stand for other colours; the names of both, for messages. False where one of them
 * is gray and the other is not. */
bool smp_colours_differ(const smp_shape *a, const smp_shape *b, char a_name[64], char b_name[64]);

/* Whether what a step gives is light by its file's format (not by an ICC profile, which the output may keep), so that a
 * file of integers should hold it encoded. */
bool smp_step_is_light(const smp_plan *plan, const smp_shape *input, int step);

/* A stage that does not work on such an input. */
smp_code smp_check_kind(const smp_node *node, const smp_shape *in, smp_error *err);

/* Drops some of a plan's finished steps and joins others. Internal to src/pipe. */

/* Frees what a step owns. */
void smp_step_free(smp_step *step);

/* Drops the steps that neither a sink nor a reduction needs. Keeps the order. needed: scratch, false for each step and
 * sink; moved as above. */
void smp_plan_prune(smp_plan *plan, bool *needed, int *moved);

/* Joins runs of steps that compute each sample from that sample alone (smp_node_plan.values.op) into one step each. It
 * gives the same bytes and the same count of clipped samples: the values between the steps are f32, or integers that
 * f32 holds exactly. The storage and clipping of the steps must be known. */
smp_code smp_plan_fuse(smp_plan *plan, smp_error *err);

/* The phases of a finished plan: which steps stream together, which keep a whole frame, and how many rows of each a row
 * of a strip stands for. plan.h says what a phase is. */

/* Sets plan->phases and, of each step, phase, frame and strip_share. */
void smp_plan_phases(smp_plan *plan);

/* Chooses how the samples of each step of a plan are stored, and where stores can clamp. plan.h says why. */

/* Sets each step's storage. plain: f32 on every edge. The arrays are scratch, an entry a step. */
void smp_plan_storage(smp_plan *plan, bool plain, bool *last, bool *used, bool *integers);

/* Sets work.values.clips: whether values outside 0..white can reach a step's store, so that clamping is worth counting.
 */
void smp_plan_clipping(smp_plan *plan);

/* The step that codes the same picture alike for an earlier sink; or SMP_STEP_NONE. */
int smp_plan_coded_before(const smp_plan *plan, size_t sink, const smp_jpeg_params *coding);
