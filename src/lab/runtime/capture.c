/* What is captured: the stream that began, those that joined it by waiting for its events, and its events. */
#include "base/alloc.h"
#include "lab/runtime/runtime.h"

static const void **members; /* the first began; of no capture: none */
static size_t member_count, member_capacity;

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
    if (!lab_captures(followed) || lab_captures(member))
        return LAB_SUCCESS;
    return is_legacy(member) ? lab_error(LAB_CAPTURE_IMPLICIT) : join(member);
}
void lab_capture_forgets(const void *member)
{
    LAB_ALONE;
    size_t kept = 0;
    if (member_count && member == members[0]) /* without it the capture cannot end */
        member_count = 0;
    for (size_t i = 0; i < member_count; i++)
        if (members[i] != member)
            members[kept++] = members[i];
    member_count = kept;
}
int lab_capture_begin(const void *stream)
{
    LAB_ALONE;
    enum { ILLEGAL_STATE = 401, UNSUPPORTED = 900 };
    return is_legacy(stream) || member_count ? lab_error(member_count ? ILLEGAL_STATE : UNSUPPORTED) : join(stream);
}
bool lab_capture_end(const void *stream)
{
    LAB_ALONE;
    if (!member_count || stream != members[0])
        return false;
    member_count = 0;
    return true;
}
LAB_API int cudaStreamIsCapturing(const void *stream, int *status)
{
    LAB_ALONE;
    *status = lab_captures(stream);
    return LAB_SUCCESS;
}
LAB_ALIAS(cudaThreadExchangeStreamCaptureMode, (int *), LAB_SUCCESS)
LAB_ALIAS(cudaStreamUpdateCaptureDependencies, (void), LAB_SUCCESS)
