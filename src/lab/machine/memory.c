/* Global memory: the buffers that kernels may access, and what an access costs in sectors of 32 bytes. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "lab/machine/rows.h"
#include "lab/machine/watch.h"

enum { ALIGNMENT = 512, SECTOR = 32, NAME = WARP_BUFFER_NAME };

smp_code smp_warp_memory_open(smp_warp_memory **out, smp_error *err)
{
    *out = smp_alloc(sizeof **out);
    return *out ? SMP_OK : smp_fail_memory(err, "buffers", sizeof **out);
}

void smp_warp_memory_close(smp_warp_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++) {
        warp_forget_buffer(memory, &memory->buffers[i]);
        smp_free(memory->buffers[i].owned);
    }
    for (size_t i = 0; i < WARP_COPIES_KEPT; i++)
        smp_warp_copy_free(memory->kept[i]);
    warp_close_arena(memory);
    smp_free_all(memory->buffers, memory);
}

/* The last buffer that starts at or before the address; count: none does. */
static size_t search(const smp_warp_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (memory->buffers[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : memory->count;
}

bool warp_insert_buffer(smp_warp_memory *memory, const warp_buffer *buffer, const char *name)
{
    const uint64_t start = buffer->start;
    if (!smp_grow(&memory->buffers, &memory->capacity, memory->count + 1, sizeof *memory->buffers))
        return false;
    size_t at = search(memory, start);
    at = at == memory->count && (!memory->count || memory->buffers[0].start > start) ? 0 : at + 1;
    memmove(memory->buffers + at + 1, memory->buffers + at, (memory->count - at) * sizeof *memory->buffers);
    memory->buffers[at] = *buffer;
    snprintf(memory->buffers[at].name, NAME, "%s", name ? name : "");
    memory->count++;
    memory->version++;
    return true;
}

warp_buffer *warp_find_buffer(const smp_warp_memory *memory, uint64_t address)
{
    const size_t at = search(memory, address);
    return at < memory->count && address - memory->buffers[at].start < memory->buffers[at].size ? &memory->buffers[at]
                                                                                                : NULL;
}

void *smp_warp_buffer(smp_warp_memory *memory, size_t size, const char *name)
{
    size_t whole;
    char *owned = smp_add_size(size, 2 * (size_t)ALIGNMENT, &whole) ? smp_alloc(whole) : NULL;
    const uint64_t start = ((uint64_t)(uintptr_t)owned + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const warp_buffer buffer = {.start = start, .size = size, .owned = owned};
    if (owned && warp_insert_buffer(memory, &buffer, name))
        return (void *)(uintptr_t)start;
    smp_free(owned);
    return NULL;
}

bool warp_kernel_buffer_free(smp_warp_memory *memory, uint64_t address)
{
    const size_t at = search(memory, address);
    return at < memory->count && memory->buffers[at].kernels &&
           smp_warp_buffer_free(memory, (void *)(uintptr_t)address);
}

bool smp_warp_memory_adopt(smp_warp_memory *memory, void *start, size_t size, const char *name)
{
    return warp_insert_buffer(memory, &(warp_buffer){.start = (uint64_t)(uintptr_t)start, .size = size}, name);
}

void smp_warp_memory_release(smp_warp_memory *memory)
{
    size_t kept = 0;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->buffers[i].owned)
            memory->buffers[kept++] = memory->buffers[i];
        else
            warp_forget_buffer(memory, &memory->buffers[i]);
    memory->count = kept;
    memory->version++;
}

bool smp_warp_buffer_free(smp_warp_memory *memory, void *start)
{
    const size_t at = search(memory, (uint64_t)(uintptr_t)start);
    if (at == memory->count || memory->buffers[at].start != (uint64_t)(uintptr_t)start)
        return false;
    if (memory->buffers[at].device)
        warp_free_device(memory, &memory->buffers[at]);
    warp_forget_buffer(memory, &memory->buffers[at]);
    smp_free(memory->buffers[at].owned);
    memmove(memory->buffers + at, memory->buffers + at + 1, (memory->count - at - 1) * sizeof *memory->buffers);
    memory->count--;
    memory->version++;
    return true;
}

bool smp_warp_buffer_of(const smp_warp_memory *memory, uint64_t address, uint64_t *start, uint64_t *size)
{
    const size_t at = search(memory, address);
    if (at == memory->count || address - memory->buffers[at].start >= memory->buffers[at].size)
        return false;
    *start = memory->buffers[at].start;
    *size = memory->buffers[at].size;
    return true;
}

/* ------------------------------------------------------------------------------------------------ accesses */

static const char *doing(warp_touching how)
{
    return how == WARP_READS ? "reads" : how == WARP_WRITES ? "writes" : "updates";
}

/* Whether an access lies in memory from start to end: nothing is added to an address, which may be the last there is.
 */
static inline bool is_within(uint64_t address, uint32_t width, uint64_t start, uint64_t end)
{
    return address >= start && address <= end && end - address >= width;
}

/* A place that no buffer holds. Once it is known that a GPU would notice, more of the same need no description. */
static void outside(warp_block *block, const warp_frame *frame, const warp_inst *inst, uint32_t lane, uint64_t address,
                    const warp_access *access)
{
    char text[160];
    bool illegal;
    if (block->illegal && warp_fault_again(block, SMP_WARP_BOUNDS, inst->index, UINT32_MAX))
        return;
    warp_describe(block->launch->memory, address, text, sizeof text, &illegal);
    block->illegal = block->illegal || illegal;
    warp_fault(block, SMP_WARP_BOUNDS, inst->index, warp_thread(frame, lane), UINT32_MAX, 0, "%s %u bytes %s",
               doing(access->how), access->width, text);
}

bool warp_in_buffer(warp_block *block, uint64_t low, uint64_t high, uint32_t width)
{
    uint64_t start, size;
    if ((low < block->buffer_start || low >= block->buffer_end) &&
        smp_warp_buffer_of(block->launch->memory, low, &start, &size)) {
        block->buffer_start = start;
        block->buffer_end = start + size;
    }
    return low >= block->buffer_start && is_within(high, width, block->buffer_start, block->buffer_end);
}

/* The lanes whose access lies in one buffer and is aligned; findings for the others. */
static uint32_t lanes_inside(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                             const uint64_t address[WARP_LANES], const warp_access *access)
{
    uint32_t inside = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        uint64_t start, size;
        const uint64_t a = address[l];
        if (a % access->width) {
            warp_fault(block, SMP_WARP_MISALIGNED, inst->index, warp_thread(frame, l), UINT32_MAX, 0,
                       "%s %u bytes at an address that is not a multiple of %u", doing(access->how), access->width,
                       access->width);
            continue;
        }
        if (!is_within(a, access->width, block->buffer_start, block->buffer_end)) {
            if (!smp_warp_buffer_of(block->launch->memory, a, &start, &size) || size - (a - start) < access->width) {
                outside(block, frame, inst, l, a, access);
                continue;
            }
            block->buffer_start = start;
            block->buffer_end = start + size;
        }
        inside |= UINT32_C(1) << l;
    }
    return inside;
}

static uint32_t count_sectors(uint32_t lanes, const uint64_t address[WARP_LANES])
{
    uint64_t sectors[WARP_LANES];
    uint32_t count = 0;
    WARP_ACTIVE_LANES(lanes)
    {
        const uint64_t sector = address[l] / SECTOR; /* aligned to its width, an access is in one */
        uint32_t at = count;
        while (at && sectors[at - 1] != sector)
            at--;
        if (!at)
            sectors[count++] = sector;
    }
    return count;
}

/* Bytes between neighbouring lanes, where they are the same but for a few and more than the lane accesses; else 0. */
static uint32_t stride_of(uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width)
{
    enum { JUMPS = 3, MOST = 1 << 30 };
    uint64_t stride = 0;
    int jumps = 0, steps = 0;
    for (uint32_t l = 1; l < WARP_LANES; l++) {
        if ((lanes >> (l - 1) & 3) != 3)
            continue;
        const uint64_t step = address[l] > address[l - 1] ? address[l] - address[l - 1] : address[l - 1] - address[l];
        stride = stride ? stride : step;
        steps++;
        jumps += step != stride;
    }
    return steps > JUMPS && jumps <= JUMPS && stride > width && stride < MOST ? (uint32_t)stride : 0;
}

void warp_count_local(warp_block *block, const warp_inst *inst, uint32_t lanes, const uint64_t address[WARP_LANES],
                      uint32_t width)
{
    enum { WORD = 4, TOGETHER = SECTOR / WORD, MOST = TOGETHER * WARP_ACCESS_BYTES / WORD };
    warp_count *count = &block->counts[inst->index];
    uint32_t sectors = 0;
    for (uint32_t first = 0; first < WARP_LANES; first += TOGETHER) { /* lanes whose words share a sector */
        uint64_t words[MOST];
        uint32_t found = 0;
        WARP_ACTIVE_LANES(lanes & (0xffu << first))
        for (uint64_t word = address[l] / WORD; word <= (address[l] + width - 1) / WORD && found < MOST; word++) {
            uint32_t at = found;
            while (at && words[at - 1] != word)
                at--;
            if (!at)
                words[found++] = word;
        }
        sectors += found;
    }
    const uint32_t active = (uint32_t)warp_lanes_in(lanes), ideal = (active * width + SECTOR - 1) / SECTOR;
    count->seen_space |= 1 << SMP_WARP_LOCAL;
    count->in[SMP_WARP_LOCAL].instructions++;
    count->in[SMP_WARP_LOCAL].lanes += active;
    count->in[SMP_WARP_LOCAL].sectors += sectors;
    count->in[SMP_WARP_LOCAL].sectors_ideal += ideal < sectors ? ideal : sectors;
}

/* Notes how the lanes lie, which is mostly as at the last access of this instruction: then it moves as many sectors.
 * False: they are too far apart. */
static bool note_pattern(warp_memo *memo, uint32_t lanes, const uint64_t address[WARP_LANES], uint32_t width)
{
    uint32_t delta[WARP_LANES], differs = 0;
    uint64_t far = 0;
    const uint64_t base = address[__builtin_ctz(lanes)], half = UINT64_C(1) << 31;
    for (int l = 0; l < WARP_LANES; l++) {
        const uint64_t on = lanes == WARP_ALL ? UINT64_MAX : 0 - (uint64_t)(lanes >> l & 1);
        const uint64_t d = (address[l] - base) & on;
        far |= d + half;
        delta[l] = (uint32_t)d;
        differs |= delta[l] ^ memo->delta[l];
    }
    const uint32_t phase = (uint32_t)(base % SECTOR);
    const bool near = !(far >> 32);
    if (near && !differs && memo->known == 2 && memo->active == lanes && memo->width == width) {
        if (memo->phase != phase && memo->lie != WARP_ONE)
            memo->sectors = count_sectors(lanes, address);
        memo->phase = phase;
        return true;
    }
    memcpy(memo->delta, delta, sizeof delta);
    memo->known = near ? 2 : 0;
    memo->plain = false;
    memo->active = lanes;
    memo->phase = phase;
    memo->width = (uint8_t)width;
    memo->lie = (uint8_t)(near ? warp_lie_of(memo) : WARP_SCATTERED);
    memo->sectors = count_sectors(lanes, address);
    memo->stride = stride_of(lanes, address, width);
    warp_shape_memo(memo);
    return near;
}

static void note_written(const smp_warp_launch *launch, uint32_t lanes, const uint64_t address[WARP_LANES],
                         uint32_t width)
{
    WARP_ACTIVE_LANES(lanes)
    if (is_within(address[l], width, launch->written_start, launch->written_end))
        memset(launch->written + (address[l] - launch->written_start), 1, width);
}

uint32_t warp_touch_global(warp_block *block, warp_frame *frame, const warp_inst *inst, uint32_t lanes,
                           const uint64_t address[WARP_LANES], const warp_access *access)
{
    warp_memo *memo = &block->memos[inst->index];
    if (!lanes)
        return 0;
    const bool near = note_pattern(memo, lanes, address, access->width);
    const uint64_t first = address[__builtin_ctz(lanes)];
    warp_extent extent = {first + (uint64_t)(int64_t)memo->low, first + (uint64_t)(int64_t)memo->high,
                          (warp_lie)memo->lie};
    uint32_t inside = lanes;
    if (!near || !warp_in_buffer(block, extent.low, extent.high, access->width) ||
        (first | memo->mixed) & (access->width - 1)) {
        inside = lanes_inside(block, frame, inst, lanes, address, access);
        if (!near || inside != lanes)
            extent = (warp_extent){0, UINT64_MAX, WARP_SCATTERED};
    }
    if (block->launch->written && access->how != WARP_READS)
        note_written(block->launch, inside, address, access->width);
    if (block->observer)
        block->observer->touch(block->observer, frame, WARP_GLOBAL, inside, address, access->width, (int)access->how);
    warp_count_global(&block->counts[inst->index], memo, (uint32_t)warp_lanes_in(lanes));
    if (block->watch)
        warp_watch_access(block, frame, inst, inside, address, &extent, access);
    return inside;
}
