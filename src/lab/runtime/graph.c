/* Graphs: lists of work that run in the order in which it was added, which obeys every dependency that a node can have
 * when it is added. A stream that is captured adds to such a list. */
#include <string.h>

#include "base/alloc.h"
#include "lab/runtime/runtime.h"

typedef void host_function(void *data);

typedef enum node_kind { KERNEL_NODE, COPY_NODE, SET_NODE, HOST_NODE, EMPTY_NODE } node_kind;

/* cudaKernelNodeParams, cudaMemsetParams, cudaHostNodeParams */
typedef struct kernel_params {
    const void *function;
    lab_dim3 grid, block;
    unsigned shared;
    void **arguments, **extra;
} kernel_params;

typedef struct set_params {
    void *memory;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} set_params;

typedef struct host_params {
    host_function *function;
    void *data;
} host_params;

/* Programs hold nodes by their address. An executable graph's have the numbers of those that it was made of; a clone's
 * have their own, and name the original's. */
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
} node;

typedef struct graph {
    node **nodes;
    size_t count, capacity;
} graph;

static uint64_t last_number;
static graph *captured; /* of the stream that is captured */
static void *captured_stream;

static node *add(graph *g, node_kind kind)
{
    LAB_ALONE;
    node *n = smp_alloc(sizeof *n);
    if (!n || !smp_grow(&g->nodes, &g->capacity, g->count + 1, sizeof(node *))) {
        smp_free(n);
        return NULL;
    }
    n->number = ++last_number;
    n->kind = kind;
    g->nodes[g->count++] = n;
    return n;
}

/* Arguments are copied now, as a launch does. */
static int take_kernel(node *n, const kernel_params *given)
{
    const smp_warp_param *params;
    const smp_warp_kernel *kernel = lab_kernel(given->function);
    if (!kernel)
        return lab_error(LAB_INVALID_FUNCTION);
    const size_t count = smp_warp_kernel_params(kernel, &params);
    unsigned char *bytes = smp_alloc(smp_warp_kernel_param_bytes(kernel) + 1);
    void **arguments = smp_alloc_array(count + 1, sizeof *arguments);
    if (!bytes || !arguments) {
        smp_free_all(bytes, arguments);
        return lab_error(LAB_OUT_OF_MEMORY);
    }
    for (size_t i = 0; i < count; i++) {
        arguments[i] = bytes + params[i].offset;
        memcpy(arguments[i], given->arguments[i], params[i].size);
    }
    smp_free_all(n->bytes, n->kernel.arguments);
    n->bytes = bytes;
    n->kernel = *given;
    n->kernel.arguments = arguments;
    return LAB_SUCCESS;
}

static void empty(graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        smp_free_all(g->nodes[i]->bytes, g->nodes[i]->kernel.arguments, g->nodes[i]);
    }
    smp_free(g->nodes);
    *g = (graph){0};
}

static int copy_nodes(graph *to, const graph *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const node *given = from->nodes[i];
        node *n = add(to, given->kind);
        if (!n)
            return lab_error(LAB_OUT_OF_MEMORY);
        n->number = given->number;
        n->together = given->together;
        n->cluster = given->cluster;
        n->copy = given->copy;
        n->set = given->set;
        n->host = given->host;
        const int error = given->kind == KERNEL_NODE ? take_kernel(n, &given->kernel) : LAB_SUCCESS;
        if (error)
            return error;
    }
    return LAB_SUCCESS;
}

static int set_memory(const set_params *set)
{
    int error = LAB_SUCCESS;
    for (size_t y = 0; y < set->height && !error; y++) {
        char *row = (char *)set->memory + y * set->pitch;
        if (set->element <= 1)
            error = cudaMemset(row, (int)set->value, set->width);
        else {
            error = cudaMemset(row, 0, set->width * set->element); /* checks the range */
            lab_enter();
            for (size_t i = 0; i < set->width && !error; i++)
                memcpy(row + i * set->element, &set->value, set->element);
            lab_leave();
        }
    }
    return error;
}

static int run(const node *n)
{
    switch (n->kind) {
    case KERNEL_NODE:
        return lab_launch(n->kernel.function, n->kernel.grid, n->kernel.block, n->kernel.arguments, n->kernel.shared,
                          n->together, &n->cluster);
    case COPY_NODE:
        return cudaMemcpy3D(&n->copy);
    case SET_NODE:
        return set_memory(&n->set);
    case HOST_NODE:
        n->host.function(n->host.data);
        return LAB_SUCCESS;
    default:
        return LAB_SUCCESS;
    }
}

/* ------------------------------------------------------------------------------------------------ building */

static int new_graph(graph **out)
{
    *out = smp_alloc(sizeof **out);
    return *out ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
}
LAB_API int cudaGraphCreate(graph **out, unsigned)
{
    return new_graph(out);
}
LAB_API int cudaGraphDestroy(graph *g)
{
    empty(g);
    smp_free(g);
    return LAB_SUCCESS;
}
LAB_API int cudaGraphClone(graph **out, const graph *from)
{
    int error = new_graph(out);
    error = error ? error : copy_nodes(*out, from);
    LAB_ALONE;
    for (size_t i = 0; !error && i < (*out)->count; i++) {
        (*out)->nodes[i]->original = from->nodes[i]->number;
        (*out)->nodes[i]->number = ++last_number;
    }
    return error;
}
LAB_API int cudaGraphNodeFindInClone(node **out, const node *original, const graph *clone)
{
    for (size_t i = 0; i < clone->count; i++)
        if (clone->nodes[i]->original == original->number) {
            *out = clone->nodes[i];
            return LAB_SUCCESS;
        }
    return lab_error(LAB_INVALID_VALUE);
}
LAB_API int cudaGraphGetNodes(const graph *g, const node **nodes, size_t *count)
{
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < g->count ? g->nodes[i] : NULL;
    *count = nodes && *count < g->count ? *count : g->count;
    return LAB_SUCCESS;
}

#define ADD(name, params, body)                                                                                        \
    LAB_API int cudaGraphAdd##name##Node(node **out, graph *g, node *const *after, size_t count, params)               \
    {                                                                                                                  \
        (void)after, (void)count;                                                                                      \
        body                                                                                                           \
    }
static int added(node **out, node *n)
{
    *out = n;
    return n ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
}
ADD(Kernel, const kernel_params *given, {
    const int error = added(out, add(g, KERNEL_NODE));
    return error ? error : take_kernel(*out, given);
})
ADD(Memcpy, const lab_copy_3d *given, {
    const int error = added(out, add(g, COPY_NODE));
    if (!error)
        (*out)->copy = *given;
    return error;
})
ADD(Memset, const set_params *given, {
    const int error = added(out, add(g, SET_NODE));
    if (!error)
        (*out)->set = *given;
    return error;
})
ADD(Host, const host_params *given, {
    const int error = added(out, add(g, HOST_NODE));
    if (!error)
        (*out)->host = *given;
    return error;
})
LAB_API int cudaGraphAddEmptyNode(node **out, graph *g, node *const *, size_t)
{
    return added(out, add(g, EMPTY_NODE));
}

static lab_copy_3d plain_copy(void *to, const void *from, size_t size, int kind)
{
    return (lab_copy_3d){.from = {(void *)(uintptr_t)from, size, size, 1},
                         .to = {to, size, size, 1},
                         .extent = {size, 1, 1},
                         .kind = kind};
}
LAB_API int cudaGraphAddMemcpyNode1D(node **out, graph *g, node *const *after, size_t count, void *to, const void *from,
                                     size_t size, int kind)
{
    const lab_copy_3d copy = plain_copy(to, from, size, kind);
    return cudaGraphAddMemcpyNode(out, g, after, count, &copy);
}

/* ------------------------------------------------------------------------------------------------ running */

LAB_API int cudaGraphInstantiate(graph **out, const graph *from, unsigned long long)
{
    const int error = new_graph(out);
    return error ? error : copy_nodes(*out, from);
}
LAB_API int cudaGraphInstantiateWithFlags(graph **out, const graph *from, unsigned long long flags)
{
    return cudaGraphInstantiate(out, from, flags);
}
LAB_API int cudaGraphUpload(const graph *, void *)
{
    return LAB_SUCCESS;
}
LAB_API int cudaGraphLaunch(const graph *g, void *)
{
    int error = LAB_SUCCESS;
    for (size_t i = 0; i < g->count && !error; i++)
        error = run(g->nodes[i]);
    return error;
}
LAB_API int cudaGraphExecDestroy(graph *g)
{
    return cudaGraphDestroy(g);
}
LAB_API int cudaGraphExecKernelNodeSetParams(graph *g, const node *of, const kernel_params *given)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->number == of->number && g->nodes[i]->kind == KERNEL_NODE)
            return take_kernel(g->nodes[i], given);
    return lab_error(LAB_INVALID_VALUE);
}

/* cudaGraphExecUpdateResultInfo: what went wrong, and at which nodes. */
typedef struct update_result {
    int result;
    const node *node, *from;
} update_result;

LAB_API int cudaGraphExecUpdate(graph *g, const graph *from, update_result *result)
{
    enum { UPDATED, TOPOLOGY_CHANGED = 2, UPDATE_FAILURE = 910 };
    bool same = g->count == from->count;
    for (size_t i = 0; i < g->count && same; i++)
        same = g->nodes[i]->kind == from->nodes[i]->kind;
    *result = (update_result){same ? UPDATED : TOPOLOGY_CHANGED, NULL, NULL};
    if (!same)
        return lab_error(UPDATE_FAILURE);
    empty(g);
    return copy_nodes(g, from);
}

/* ------------------------------------------------------------------------------------------------ capturing */

LAB_API int cudaStreamBeginCapture(void *stream, int)
{
    LAB_ALONE;
    enum { ILLEGAL_STATE = 401 };
    if (captured)
        return lab_error(ILLEGAL_STATE);
    captured_stream = stream;
    return new_graph(&captured);
}
LAB_API int cudaStreamEndCapture(const void *stream, graph **out)
{
    LAB_ALONE;
    *out = stream == captured_stream ? captured : NULL;
    captured = *out ? NULL : captured;
    return *out ? LAB_SUCCESS : lab_error(LAB_INVALID_VALUE);
}
LAB_API int cudaStreamIsCapturing(const void *stream, int *status)
{
    LAB_ALONE;
    *status = captured && stream == captured_stream;
    return LAB_SUCCESS;
}
LAB_API int cudaThreadExchangeStreamCaptureMode(int *)
{
    return LAB_SUCCESS;
}
static bool capture_host(void *stream, host_function *function, void *data, int *error)
{
    LAB_ALONE;
    if (!captured || !stream)
        return false;
    node *n = add(captured, HOST_NODE);
    if (n)
        n->host = (host_params){function, data};
    *error = n ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
    return true;
}
LAB_API int cudaLaunchHostFunc(void *stream, host_function *function, void *data)
{
    int error = LAB_SUCCESS;
    if (!capture_host(stream, function, data, &error))
        function(data); /* which may wait for another thread's calls */
    return error;
}

/* Work on any stream is taken: others join a capture by events. */
bool lab_capture_launch(void *stream, const void *function, lab_dim3 grid, lab_dim3 block, void **arguments,
                        size_t shared, bool together, const lab_dim3 *cluster, int *error)
{
    LAB_ALONE;
    if (!captured || !stream)
        return false;
    node *n = add(captured, KERNEL_NODE);
    const kernel_params params = {function, grid, block, (unsigned)shared, arguments, NULL};
    *error = n ? take_kernel(n, &params) : lab_error(LAB_OUT_OF_MEMORY);
    if (n) {
        n->together = together;
        n->cluster = *cluster;
    }
    return true;
}

bool lab_capture_copy(void *stream, void *to, const void *from, size_t size, int kind, int *error)
{
    LAB_ALONE;
    if (!captured || !stream)
        return false;
    node *n = add(captured, COPY_NODE);
    if (n)
        n->copy = plain_copy(to, from, size, kind);
    *error = n ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
    return true;
}

bool lab_capture_set(void *stream, void *to, int value, size_t size, int *error)
{
    LAB_ALONE;
    if (!captured || !stream)
        return false;
    node *n = add(captured, SET_NODE);
    if (n)
        n->set = (set_params){to, size, (unsigned)value, 1, size, 1};
    *error = n ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
    return true;
}
