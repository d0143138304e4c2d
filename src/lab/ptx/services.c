/* What kernels call of the system they run on: printf, assert, malloc, and CUDA's runtime on the device, which launches
 * kernels. PTX and SASS call the same: arguments are words, of 64 bits at an even one. What they ask to be launched,
 * copied or filled waits until the kernel has ended (smp_warp_tasks). */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/utf8.h"
#include "lab/machine/buffers.h"
#include "lab/ptx/execute.h"

/* cudaError_t */
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, TOO_DEEP = 65, TOO_MANY_WAIT = 69 };

static uint64_t long_of(const uint32_t *words, int at)
{
    return words[at] | (uint64_t)words[at + 1] << 32;
}

/* ------------------------------------------------------------------------------------------------ printf */

/* The bytes at a generic address that a thread passes on; null: none are there. */
static const char *bytes_at(const warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t address,
                            uint64_t *size)
{
    uint64_t start;
    if (ptx_space_of(address) == WARP_LOCAL) {
        uint64_t offset = address & ~WARP_WINDOW_MASK;
        const warp_frame *owner = ptx_frame_of(frame, &offset);
        *size = offset < owner->code->local_bytes ? owner->code->local_bytes - offset : 0;
        return *size ? (const char *)ptx_local(owner, lane, offset) : NULL;
    }
    const uint64_t at = address & ~WARP_WINDOW_MASK;
    if (ptx_space_of(address) == WARP_SHARED) {
        *size = at < block->shared_size ? block->shared_size - at : 0;
        return *size ? (const char *)block->shared + at : NULL;
    }
    if (!smp_warp_buffer_of(block->launch->memory, address, &start, size))
        return NULL;
    *size -= address - start;
    return (const char *)(uintptr_t)address;
}

/* One conversion of a format, its argument taken from `arguments` at *at. Returns where the format goes on. */
static const char *print_one(FILE *to, const warp_block *block, const warp_frame *frame, uint32_t lane,
                             const char *format, const char *end, const char *arguments, uint64_t size, uint64_t *at)
{
    char spec[32] = "%";
    size_t used = 1;
    bool wide = false;
    for (format++; format < end && !strchr("diouxXcsfFeEgGaAp%", *format); format++) {
        if (strchr("lzjt", *format))
            wide = true;
        else if (*format != 'h' && strchr("0123456789.+- #", *format) && used < sizeof spec - 6)
            spec[used++] = *format;
    }
    if (format >= end)
        return end;
    const char c = *format++;
    if (c == '%') {
        fputc('%', to);
        return format;
    }
    const bool is_float = strchr("fFeEgGaA", c) != NULL, eight = is_float || wide || c == 's' || c == 'p';
    const uint64_t bytes = eight ? 8 : 4;
    uint64_t value = 0;
    *at = (*at + bytes - 1) / bytes * bytes;
    if (*at + bytes > size)
        return format;
    memcpy(&value, arguments + *at, bytes);
    *at += bytes;
    if (is_float) {
        double number;
        memcpy(&number, &value, 8);
        snprintf(spec + used, sizeof spec - used, "%c", c);
        char text[400] = ""; /* a width may be too much */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, spec, number);
        fputs(text, to);
    } else if (c == 's') {
        uint64_t length;
        const char *string = bytes_at(block, frame, lane, value, &length);
        if (string)
            fprintf(to, "%.*s", (int)(length < 4096 ? length : 4096), string);
        else
            fprintf(to, value ? "(no text at 0x%llx)" : "(null)", (unsigned long long)value);
    } else if (c == 'p') {
        fprintf(to, "0x%llx", (unsigned long long)value);
    } else if (c == 'c') {
        fputc((int)(value & 255), to);
    } else {
        char text[400] = "";
        snprintf(spec + used, sizeof spec - used, "ll%c", c);
        const bool is_signed = c == 'd' || c == 'i';
        if (is_signed)
            snprintf(text, sizeof text, spec, wide ? (long long)value : (long long)(int32_t)value);
        else
            snprintf(text, sizeof text, spec, (unsigned long long)value);
#pragma GCC diagnostic pop
        fputs(text, to);
    }
    return format;
}

static void print_to(FILE *to, const warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t format_at,
                     uint64_t arguments_at)
{
    uint64_t format_size = 0, size = 0, at = 0;
    const char *format = bytes_at(block, frame, lane, format_at, &format_size);
    const char *arguments = arguments_at ? bytes_at(block, frame, lane, arguments_at, &size) : NULL;
    const char *end = format ? memchr(format, 0, (size_t)format_size) : NULL;
    while (end && format < end)
        if (*format != '%')
            fputc(*format++, to);
        else
            format = print_one(to, block, frame, lane, format, end, arguments ? arguments : "", size, &at);
}

/* As much as a GPU keeps of a launch: what a stranger's kernel prints beyond is cut. */
void ptx_print(warp_block *block, const warp_frame *frame, uint32_t lane, uint64_t format_at, uint64_t arguments_at)
{
    enum { MOST = 1 << 20 };
    FILE *to = block->launch->print;
    if (!to || (block->launch->guarded && block->printed > MOST))
        return;
    if (!block->launch->guarded) {
        print_to(to, block, frame, lane, format_at, arguments_at);
        return;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&text, &size);
    if (!line)
        return;
    print_to(line, block, frame, lane, format_at, arguments_at);
    if (!fclose(line)) {
        smp_utf8_clean(text);
        fputs(text, to);
        block->printed += size;
        if (block->printed > MOST)
            fprintf(to, "\n(kernel %s prints more than 1 MiB: what follows is cut)\n", block->code->name);
    }
    free(text);
}

static uint64_t print(const ptx_request *r)
{
    ptx_print(r->block, r->frame, r->lane, long_of(r->words, 0), long_of(r->words, 2));
    return 0;
}

/* __assertfail(message, file, line, function, size) */
static uint64_t fail_assertion(const ptx_request *r)
{
    const char *texts[2];
    for (int i = 0; i < 2; i++) {
        uint64_t size;
        texts[i] = bytes_at(r->block, r->frame, r->lane, long_of(r->words, 2 * i), &size);
        if (texts[i] && !memchr(texts[i], 0, (size_t)size))
            texts[i] = NULL;
    }
    r->block->asserted = true;
    char place[300] = ""; /* which the instruction has, too, but for PTX without lines */
    if (!r->inst->line)
        snprintf(place, sizeof place, " (%s:%u)", texts[1] ? texts[1] : "?", r->words[4]);
    warp_stop(r->block, r->frame, r->inst, "assertion '%s' fails in thread %u%s", texts[0] ? texts[0] : "?",
              warp_thread(r->frame, r->lane), place);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ memory */

static uint64_t allocate(const ptx_request *r)
{
    r->block->buffer_start = r->block->buffer_end = 0;
    return warp_kernel_buffer(r->block->launch->memory, long_of(r->words, 0));
}

static uint64_t release(const ptx_request *r)
{
    const uint64_t address = long_of(r->words, 0);
    smp_warp_memory *memory = r->block->launch->memory;
    if (address && !warp_kernel_buffer_free(memory, address))
        warp_stop(r->block, r->frame, r->inst, "thread %u frees 0x%llx, which %s", warp_thread(r->frame, r->lane),
                  (unsigned long long)address,
                  warp_find_freed(memory, address) ? "was freed before" : "malloc did not give");
    r->block->buffer_start = r->block->buffer_end = 0;
    return 0;
}

/* Writes where a pointer of the thread leads. Returns a cudaError_t. */
static uint64_t put(const ptx_request *r, uint64_t address, const void *value, uint32_t bytes)
{
    uint64_t size = 0;
    char *at = (char *)(uintptr_t)bytes_at(r->block, r->frame, r->lane, address, &size);
    if (!at || size < bytes)
        return INVALID_VALUE;
    warp_buffer *buffer = warp_find_buffer(r->block->launch->memory, address);
    if (buffer)
        warp_know(buffer, address - buffer->start, bytes);
    memcpy(at, value, bytes);
    return 0;
}

/* cudaMalloc(pointer, size) */
static uint64_t allocate_at(const ptx_request *r)
{
    const uint64_t address = warp_kernel_buffer(r->block->launch->memory, long_of(r->words, 2));
    r->block->buffer_start = r->block->buffer_end = 0;
    return address ? put(r, long_of(r->words, 0), &address, sizeof address) : OUT_OF_MEMORY;
}

/* cudaGraphSetConditional(handle, value): a handle is the address of a word. */
static uint64_t set_condition(const ptx_request *r)
{
    const uint64_t handle = long_of(r->words, 0);
    uint64_t start, size;
    if (!smp_warp_buffer_of(r->block->launch->memory, handle, &start, &size) || size - (handle - start) < 4)
        warp_stop(r->block, r->frame, r->inst, "thread %u sets a condition of no graph",
                  warp_thread(r->frame, r->lane));
    else
        memcpy((void *)(uintptr_t)handle, &r->words[2], 4);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ launches */

/* Returns the list of the launch; null: nobody runs what is on it. */
static smp_warp_tasks *tasks_of(const ptx_request *r)
{
    if (!r->block->launch->tasks)
        warp_stop(r->block, r->frame, r->inst, "it launches work on the device, which runs in a whole program alone");
    return r->block->launch->tasks;
}

static uint64_t fail(smp_warp_tasks *tasks, int error)
{
    tasks->error = error;
    return (uint64_t)error;
}

/* Room for one more on the list. All wait until the kernel has ended here, where a GPU begins many before. */
static bool has_room(const ptx_request *r, smp_warp_tasks *tasks)
{
    enum { MOST = 1 << 22 };
    if (tasks->count >= MOST) {
        warp_stop(r->block, r->frame, r->inst,
                  "it launches, copies and fills more than %d times on the device, which wait here until it ends",
                  MOST);
        return false;
    }
    return smp_grow(&tasks->items, &tasks->capacity, tasks->count + 1, sizeof *tasks->items);
}

static const smp_warp_kernel *kernel_at(const warp_block *block, uint64_t address)
{
    const warp_pointer *const *first = block->launch->kernel->pointers, *p = first ? *first : NULL;
    while (p && (uint64_t)(uintptr_t)p != address)
        p = p->next;
    return p ? p->kernel : NULL;
}

/* cudaGetParameterBufferV2(kernel, grid, block, shared): the kernel writes the parameters there. 0: no launch. */
static uint64_t prepare(const ptx_request *r)
{
    enum { LEAST = 16, MOST_DEPTH = 2048 /* as an H200: the launches that wait */ };
    smp_warp_tasks *tasks = tasks_of(r);
    const smp_warp_kernel *kernel = kernel_at(r->block, long_of(r->words, 0));
    if (!tasks || !kernel || tasks->depth >= MOST_DEPTH || !has_room(r, tasks)) {
        if (tasks)
            (void)fail(tasks, !kernel ? INVALID_VALUE : tasks->depth >= MOST_DEPTH ? TOO_DEEP : OUT_OF_MEMORY);
        return 0;
    }
    const uint32_t bytes = kernel->code.param_bytes;
    void *made = smp_warp_buffer(r->block->launch->memory, bytes > LEAST ? bytes : LEAST, NULL);
    const uint64_t at = (uint64_t)(uintptr_t)made;
    if (made)
        warp_find_buffer(r->block->launch->memory, at)->kernels = true;
    r->block->buffer_start = r->block->buffer_end = 0;
    if (!at)
        return fail(tasks, OUT_OF_MEMORY), 0;
    smp_warp_task *t = &tasks->items[tasks->count++];
    *t = (smp_warp_task){.kernel = kernel, .prepared = at, .shared = r->words[8]};
    memcpy(t->grid, r->words + 2, sizeof t->grid);
    memcpy(t->block, r->words + 5, sizeof t->block);
    return at;
}

/* cudaLaunchDeviceV2(buffer, stream) */
static uint64_t launch(const ptx_request *r)
{
    enum { TAIL = 3 /* cudaStreamTailLaunch */, MOST_TAILS = 2048 /* as an H200: error 69 for those behind it */ };
    smp_warp_tasks *tasks = tasks_of(r);
    const uint64_t buffer = long_of(r->words, 0);
    uint64_t start, size;
    size_t at = tasks ? tasks->count : 0;
    while (at && tasks->items[at - 1].prepared != buffer)
        at--;
    if (!at || !buffer || !smp_warp_buffer_of(r->block->launch->memory, buffer, &start, &size))
        return tasks ? fail(tasks, INVALID_VALUE) : 0;
    smp_warp_task t = tasks->items[at - 1];
    const uint32_t bytes = t.kernel->code.param_bytes;
    t.params = bytes <= size && start == buffer ? smp_alloc(bytes + 1) : NULL;
    if (!t.params)
        return fail(tasks, OUT_OF_MEMORY);
    memcpy(t.params, (const void *)(uintptr_t)buffer, bytes);
    (void)warp_kernel_buffer_free(r->block->launch->memory, buffer);
    r->block->buffer_start = r->block->buffer_end = 0;
    t.prepared = 0;
    t.tail = long_of(r->words, 2) == TAIL;
    memmove(tasks->items + at - 1, tasks->items + at, (tasks->count - at) * sizeof t);
    if (t.tail && tasks->tails == MOST_TAILS) {
        tasks->count--;
        smp_free(t.params);
        return fail(tasks, TOO_MANY_WAIT);
    }
    tasks->tails += t.tail;
    tasks->items[tasks->count - 1] = t;
    return 0;
}

static uint64_t add_task(const ptx_request *r, smp_warp_task task)
{
    smp_warp_tasks *tasks = tasks_of(r);
    if (!tasks)
        return 0;
    if (!has_room(r, tasks))
        return fail(tasks, OUT_OF_MEMORY);
    tasks->items[tasks->count++] = task;
    return 0;
}

/* cudaMemcpyAsync(to, from, size, kind, stream), cudaMemsetAsync(to, value, size, stream) */
static uint64_t copy(const ptx_request *r)
{
    smp_warp_tasks *tasks = tasks_of(r);
    if (tasks && !long_of(r->words, 2) && long_of(r->words, 4)) /* which would be a fill */
        return fail(tasks, INVALID_VALUE);
    return add_task(
        r, (smp_warp_task){.to = long_of(r->words, 0), .from = long_of(r->words, 2), .size = long_of(r->words, 4)});
}
static uint64_t fill(const ptx_request *r)
{
    return add_task(
        r, (smp_warp_task){.to = long_of(r->words, 0), .value = (int)r->words[2], .size = long_of(r->words, 4)});
}

/* Streams and events: all work is done in the order of the calls, as any stream would have it. */
static uint64_t make_handle(const ptx_request *r)
{
    const uint64_t handle = 0x100;
    return put(r, long_of(r->words, 0), &handle, sizeof handle);
}
static uint64_t succeed(const ptx_request *)
{
    return 0;
}

static uint64_t peek_error(const ptx_request *r)
{
    return r->block->launch->tasks ? (uint64_t)r->block->launch->tasks->error : 0;
}
static uint64_t get_error(const ptx_request *r)
{
    const uint64_t error = peek_error(r);
    if (error)
        r->block->launch->tasks->error = 0;
    return error;
}

/* ------------------------------------------------------------------------------------------------ the list */

/* l: 8 bytes, i: 4, 3: a dim3 */
const ptx_service ptx_services[] = {
    {"vprintf", "", "ll", print, "printf"},
    {"__assertfail", "", "lli", fail_assertion, NULL},
    {"malloc", "l", "l", allocate, "malloc"},
    {"free", "", "l", release, "free"},
    {"cudaGraphSetConditional", "", "li", set_condition, NULL},
    {"cudaGetParameterBufferV2", "l", "l33i", prepare, NULL},
    {"cudaLaunchDeviceV2", "i", "ll", launch, "launching kernels"},
    {"cudaMemcpyAsync", "i", "lllil", copy, "copying"},
    {"cudaMemsetAsync", "i", "lill", fill, "filling"},
    {"cudaMalloc", "i", "ll", allocate_at, "malloc"},
    {"cudaFree", "i", "l", release, "free"},
    {"cudaStreamCreateWithFlags", "i", "li", make_handle, NULL},
    {"cudaEventCreateWithFlags", "i", "li", make_handle, NULL},
    {"cudaStreamDestroy", "i", "l", succeed, NULL},
    {"cudaEventDestroy", "i", "l", succeed, NULL},
    {"cudaEventRecord", "i", "ll", succeed, NULL},
    {"cudaStreamWaitEvent", "i", "lli", succeed, NULL},
    {"cudaGetLastError", "i", "", get_error, NULL},
    {"cudaPeekAtLastError", "i", "", peek_error, NULL},
    {"cudaGetErrorString", "l", "i", succeed, NULL},
};

const int ptx_service_count = sizeof ptx_services / sizeof ptx_services[0];

int ptx_service_of(const char *name)
{
    static const char second[] = "__cudaCDP2", each[] = "_ptsz"; /* CDP2: since CUDA 12; a default stream a thread */
    char plain[64];
    const bool renamed = !strncmp(name, second, strlen(second));
    size_t size =
        (size_t)snprintf(plain, sizeof plain, "%s%s", renamed ? "cuda" : "", renamed ? name + strlen(second) : name);
    if (size > strlen(each) && size < sizeof plain && !strcmp(plain + size - strlen(each), each))
        plain[size - strlen(each)] = 0;
    for (int i = 0; i < ptx_service_count; i++)
        if (!strcmp(plain, ptx_services[i].name))
            return i;
    return -1;
}
