/* Graphs: lists of work that run in the order in which it was added, which obeys every dependency that a node can have
 * when it is added. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "lab/runtime/graph.h"

static uint64_t last_number;
static int run(const node *n);

node *lab_graph_add(graph *g, const node *as)
{
    LAB_ALONE;
    node *n = smp_alloc(sizeof *n);
    if (!n || !smp_grow(&g->nodes, &g->capacity, g->count + 1, sizeof(node *))) {
        smp_free(n);
        return NULL;
    }
    *n = *as;
    n->number = ++last_number;
    g->nodes[g->count++] = n;
    return n;
}

int lab_graph_take_kernel(node *n, const kernel_params *given)
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
        node *n = g->nodes[i];
        for (unsigned k = 0; n->bodies.graphs && k < n->bodies.count; k++) {
            empty(n->bodies.graphs[k]);
            lab_let_go(LAB_GRAPH, n->bodies.graphs[k]);
        }
        smp_free_all(n->bytes, n->kernel.arguments, n->bodies.graphs, n);
    }
    smp_free(g->nodes);
    *g = (graph){0};
}

static int new_graph(lab_kind kind, graph **out)
{
    *out = lab_hold(kind, sizeof **out);
    return *out ? LAB_SUCCESS : lab_error(LAB_OUT_OF_MEMORY);
}

static int copy_nodes(graph *to, const graph *from);

/* Graphs of a node: empty ones, or copies of others. */
static int take_bodies(node *n, const condition_params *given, graph *const *from)
{
    enum { MOST = 4096 };
    int error = given->count && given->count <= MOST ? LAB_SUCCESS : lab_error(LAB_INVALID_VALUE);
    n->bodies = (condition_params){given->handle, given->how, 0, NULL};
    n->bodies.graphs = smp_alloc_array((error ? 0 : given->count) + 1, sizeof *n->bodies.graphs);
    for (unsigned k = 0; k < given->count && n->bodies.graphs && !error; k++) {
        error = new_graph(LAB_GRAPH, &n->bodies.graphs[k]);
        n->bodies.count += !error;
        error = error || !from ? error : copy_nodes(n->bodies.graphs[k], from[k]);
    }
    return error || n->bodies.graphs ? error : lab_error(LAB_OUT_OF_MEMORY);
}

static int copy_nodes(graph *to, const graph *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const node *given = from->nodes[i];
        const node plain = {.kind = given->kind,
                            .together = given->together,
                            .cluster = given->cluster,
                            .copy = given->copy,
                            .set = given->set,
                            .host = given->host};
        node *n = lab_graph_add(to, &plain);
        if (!n)
            return lab_error(LAB_OUT_OF_MEMORY);
        n->number = given->number;
        const int error = given->kind == KERNEL_NODE ? lab_graph_take_kernel(n, &given->kernel)
                          : given->bodies.graphs     ? take_bodies(n, &given->bodies, given->bodies.graphs)
                                                     : LAB_SUCCESS;
        if (error)
            return error;
    }
    return LAB_SUCCESS;
}

/* Numbers the nodes of a copy, and of graphs in it, as those of a graph that is alike; null: anew. */
static void number_nodes(graph *g, const graph *as)
{
    LAB_ALONE;
    for (size_t i = 0; i < g->count; i++) {
        node *n = g->nodes[i];
        const condition_params *same = as ? &as->nodes[i]->bodies : NULL;
        n->original = as ? n->original : n->number;
        n->number = as ? as->nodes[i]->number : ++last_number;
        for (unsigned k = 0; k < n->bodies.count; k++)
            number_nodes(n->bodies.graphs[k], same ? same->graphs[k] : NULL);
    }
}

static int run_all(const graph *g)
{
    int error = LAB_SUCCESS;
    for (size_t i = 0; i < g->count && !error; i++)
        error = run(g->nodes[i]);
    return error;
}

static int run_bodies(const condition_params *b)
{
    enum { LAUNCH_TIMEOUT = 702 };
    int error = LAB_SUCCESS;
    if (b->how == COND_WHILE) { /* all rounds are one launch */
        const char *limit = getenv("SMEMPIPE_LAB_SECONDS");
        const double seconds = limit ? strtod(limit, NULL) : 0, begin = smp_now();
        while (b->handle->value && !error)
            error = seconds > 0 && smp_now() - begin > seconds ? lab_error(LAUNCH_TIMEOUT) : run_all(b->graphs[0]);
    } else {
        const unsigned value = !b->handle ? 0 : b->how == COND_IF ? !b->handle->value : b->handle->value;
        error = value < b->count ? run_all(b->graphs[value]) : LAB_SUCCESS;
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
        return lab_copy_box(&n->copy);
    case SET_NODE:
        return lab_fill(&n->set);
    case HOST_NODE:
        n->host.function(n->host.data);
        return LAB_SUCCESS;
    case ALLOCATION_NODE:
        return lab_allocate_at(n->set.memory, n->set.width);
    case FREE_NODE:
        return lab_free(n->set.memory);
    case PARENT_NODE:
    case CONDITION_NODE:
        return run_bodies(&n->bodies);
    default:
        return LAB_SUCCESS;
    }
}

/* ------------------------------------------------------------------------------------------------ building */

LAB_ALIAS(cudaGraphCreate, (graph * *out, unsigned), new_graph(LAB_GRAPH, out))
static int destroy(lab_kind kind, graph *g)
{
    if (!lab_holds(kind, g))
        return lab_error(LAB_INVALID_HANDLE);
    empty(g);
    lab_let_go(kind, g);
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaGraphDestroy, (graph * g), destroy(LAB_GRAPH, g))
/* CUDA has no clone of such a graph, and one instance at a time. */
static bool has_memory(const graph *g)
{
    bool has = false;
    for (size_t i = 0; i < g->count; i++)
        has = has || g->nodes[i]->kind == ALLOCATION_NODE || g->nodes[i]->kind == FREE_NODE;
    return has;
}
LAB_API int cudaGraphClone(graph **out, const graph *from)
{
    int error = has_memory(from) ? lab_error(LAB_INVALID_VALUE) : new_graph(LAB_GRAPH, out);
    error = error ? error : copy_nodes(*out, from);
    if (!error)
        number_nodes(*out, NULL);
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
    if (!lab_holds(LAB_GRAPH, g) || !count)
        return lab_error(LAB_INVALID_VALUE);
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
    const int error = added(out, lab_graph_add(g, &(node){.kind = KERNEL_NODE}));
    return error ? error : lab_graph_take_kernel(*out, given);
})
LAB_ALIAS(cudaGraphAddMemcpyNode, (node * *out, graph *g, node *const *, size_t, const lab_copy_3d *given),
          added(out, lab_graph_add(g, &(node){.kind = COPY_NODE, .copy = *given})))
ADD(Memset, const set_params *given, {
    size_t bytes;
    if ((given->element != 1 && given->element != 2 && given->element != 4) ||
        !smp_mul_size(given->width, given->element, &bytes))
        return lab_error(LAB_INVALID_VALUE);
    return added(out, lab_graph_add(g, &(node){.kind = SET_NODE, .set = *given}));
})
LAB_ALIAS(cudaGraphAddHostNode, (node * *out, graph *g, node *const *, size_t, const host_params *given),
          added(out, lab_graph_add(g, &(node){.kind = HOST_NODE, .host = *given})))
LAB_ALIAS(cudaGraphAddEmptyNode, (node * *out, graph *g, node *const *, size_t),
          added(out, lab_graph_add(g, &(node){.kind = EMPTY_NODE})))

/* cudaMemAllocNodeParams. Its memory has an address now, and is there once the node has run. */
typedef struct allocation_params {
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    void *memory;
} allocation_params;
ADD(MemAlloc, allocation_params *p, {
    p->memory = p->bytes ? lab_address(p->bytes) : NULL;
    if (!p->memory)
        return lab_error(p->bytes ? LAB_OUT_OF_MEMORY : LAB_INVALID_VALUE);
    return added(out, lab_graph_add(g, &(node){.kind = ALLOCATION_NODE, .set = {p->memory, .width = p->bytes}}));
})
ADD(MemFree, void *memory, {
    bool fits = smp_warp_memory_is_device(lab_memory(), memory);
    for (size_t i = 0; i < g->count; i++)
        fits = fits && (g->nodes[i]->kind != FREE_NODE || g->nodes[i]->set.memory != memory);
    return fits ? added(out, lab_graph_add(g, &(node){.kind = FREE_NODE, .set = {.memory = memory}}))
                : lab_error(LAB_INVALID_VALUE);
})

/* A node of graphs, which are copied before it is added: one may be the graph that it is for. */
static int add_bodies(node **out, graph *g, node_kind kind, const condition_params *given, graph *const *from)
{
    node held = {.kind = kind};
    int error = take_bodies(&held, given, from);
    for (unsigned k = 0; !error && k < held.bodies.count; k++)
        number_nodes(held.bodies.graphs[k], NULL);
    return error ? error : added(out, lab_graph_add(g, &held));
}
LAB_API int cudaGraphAddChildGraphNode(node **out, graph *g, node *const *, size_t, graph *child)
{
    const condition_params one = {.count = 1, .how = COND_SWITCH};
    for (size_t i = 0; i < child->count; i++)
        if (child->nodes[i]->kind == CONDITION_NODE) /* CUDA takes none in a graph in another */
            return lab_error(LAB_INVALID_VALUE);
    return add_bodies(out, g, PARENT_NODE, &one, &child);
}
LAB_API int cudaGraphChildGraphNodeGetGraph(const node *of, graph **out)
{
    if (of->kind != PARENT_NODE)
        return lab_error(LAB_INVALID_VALUE);
    *out = of->bodies.graphs[0];
    return LAB_SUCCESS;
}
LAB_API int cudaGraphConditionalHandleCreate(condition **out, const graph *, unsigned usual, unsigned flags)
{
    LAB_ALONE;
    *out = smp_warp_buffer(lab_memory(), sizeof **out, NULL);
    if (*out)
        **out = (condition){usual, usual, flags & 1};
    return lab_error(*out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
}

/* cudaGraphNodeParams */
typedef struct node_params {
    int kind, unused[3];
    union {
        kernel_params kernel;
        struct {
            int flags, unused[3];
            lab_copy_3d copy;
        } copy;
        set_params set;
        host_params host;
        graph *child;
        allocation_params allocation;
        void *memory;
        condition_params condition;
    } of;
} node_params;

static bool is_condition(const condition_params *c)
{
    return c->handle && c->count &&
           (c->how == COND_SWITCH || (c->how == COND_IF && c->count <= 2) || (c->how == COND_WHILE && c->count == 1));
}
LAB_API int cudaGraphAddNode(node **out, graph *g, node *const *after, const void *, size_t count, node_params *given)
{
    enum { MOST_NODES = 1 << 16 };
    int error;
    if (count > MOST_NODES) /* an address: before CUDA 13 there was no word of edges */
        given = (node_params *)(uintptr_t)count;
    switch (given->kind) {
    case KERNEL_NODE:
        return cudaGraphAddKernelNode(out, g, after, count, &given->of.kernel);
    case COPY_NODE:
        return cudaGraphAddMemcpyNode(out, g, after, count, &given->of.copy.copy);
    case SET_NODE:
        return cudaGraphAddMemsetNode(out, g, after, count, &given->of.set);
    case HOST_NODE:
        return cudaGraphAddHostNode(out, g, after, count, &given->of.host);
    case PARENT_NODE:
        return cudaGraphAddChildGraphNode(out, g, after, count, given->of.child);
    case EMPTY_NODE:
        return cudaGraphAddEmptyNode(out, g, after, count);
    case ALLOCATION_NODE:
        return cudaGraphAddMemAllocNode(out, g, after, count, &given->of.allocation);
    case FREE_NODE:
        return cudaGraphAddMemFreeNode(out, g, after, count, given->of.memory);
    case CONDITION_NODE:
        error = is_condition(&given->of.condition) ? add_bodies(out, g, CONDITION_NODE, &given->of.condition, NULL)
                                                   : lab_error(LAB_INVALID_VALUE);
        given->of.condition.graphs = error ? NULL : (*out)->bodies.graphs;
        return error;
    default:
        return lab_missing("cudaGraphAddNode of this type");
    }
}

LAB_API int cudaGraphAddMemcpyNode1D(node **out, graph *g, node *const *after, size_t count, void *to, const void *from,
                                     size_t size, int kind)
{
    const lab_copy_3d copy = lab_copy_rows(to, size, from, size, size, 1, kind);
    return cudaGraphAddMemcpyNode(out, g, after, count, &copy);
}

/* ------------------------------------------------------------------------------------------------ running */

LAB_API int cudaGraphInstantiate(graph **out, graph *from, unsigned long long flags)
{
    int error = lab_holds(LAB_GRAPH, from) ? LAB_SUCCESS : lab_error(LAB_INVALID_HANDLE);
    if (!error && has_memory(from) && lab_holds(LAB_GRAPH_EXEC, from->instance) && from->instance->of == from)
        return lab_error(LAB_INVALID_VALUE);
    error = error ? error : new_graph(LAB_GRAPH_EXEC, out);
    if (!error && (error = copy_nodes(*out, from))) {
        destroy(LAB_GRAPH_EXEC, *out);
        *out = NULL;
    } else if (!error) {
        (*out)->of = from;
        (*out)->frees = flags & 1; /* cudaGraphInstantiateFlagAutoFreeOnLaunch */
        from->instance = *out;
    }
    return error;
}
LAB_ALIAS(cudaGraphInstantiateWithFlags, (graph * *out, graph *from, unsigned long long flags),
          cudaGraphInstantiate(out, from, flags))
LAB_ALIAS(cudaGraphUpload, (const graph *, void *), LAB_SUCCESS)
/* Conditions that say so begin anew. */
static void assign(const graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const condition_params *b = &g->nodes[i]->bodies;
        if (b->handle && b->handle->assigned)
            b->handle->value = b->handle->usual;
        for (unsigned k = 0; k < b->count; k++)
            assign(b->graphs[k]);
    }
}
/* Memory that an earlier launch left is freed, or is in the way. */
static bool frees_left(const graph *g)
{
    bool freed = true;
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->kind == ALLOCATION_NODE && lab_is_buffer(g->nodes[i]->set.memory, 1))
            freed = g->frees && !lab_free(g->nodes[i]->set.memory) && freed;
    return freed;
}
LAB_API int cudaGraphLaunch(graph *g, void *stream)
{
    int error;
    if (!lab_holds(LAB_GRAPH_EXEC, g) || !lab_is_stream(stream))
        return lab_error(LAB_INVALID_HANDLE);
    if (lab_capture_graph(stream, g, &error))
        return error;
    if (!frees_left(g))
        return lab_error(LAB_INVALID_VALUE);
    assign(g);
    return run_all(g);
}
LAB_ALIAS(cudaGraphExecDestroy, (graph * g), destroy(LAB_GRAPH_EXEC, g))
/* A kernel's node by its number, in the graph or in those in it. Null: none. */
static node *find_kernel(const graph *g, uint64_t number)
{
    node *found = NULL;
    for (size_t i = 0; i < g->count && !found; i++) {
        const condition_params *b = &g->nodes[i]->bodies;
        found = g->nodes[i]->number == number && g->nodes[i]->kind == KERNEL_NODE ? g->nodes[i] : NULL;
        for (unsigned k = 0; k < b->count && !found; k++)
            found = find_kernel(b->graphs[k], number);
    }
    return found;
}
LAB_API int cudaGraphExecKernelNodeSetParams(const graph *g, const node *of, const kernel_params *given)
{
    if (!lab_holds(LAB_GRAPH_EXEC, g))
        return lab_error(LAB_INVALID_HANDLE);
    node *n = find_kernel(g, of->number);
    return n ? lab_graph_take_kernel(n, given) : lab_error(LAB_INVALID_VALUE);
}

/* cudaGraphExecUpdateResultInfo: what went wrong, and at which nodes. */
typedef struct update_result {
    int result;
    const node *node, *from;
} update_result;

/* Whether both have nodes of the same kinds, and graphs in them that are alike. */
static bool are_alike(const graph *a, const graph *b)
{
    bool alike = a->count == b->count;
    for (size_t i = 0; i < a->count && alike; i++) {
        const node *n = a->nodes[i], *m = b->nodes[i];
        alike = n->kind == m->kind && n->bodies.how == m->bodies.how && n->bodies.count == m->bodies.count;
        for (unsigned k = 0; k < n->bodies.count && alike; k++)
            alike = are_alike(n->bodies.graphs[k], m->bodies.graphs[k]);
    }
    return alike;
}
LAB_API int cudaGraphExecUpdate(graph *g, const graph *from, update_result *result)
{
    enum { UPDATED, TOPOLOGY_CHANGED = 2, UPDATE_FAILURE = 910 };
    if (!lab_holds(LAB_GRAPH_EXEC, g) || !lab_holds(LAB_GRAPH, from))
        return lab_error(LAB_INVALID_HANDLE);
    *result = (update_result){are_alike(g, from) ? UPDATED : TOPOLOGY_CHANGED, NULL, NULL};
    if (result->result != UPDATED)
        return lab_error(UPDATE_FAILURE);
    graph made = {.of = g->of, .frees = g->frees};
    const int error = copy_nodes(&made, from);
    if (!error)
        number_nodes(&made, g);
    empty(error ? &made : g);
    *g = error ? *g : made;
    return error;
}
