/* What is captured: the stream that began, those that joined it by waiting for its events, and its events. Their work
 * becomes nodes of a graph, until a mistake: then it is an error, and the capture ends without one. */
#include <pthread.h>

#include "base/alloc.h"
#include "lab/runtime/graph.h"

enum { ILLEGAL_STATE = 401, INVALIDATED = 901, UNMATCHED = 903, UNJOINED, ISOLATION, OF_CAPTURED = 907, OF_OTHER };
enum { THREAD_LOCAL = 1, RELAXED = 2 }; /* of cudaStreamCaptureMode */

/* after: of each the step that it comes after, 0: none. */
static struct member {
    const void *who;
    size_t after;
} * members; /* the first began; of no capture: none */
static struct step {
    size_t after[2];
    bool is_node, joined;
} * steps;
static size_t member_count, member_capacity, step_count, step_capacity;
static graph *captured;
static bool is_own, spoilt; /* is_own: the program has no such graph yet */
static int mode;
static pthread_t beginner;
static _Thread_local int thread_mode;

static int spoil(int error)
{
    spoilt = true;
    return lab_error(error);
}
static struct member *find(const void *who)
{
    size_t i = 0;
    while (i < member_count && members[i].who != who)
        i++;
    return i < member_count ? &members[i] : NULL;
}
static int join(const void *who, size_t after)
{
    if (!smp_grow(&members, &member_capacity, member_count + 1, sizeof *members))
        return lab_error(LAB_OUT_OF_MEMORY);
    members[member_count++] = (struct member){who, after};
    return LAB_SUCCESS;
}
static int go_on(struct member *m, size_t after, bool is_node)
{
    if (!smp_grow(&steps, &step_capacity, step_count + 2, sizeof *steps))
        return spoil(LAB_OUT_OF_MEMORY);
    steps[++step_count] = (struct step){.after = {m->after, after}, .is_node = is_node};
    m->after = step_count;
    return LAB_SUCCESS;
}
/* Whether the stream that began comes after all nodes. */
static bool is_joined(void)
{
    bool joined = true;
    if (step_count) {
        steps[0] = (struct step){.is_node = false};
        steps[members[0].after].joined = true;
    }
    for (size_t i = step_count; i; i--) {
        steps[steps[i].after[0]].joined |= steps[i].joined;
        steps[steps[i].after[1]].joined |= steps[i].joined;
        joined = joined && (steps[i].joined || !steps[i].is_node);
    }
    return joined;
}
bool lab_captures(const void *member)
{
    LAB_ALONE;
    return find(member);
}
static bool is_legacy(const void *stream)
{
    return (uintptr_t)stream <= 1; /* null, cudaStreamLegacy */
}
/* Whether that stream waits for a captured one, as it does for all that were not made otherwise. */
static bool is_implied(const void *stream)
{
    bool implied = false;
    for (size_t i = 0; i < member_count && is_legacy(stream); i++)
        implied = implied || (!lab_holds(LAB_EVENT, members[i].who) && lab_is_blocking(members[i].who));
    return implied;
}
int lab_capture_follows(const void *member, const void *followed)
{
    LAB_ALONE;
    struct member *m = find(member), *const f = find(followed);
    if (is_implied(member) || is_implied(followed) || (f && !m && is_legacy(member)))
        return spoil(LAB_CAPTURE_IMPLICIT);
    if (spoilt && (f || m))
        return lab_error(INVALIDATED);
    if (m && !f && lab_holds(LAB_EVENT, followed) && *(const double *)followed > 0) /* recorded elsewhere */
        return spoil(ISOLATION);
    return !f ? LAB_SUCCESS : m ? go_on(m, f->after, false) : join(member, f->after);
}
int lab_capture_waits(const void *member)
{
    LAB_ALONE;
    if (is_implied(member))
        return spoil(LAB_CAPTURE_IMPLICIT);
    if (member != LAB_DEVICE ? !lab_captures(member) : !member_count)
        return lab_broken();
    return spoil(spoilt ? INVALIDATED : lab_holds(LAB_EVENT, member) ? OF_CAPTURED : LAB_CAPTURE_UNSUPPORTED);
}
bool lab_capture_forbids(void)
{
    LAB_ALONE;
    const bool own = pthread_equal(beginner, pthread_self());
    const bool allowed =
        mode == RELAXED || thread_mode == RELAXED || (!own && (mode == THREAD_LOCAL || thread_mode == THREAD_LOCAL));
    return member_count && !allowed && spoil(LAB_CAPTURE_UNSUPPORTED);
}
/* The capture ends, and the program gets no graph of it. */
static void drop(void)
{
    if (is_own)
        cudaGraphDestroy(captured);
    member_count = 0;
    spoilt = false;
}
void lab_capture_forgets(const void *member)
{
    LAB_ALONE;
    size_t kept = 0;
    if (member_count && member == members[0].who) /* without it the capture cannot end */
        drop();
    for (size_t i = 0; i < member_count; i++)
        if (members[i].who != member)
            members[kept++] = members[i];
    member_count = kept;
}

/* to: null: a graph of its own. */
static int begin(const void *stream, graph *to, int how)
{
    LAB_ALONE;
    if (is_legacy(stream) || member_count)
        return lab_error(member_count ? ILLEGAL_STATE : LAB_CAPTURE_UNSUPPORTED);
    captured = to;
    is_own = !to;
    mode = how;
    beginner = pthread_self();
    step_count = 0;
    int error = to ? LAB_SUCCESS : cudaGraphCreate(&captured, 0);
    if (!error && (error = join(stream, 0)))
        drop();
    return error;
}
LAB_ALIAS(cudaStreamBeginCapture, (const void *stream, int how), begin(stream, NULL, how))
LAB_ALIAS(cudaStreamBeginCaptureToGraph, (const void *stream, graph *to, node *const *, const void *, size_t, int how),
          begin(stream, to, how))
LAB_API int cudaStreamIsCapturing(const void *stream, int *status)
{
    LAB_ALONE;
    *status = lab_captures(stream) ? 1 + spoilt : 0;
    return lab_error(is_implied(stream) ? LAB_CAPTURE_IMPLICIT : LAB_SUCCESS);
}
LAB_API int cudaThreadExchangeStreamCaptureMode(int *how)
{
    const int was = thread_mode;
    thread_mode = *how;
    *how = was;
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaStreamUpdateCaptureDependencies, (void), LAB_SUCCESS)
LAB_API int cudaStreamGetCaptureInfo(const void *stream, int *status, uint64_t *number, graph **of, node *const **after,
                                     const void **edges, size_t *count)
{
    LAB_ALONE;
    cudaStreamIsCapturing(stream, status);
    if (number)
        *number = 1;
    if (of)
        *of = *status ? captured : NULL;
    if (after)
        *after = NULL;
    if (edges)
        *edges = NULL;
    if (count)
        *count = 0;
    return LAB_SUCCESS;
}
LAB_API int cudaStreamEndCapture(const void *stream, graph **out)
{
    LAB_ALONE;
    const bool ends = member_count && stream == members[0].who;
    const int error = !ends ? lab_captures(stream) ? UNMATCHED : ILLEGAL_STATE
                      : mode != RELAXED && !pthread_equal(beginner, pthread_self()) ? OF_OTHER
                      : spoilt                                                      ? INVALIDATED
                      : !is_joined()                                                ? UNJOINED
                                                                                    : LAB_SUCCESS;
    if (out)
        *out = error ? NULL : captured;
    if (!error)
        member_count = 0;
    else if (ends && error != OF_OTHER)
        drop();
    return lab_error(error);
}

/* Whether work on a stream is captured; *error: why it is not, nor done, as on what is no stream. */
static bool takes(const void *stream, int *error)
{
    struct member *m = find(stream);
    *error = !lab_is_stream(stream) ? lab_error(LAB_INVALID_HANDLE)
             : is_implied(stream)   ? spoil(LAB_CAPTURE_IMPLICIT)
             : !m                   ? LAB_SUCCESS
             : spoilt               ? lab_error(INVALIDATED)
                                    : go_on(m, 0, true);
    return m || *error;
}
/* It becomes such a node, or an error. False: it is not captured. */
static bool capture(const void *stream, const node *as, int *error)
{
    LAB_ALONE;
    const bool taken = takes(stream, error);
    if (taken && !*error && !lab_graph_add(captured, as))
        *error = lab_error(LAB_OUT_OF_MEMORY);
    return taken;
}
LAB_API int cudaLaunchHostFunc(void *stream, host_function *function, void *data)
{
    int error = LAB_SUCCESS;
    if (!capture(stream, &(node){.kind = HOST_NODE, .host = {function, data}}, &error))
        function(data); /* which may wait for another thread's calls */
    return error;
}

bool lab_capture_launch(void *stream, const void *function, lab_dim3 grid, lab_dim3 block, void **arguments,
                        size_t shared, bool together, const lab_dim3 *cluster, int *error)
{
    LAB_ALONE;
    const kernel_params params = {function, grid, block, (unsigned)shared, arguments, NULL};
    const node as = {.kind = KERNEL_NODE, .together = together, .cluster = *cluster};
    const bool taken = capture(stream, &as, error);
    if (taken && !*error)
        *error = lab_graph_take_kernel(captured->nodes[captured->count - 1], &params);
    return taken;
}

bool lab_capture_copy(void *stream, const lab_copy_3d *copy, int *error)
{
    return capture(stream, &(node){.kind = COPY_NODE, .copy = *copy}, error);
}

bool lab_capture_set(void *stream, const lab_values *values, int *error)
{
    return capture(stream, &(node){.kind = SET_NODE, .set = *values}, error);
}

bool lab_capture_memory(void *stream, void *memory, size_t allocated, int *error)
{
    const node as = {.kind = allocated ? ALLOCATION_NODE : FREE_NODE, .set = {.memory = memory, .width = allocated}};
    return capture(stream, &as, error);
}

bool lab_capture_graph(void *stream, graph *g, int *error)
{
    LAB_ALONE;
    node *n;
    const bool taken = takes(stream, error);
    if (taken && !*error)
        *error = cudaGraphAddChildGraphNode(&n, captured, NULL, 0, g);
    return taken;
}
