/* What graphs are made of (graph.c): capture.c makes some, too. */
#pragma once

#include "lab/runtime/runtime.h"

/* cudaGraphNodeType, but for PARENT_NODE: one of that or of CONDITION_NODE has graphs in it. */
typedef enum node_kind {
    KERNEL_NODE,
    COPY_NODE,
    SET_NODE,
    HOST_NODE,
    PARENT_NODE,
    EMPTY_NODE,
    ALLOCATION_NODE = 10, /* its memory and bytes are `set`'s */
    FREE_NODE,
    CONDITION_NODE = 13
} node_kind;

/* cudaKernelNodeParams, cudaMemsetParams, cudaHostNodeParams */
typedef struct kernel_params {
    const void *function;
    lab_dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
} kernel_params;
typedef lab_values set_params;
typedef void host_function(void *data);
typedef struct host_params {
    host_function *function;
    void *data;
} host_params;

/* What a handle leads to: kernels set the value. */
typedef struct condition {
    unsigned value, usual, assigned; /* assigned: a launch begins with the usual value */
} condition;

/* cudaConditionalNodeParams */
enum { COND_IF, COND_WHILE, COND_SWITCH };
typedef struct condition_params {
    condition *handle;
    unsigned how, count;
    struct lab_graph **graphs; /* given back */
} condition_params;

/* Programs hold nodes by their address. An executable graph's have the numbers of those that it was made of; those of a
 * clone and of a graph in another have their own, and name the original's. */
typedef struct node {
    uint64_t number, original;
    node_kind kind;
    kernel_params kernel; /* its arguments point into `bytes` */
    unsigned char *bytes;
    bool together;
    lab_dim3 cluster; /* all 0: as the kernel says */
    lab_copy_3d copy;
    set_params set;
    host_params host;
    condition_params bodies; /* of a parent: a graph, whatever the condition */
} node;

typedef struct lab_graph {
    node **nodes;
    size_t count, capacity;
    struct lab_graph *instance; /* the last that was made of it; may be gone */
    const struct lab_graph *of; /* of an instance: that graph */
    bool frees;                 /* a launch frees what those before left */
} graph;

LAB_API int cudaGraphCreate(graph **out, unsigned flags);
LAB_API int cudaGraphDestroy(graph *g);
LAB_API int cudaGraphAddChildGraphNode(node **out, graph *g, node *const *after, size_t count, graph *child);

/* A node like that behind the others, with a number of its own; null: no memory. */
node *lab_graph_add(graph *g, const node *as);
/* What a kernel's node launches. Arguments are copied now, as a launch does. */
int lab_graph_take_kernel(node *n, const kernel_params *given);
