/* What is captured: the stream that began, those that joined it by waiting for its events, and its events. Their work
 * becomes nodes of a graph, until a mistake: then it is an error, and the capture ends without one. */
#include "base/alloc.h"
#include "lab/runtime/graph.h"

enum { ILLEGAL_STATE = 401, UNSUPPORTED = 900, INVALIDATED, UNMATCHED = 903, CAPTURED_EVENT = 907 };

static const void **members; /* the first began; of no capture: none */
static size_t member_count, member_capacity;
static graph *captured;
static bool is_own, spoilt; /* is_own: the program has no such graph yet */

static int join(const void *member)
{
    if (!smp_grow(&members, &member_capacity, member_count + 1, sizeof *members))
        return lab_error(LAB_OUT_OF_MEMORY);
    members[member_count++] = member;
    return LAB_SUCCESS;
}
bool lab_captures(const void *member)
{
    LAB_ALONE;
    bool found = false;
    for (size_t i = 0; i < member_count && !found; i++)
        found = members[i] == member;
    return found;
}
static bool is_legacy(const void *stream)
{
    return (uintptr_t)stream <= 1; /* null, cudaStreamLegacy */
}
int lab_capture_follows(const void *member, const void *followed)
{
    LAB_ALONE;
    const bool follows = lab_captures(followed), has = lab_captures(member);
    if (follows && !has && is_legacy(member)) {
        spoilt = true;
        return lab_error(LAB_CAPTURE_IMPLICIT);
    }
    if (spoilt && (follows || has))
        return lab_error(INVALIDATED);
    return follows && !has ? join(member) : LAB_SUCCESS;
}
int lab_capture_waits(const void *member)
{
    LAB_ALONE;
    if (member ? !lab_captures(member) : !member_count)
        return lab_broken();
    const int error = spoilt ? INVALIDATED : lab_holds(LAB_EVENT, member) ? CAPTURED_EVENT : UNSUPPORTED;
    spoilt = true;
    return lab_error(error);
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
    if (member_count && member == members[0]) /* without it the capture cannot end */
        drop();
    for (size_t i = 0; i < member_count; i++)
        if (members[i] != member)
            members[kept++] = members[i];
    member_count = kept;
}

/* to: null: a graph of its own. */
static int begin(const void *stream, graph *to)
{
    LAB_ALONE;
    if (is_legacy(stream) || member_count)
        return lab_error(member_count ? ILLEGAL_STATE : UNSUPPORTED);
    captured = to;
    is_own = !to;
    int error = to ? LAB_SUCCESS : cudaGraphCreate(&captured, 0);
    if (!error && (error = join(stream)))
        drop();
    return error;
}
LAB_ALIAS(cudaStreamBeginCapture, (const void *stream, int), begin(stream, NULL))
LAB_ALIAS(cudaStreamBeginCaptureToGraph, (const void *stream, graph *to, node *const *, const void *, size_t, int),
          begin(stream, to))
LAB_API int cudaStreamIsCapturing(const void *stream, int *status)
{
    LAB_ALONE;
    *status = lab_captures(stream) ? 1 + spoilt : 0;
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaThreadExchangeStreamCaptureMode, (int *), LAB_SUCCESS)
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
    const bool ends = member_count && stream == members[0], good = ends && !spoilt;
    if (out)
        *out = good ? captured : NULL;
    if (good)
        member_count = 0;
    else if (ends)
        drop();
    return good ? LAB_SUCCESS : lab_error(ends ? INVALIDATED : lab_captures(stream) ? UNMATCHED : ILLEGAL_STATE);
}

/* Work on a stream that is captured becomes such a node, or an error, as on what is no stream. False: it is not
 * captured. */
static bool capture(const void *stream, const node *as, int *error)
{
    LAB_ALONE;
    if (!lab_is_stream(stream)) {
        *error = lab_error(LAB_INVALID_HANDLE);
        return true;
    }
    const bool taken = lab_captures(stream);
    if (taken)
        *error = lab_error(spoilt ? INVALIDATED : lab_graph_add(captured, as) ? LAB_SUCCESS : LAB_OUT_OF_MEMORY);
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
    const bool taken = lab_captures(stream);
    if (taken)
        *error = spoilt ? lab_error(INVALIDATED) : cudaGraphAddChildGraphNode(&n, captured, NULL, 0, g);
    return taken;
}
