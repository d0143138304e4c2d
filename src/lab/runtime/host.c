/* Mistakes in the host's calls: copies beyond buffers or of the wrong direction, memory freed twice or never. They are
 * findings of a result without a kernel. A place is "@PROGRAM" and the return addresses in it, of which `smempipe
 * kernel` makes a line. */
#define _GNU_SOURCE 1 /* dladdr */
#include <dlfcn.h>
#include <execinfo.h>
#include <stdarg.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lab/machine/buffers.h"
#include "lab/runtime/runtime.h"

typedef struct allocation {
    const char *start;
    size_t size;
    char *made, *freed; /* places; freed null: it lives */
} allocation;

static allocation *allocations;
static size_t count, capacity;
static smp_warp_result host;
static size_t finding_capacity, file_capacity;

/* "@FILE" of a module: the program's own name may be relative to a folder that it has left. */
static void name_module(const Dl_info *info, char *text, size_t size)
{
    Dl_info program;
    const void *const headers = (const void *)(uintptr_t)getauxval(AT_PHDR);
    const ssize_t used = info->dli_fname[0] != '/' && dladdr(headers, &program) && program.dli_fbase == info->dli_fbase
                             ? readlink("/proc/self/exe", text + 1, size - 2)
                             : 0;
    text[0] = '@';
    if (used > 0)
        text[used + 1] = 0;
    else
        snprintf(text + 1, size - 1, "%s", info->dli_fname);
}

/* Where the program calls; "" where that is not known. From smp_alloc. */
static char *caller(void)
{
    enum { DEPTH = 12, KEPT = 4, TEXT = 4096 };
    void *frames[DEPTH];
    Dl_info own, info;
    const void *base = NULL;
    char text[TEXT] = "";
    int kept = 0;
    if (!dladdr(&host, &own))
        return smp_strdup(text);
    for (int i = 0, depth = backtrace(frames, DEPTH); i < depth && kept < KEPT; i++) {
        if (!dladdr(frames[i], &info) || info.dli_fbase == own.dli_fbase || !info.dli_fname)
            continue;
        if (!kept)
            name_module(&info, text, sizeof text);
        else if (info.dli_fbase != base)
            break;
        base = info.dli_fbase;
        const size_t used = strlen(text), at = (size_t)((char *)frames[i] - (char *)info.dli_fbase);
        snprintf(text + used, sizeof text - used, " 0x%zx", at - 1); /* inside the call */
        kept++;
    }
    return smp_strdup(text);
}

static uint32_t file_of(const char *place)
{
    uint32_t at = 0;
    while (at < host.file_count && strcmp(host.files[at], place) != 0)
        at++;
    if (at == host.file_count && smp_grow(&host.files, &file_capacity, at + 1, sizeof *host.files))
        host.files[host.file_count++] = smp_strdup(place);
    return at;
}

/* other: a place that belongs to it, or null. */
static void tell(smp_warp_fault fault, const char *place, const char *other, const char *format, ...)
{
    smp_warp_finding f = {.fault = fault, .count = 1};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f.text, sizeof f.text, format, arguments);
    va_end(arguments);
    f.here = (smp_warp_place){.file = file_of(place), .line = 1};
    if (other)
        f.other = (smp_warp_place){.file = file_of(other), .line = 1};
    for (size_t i = 0; i < host.finding_count; i++)
        if (host.findings[i].fault == fault && host.findings[i].here.file == f.here.file &&
            !strcmp(host.findings[i].text, f.text)) {
            host.findings[i].count++;
            return;
        }
    if (smp_grow(&host.findings, &finding_capacity, host.finding_count + 1, sizeof *host.findings))
        host.findings[host.finding_count++] = f;
}

void lab_host_allocates(const void *start, size_t size)
{
    if (start && smp_grow(&allocations, &capacity, count + 1, sizeof *allocations))
        allocations[count++] = (allocation){start, size, caller(), NULL};
}

/* The youngest allocation that an address lies in. */
static allocation *allocation_of(const void *at)
{
    for (size_t i = count; i--;)
        if ((const char *)at >= allocations[i].start && (const char *)at < allocations[i].start + allocations[i].size)
            return &allocations[i];
    return NULL;
}

void lab_host_frees(const char *call, const void *start, bool freed)
{
    allocation *a = allocation_of(start);
    char *place = caller();
    if (freed && a)
        a->freed = place;
    else if (a && a->freed && a->start == start)
        tell(SMP_WARP_FREE, place, a->freed, "%s of a buffer of %zu bytes that was freed before", call, a->size);
    else if (a && a->start == start)
        tell(SMP_WARP_FREE, place, a->made,
             "%s of a buffer of %zu bytes: cudaFreeHost is for what cudaMallocHost and "
             "cudaHostAlloc gave, cudaFree for all else",
             call, a->size);
    else if (a)
        tell(SMP_WARP_FREE, place, a->made, "%s of byte %zu of a buffer of %zu bytes: it begins earlier", call,
             (size_t)((const char *)start - a->start), a->size);
    else if (!freed)
        tell(SMP_WARP_FREE, place, NULL, "%s of an address that no %s gave", call,
             strstr(call, "Host") ? "cudaMallocHost" : "cudaMalloc");
}

static void tell_beyond(const char *place, const char *made, const char *call, size_t size, size_t from, size_t all,
                        const char *what)
{
    tell(SMP_WARP_HOST_COPY, place, made, "%s of %zu bytes at byte %zu of a %s of %zu bytes: %zu beyond its end", call,
         size, from, what, all, size - (from < all ? all - from : 0));
}

void lab_host_misses_symbol(const char *call, size_t size, size_t from, size_t all)
{
    char *place = caller();
    tell_beyond(place, NULL, call, size, from, all, "symbol");
    smp_free(place);
}

void lab_host_misses(const char *call, const void *at, size_t size)
{
    const allocation *a = allocation_of(at);
    const warp_buffer *b = warp_find_buffer(lab_memory(), (uint64_t)(uintptr_t)at);
    char *place = caller(), where[sizeof host.findings->text / 2];
    bool illegal;
    if (!at)
        tell(SMP_WARP_HOST_COPY, place, NULL, "%s of %zu bytes: the pointer is null", call, size);
    else if (b && b->kernels)
        tell(SMP_WARP_HOST_COPY, place, NULL, "%s of %zu bytes of a kernel's malloc, which kernels alone may use", call,
             size);
    else if (!a && b && b->name[0])
        tell_beyond(place, NULL, call, size, (size_t)((uintptr_t)at - b->start), b->size, "symbol");
    else if (!a && smp_warp_memory_is_device(lab_memory(), at)) {
        warp_describe(lab_memory(), (uint64_t)(uintptr_t)at, where, sizeof where, &illegal);
        tell(SMP_WARP_HOST_COPY, place, NULL, "%s of %zu bytes %s", call, size, where);
    } else if (!a)
        tell(SMP_WARP_HOST_COPY, place, NULL, "%s of %zu bytes, whose device address is the host's%s", call, size,
             strstr(call, "Memset") ? ": cudaMalloc gives one" : ": the wrong direction?");
    else if (a->freed)
        tell(SMP_WARP_HOST_COPY, place, a->freed, "%s of %zu bytes of a buffer that was freed", call, size);
    else
        tell_beyond(place, a->made, call, size, (size_t)((const char *)at - a->start), a->size, "buffer");
    smp_free(place);
}

bool lab_reaches(const char *call, const void *at, size_t size)
{
    LAB_ALONE;
    const bool fits = lab_is_buffer(at, size);
    if (!fits)
        lab_host_misses(call, at, size);
    return fits;
}

void lab_stand_in(const char *library, const char *what)
{
    static const char *said[2];
    LAB_ALONE;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (said[i] == library)
            return;
        if (!said[i]) {
            said[i] = library;
            break;
        }
    }
    fprintf(stderr, "smempipe kernel: %s is a stand-in here: %s, and nothing of it is counted\n", library, what);
}

void lab_host_confuses(const char *call, size_t size)
{
    char *place = caller();
    tell(SMP_WARP_HOST_COPY, place, NULL, "%s of %zu bytes, whose host address is the device's: the wrong direction",
         call, size);
    smp_free(place);
}

/* What kernels allocated is of no call of the host; threads may have taken thousands of sizes. */
static void tell_kernels_leaks(void)
{
    const smp_warp_memory *memory = lab_memory();
    size_t buffers = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < memory->count; i++) {
        buffers += memory->buffers[i].kernels;
        bytes += memory->buffers[i].kernels ? memory->buffers[i].size : 0;
    }
    if (buffers)
        tell(SMP_WARP_LEAK, "", NULL, "%llu bytes that kernels took by malloc are never freed (buffers: %zu)",
             (unsigned long long)bytes, buffers);
}

const smp_warp_result *lab_host_result(bool leaks)
{
    for (size_t i = 0; i < count && leaks; i++)
        if (!allocations[i].freed)
            tell(SMP_WARP_LEAK, allocations[i].made, NULL, "a buffer of %zu bytes is never freed", allocations[i].size);
    if (leaks)
        tell_kernels_leaks();
    host.kernel = host.symbol = (char *)(uintptr_t) "calls of the host";
    memcpy(host.code, "host", sizeof "host");
    return host.finding_count ? &host : NULL;
}
