/* Addresses of device memory, apart from the host's: code of the host that uses one faults, as it does with a GPU, and
 * an address tells what it belongs to. None is given out twice, so that freed memory is known as such. */
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "lab/machine/buffers.h"

enum { PAGE = 65536, NAME = WARP_BUFFER_NAME }; /* a multiple of each system's pages */
#define ARENA       ((size_t)1 << 44)
#define ARENA_LEAST ((size_t)1 << 40) /* where addresses are limited */
#define GPU_BYTES   ((size_t)80 << 30)
#define CLOSED_MOST ((size_t)64 << 20) /* of larger memory, closing and opening takes too long */

static bool reserve(smp_warp_memory *memory)
{
    for (size_t size = ARENA; !memory->arena && size >= ARENA_LEAST; size /= 4) {
        void *arena = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        memory->arena = arena == MAP_FAILED ? NULL : arena;
        memory->arena_size = size;
        memory->arena_used = memory->arena ? PAGE : 0; /* what lies before the first buffer is of the device, too */
    }
    return memory->arena != NULL;
}

void smp_warp_memory_reserve(smp_warp_memory *memory)
{
    (void)reserve(memory);
}

void *warp_addresses(smp_warp_memory *memory, size_t size, size_t alignment)
{
    size_t pages;
    if (!reserve(memory) || !smp_add_size(size, 2 * (size_t)PAGE - 1, &pages)) /* one more between buffers */
        return NULL;
    unsigned char *const free = memory->arena + memory->arena_used;
    const size_t before = (0 - (size_t)(uintptr_t)free) & (alignment - 1);
    pages = pages / PAGE * PAGE;
    if (!smp_add_size(pages, before, &pages) || pages > memory->arena_size - memory->arena_used)
        return NULL;
    memory->arena_used += pages;
    return free + before;
}

bool warp_buffer_at(smp_warp_memory *memory, void *start, size_t size, int file)
{
    const int access = memory->is_open ? PROT_READ | PROT_WRITE : PROT_NONE;
    const warp_buffer buffer = {
        .start = (uint64_t)(uintptr_t)start, .size = size, .device = true, .unknown = file < 0 ? size : 0};
    if (size > GPU_BYTES - memory->device_bytes ||
        (file < 0 ? mprotect(start, size + PAGE, access)
                  : mmap(start, size, access, MAP_SHARED | MAP_FIXED, file, 0) != start) ||
        !warp_insert_buffer(memory, &buffer, NULL))
        return false;
    memory->device_bytes += size;
    return true;
}

void *smp_warp_device_buffer(smp_warp_memory *memory, size_t size)
{
    if (!reserve(memory)) {
        void *own = smp_warp_buffer(memory, size, NULL);
        warp_buffer *b = warp_find_buffer(memory, (uint64_t)(uintptr_t)own);
        if (b)
            b->unknown = size;
        return own;
    }
    void *start = warp_addresses(memory, size, PAGE);
    return start && warp_buffer_at(memory, start, size, -1) ? start : NULL;
}

/* The heap lies in pieces, in which a byte or more is between buffers. */
uint64_t warp_kernel_buffer(smp_warp_memory *memory, uint64_t size)
{
    enum { STEP = 512, PIECE = 8 << 20 };
    const size_t limit = memory->heap_limit ? memory->heap_limit : WARP_USUAL_HEAP;
    if (memory->heap_used > limit || size > limit - memory->heap_used)
        return 0;
    const size_t bytes = (size / STEP + 1) * STEP, piece = bytes > PIECE ? bytes : PIECE;
    if (bytes > memory->heap_left) {
        memory->heap = warp_addresses(memory, piece, STEP);
        if (!memory->heap || mprotect(memory->heap, piece, PROT_READ | PROT_WRITE))
            memory->heap = smp_alloc(piece);
        memory->heap_left = memory->heap ? piece : 0;
        memory->heap_unused = memory->heap;
    }
    const uint64_t start = (uint64_t)(uintptr_t)memory->heap;
    const warp_buffer buffer = {.start = start, .size = size, .device = true, .kernels = true};
    if (!start || !warp_insert_buffer(memory, &buffer, "malloc"))
        return 0;
    memory->heap += bytes;
    memory->heap_left -= bytes;
    memory->heap_used += size;
    return start;
}

void warp_free_device(smp_warp_memory *memory, const warp_buffer *buffer)
{
    enum { MOST = 1 << 16, GIVE_BACK = 1 << 20 }; /* kernels may free for ever */
    const size_t size = (size_t)buffer->size;
    *(buffer->kernels ? &memory->heap_used : &memory->device_bytes) -= size;
    if (buffer->kernels && !memory->heap_used && memory->heap >= memory->heap_unused + GIVE_BACK) {
        (void)madvise(memory->heap_unused, (size_t)(memory->heap - memory->heap_unused) / PAGE * PAGE, MADV_DONTNEED);
        memory->heap_unused += (size_t)(memory->heap - memory->heap_unused) / PAGE * PAGE;
    } else if (size && !buffer->kernels)
        (void)mmap((void *)(uintptr_t)buffer->start, size, memory->is_open ? PROT_READ | PROT_WRITE : PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if ((!buffer->kernels || memory->freed_count < MOST) &&
        smp_grow(&memory->freed, &memory->freed_capacity, memory->freed_count + 1, sizeof *memory->freed))
        memory->freed[memory->freed_count++] = *buffer;
}

void warp_close_arena(smp_warp_memory *memory)
{
    if (memory->arena)
        munmap(memory->arena, memory->arena_size);
    smp_free(memory->freed);
}

void smp_warp_memory_open_to_host(smp_warp_memory *memory, bool open)
{
    open = open || memory->device_bytes > CLOSED_MOST;
    if (open == memory->is_open)
        return;
    if (memory->arena_used && mprotect(memory->arena, memory->arena_used, open ? PROT_READ | PROT_WRITE : PROT_NONE) &&
        open)
        return;
    memory->is_open = open;
}

bool smp_warp_memory_is_device(const smp_warp_memory *memory, const void *address)
{
    const uint64_t a = (uint64_t)(uintptr_t)address, arena = (uint64_t)(uintptr_t)memory->arena;
    return memory->arena && a >= arena && a - arena < memory->arena_used;
}

/* Whether the host's code may read it. */
static bool is_of_host(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], may_read;
    unsigned long long start, end;
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%llx-%llx %c", &start, &end, &may_read) == 3 && address >= start && address < end &&
                may_read == 'r';
    if (maps)
        fclose(maps);
    return found;
}

/* Whether it is among the device's addresses, used or not. */
static bool is_of_arena(const smp_warp_memory *memory, uint64_t address)
{
    return memory->arena && address - (uint64_t)(uintptr_t)memory->arena < memory->arena_size;
}

static const char *called(const warp_buffer *b, char name[NAME + 16])
{
    snprintf(name, NAME + 16, b->name[0] ? "'%s'" : "a buffer%s", b->name);
    return name;
}

const warp_buffer *warp_find_freed(const smp_warp_memory *memory, uint64_t address)
{
    size_t i = memory->freed_count;
    while (i && address - memory->freed[i - 1].start >= memory->freed[i - 1].size)
        i--;
    return i ? &memory->freed[i - 1] : NULL;
}

static bool describe_near(const smp_warp_memory *memory, uint64_t address, char *text, size_t size, uint64_t *distance)
{
    const bool device = is_of_arena(memory, address);
    const warp_buffer *before = NULL, *after = NULL;
    char name[NAME + 16];
    for (size_t i = 0; i < memory->count; i++) {
        const warp_buffer *b = &memory->buffers[i];
        if (memory->arena && b->device != device)
            continue;
        if (b->start <= address)
            before = b;
        else if (!after)
            after = b;
    }
    enum { NEAR = 4096 };
    const uint64_t far = memory->arena && !device ? NEAR : UINT64_C(1) << 32; /* the host's memory is full of others */
    const uint64_t end = before ? before->start + before->size : 0, past = address > end ? address - end : 0;
    const bool nearer = after && after->start - address < past; /* in[-1] is of `in` */
    if (before && !nearer && past < far && address - before->start < UINT64_C(1) << 32) {
        snprintf(text, size, "%llu bytes past the end of %s (%llu bytes)", (unsigned long long)past,
                 called(before, name), (unsigned long long)before->size);
        *distance = before->mapped ? UINT64_MAX : past; /* whose pages are its own */
        return true;
    }
    if (!after || after->start - address >= far)
        return false;
    snprintf(text, size, "%llu bytes before %s (%llu bytes)", (unsigned long long)(after->start - address),
             called(after, name), (unsigned long long)after->size);
    *distance = after->start - address;
    return true;
}

void warp_describe(const smp_warp_memory *memory, uint64_t address, char *text, size_t size, bool *illegal)
{
    enum { NULL_PAGE = 1 << 16, GPU_PAGE = 2 << 20 };
    uint64_t distance;
    const warp_buffer *const freed = warp_find_freed(memory, address);
    *illegal = !freed || !freed->kernels; /* a GPU notices no access to its heap */
    if (address < NULL_PAGE)
        snprintf(text, size, "at address 0x%llx: the pointer is null", (unsigned long long)address);
    else if (0 - address <= NULL_PAGE)
        snprintf(text, size, "%llu bytes before address 0: the pointer is null", 0 - (unsigned long long)address);
    else if (freed)
        snprintf(text, size, "of a buffer of %llu bytes that %s", (unsigned long long)freed->size,
                 freed->mapped    ? "cuMemUnmap has unmapped"
                 : freed->kernels ? "free has freed"
                                  : "cudaFree has freed");
    else if (describe_near(memory, address, text, size, &distance))
        *illegal = distance >= GPU_PAGE;
    else if (memory->arena && is_of_host(address))
        snprintf(text, size, "at address 0x%llx, memory of the host: cudaMalloc and cudaMemcpy, or cudaMallocManaged",
                 (unsigned long long)address);
    else
        snprintf(text, size, "at address 0x%llx, where no buffer is", (unsigned long long)address);
}
