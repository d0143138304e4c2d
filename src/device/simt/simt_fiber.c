/* Fibers: a stack for each thread of a block, and a switch that saves what a function call must preserve. In assembly
 * for x86-64 and AArch64 (about 10 ns), elsewhere with ucontext. AddressSanitizer is told about every switch. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/simt/simt_internal.h"

#if SMP_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__) || defined(__aarch64__)
#define FIBER_ASM 1
#else
#include <ucontext.h>
#endif

struct simt_fibers {
    void (*main)(void *context, int n);
    void *context;
    char *stacks;
    bool started[SIMT_THREADS];
    bool mapped[SIMT_THREADS]; /* its guard page exists */
#ifdef FIBER_ASM
    void *pointer[SIMT_THREADS], *scheduler;
#else
    ucontext_t place[SIMT_THREADS], scheduler;
#endif
#if SMP_SANITIZED
    void *fake[SIMT_THREADS], *scheduler_fake;
    const void *host_bottom;
    size_t host_size;
#endif
};

/* A stack with an inaccessible page below it. */
static const size_t pitch = SIMT_STACK;

static char *stack_of(simt_fibers *fibers, int n)
{
    return fibers->stacks + (size_t)n * pitch;
}

#ifdef FIBER_ASM
/* simt_switch(&save, to): pushes the callee-saved registers, stores the stack pointer in *save, switches to the stack
 * `to` and pops its registers. A new stack's first pop returns to simt_start, which calls simt_begin(fibers, n) with
 * the values of two of those registers. */
#define FIBER_LOCAL __attribute__((used, visibility("hidden")))
FIBER_LOCAL void simt_switch(void **save, void *to);
FIBER_LOCAL void simt_start(void);
FIBER_LOCAL void simt_begin(simt_fibers *fibers, intptr_t n);

#ifdef __x86_64__
__asm__(".text\n"
        ".globl simt_switch\n.hidden simt_switch\n.type simt_switch,@function\n"
        "simt_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size simt_switch,.-simt_switch\n"
        ".globl simt_start\n.hidden simt_start\n.type simt_start,@function\n"
        "simt_start:\n"
        "  movq %r12, %rdi\n  movq %r13, %rsi\n"
        "  callq simt_begin\n"
        "  ud2\n"
        ".size simt_start,.-simt_start\n");

static void *new_stack(simt_fibers *fibers, int n)
{
    uintptr_t *top = (uintptr_t *)(void *)(stack_of(fibers, n) + SIMT_STACK);
    *--top = 0; /* keeps the call in simt_start aligned to 16 bytes and ends backtraces */
    *--top = 0;
    *--top = (uintptr_t)simt_start;
    *--top = 0;                 /* rbp */
    *--top = 0;                 /* rbx */
    *--top = (uintptr_t)fibers; /* r12 */
    *--top = (uintptr_t)n;      /* r13 */
    *--top = 0;                 /* r14 */
    *--top = 0;                 /* r15 */
    return top;
}
#else
__asm__(".text\n"
        ".globl simt_switch\n.hidden simt_switch\n.type simt_switch,%function\n"
        "simt_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size simt_switch,.-simt_switch\n"
        ".globl simt_start\n.hidden simt_start\n.type simt_start,%function\n"
        "simt_start:\n"
        "  mov x0, x19\n  mov x1, x20\n"
        "  bl simt_begin\n"
        "  brk #1\n"
        ".size simt_start,.-simt_start\n");

static void *new_stack(simt_fibers *fibers, int n)
{
    uintptr_t *frame = (uintptr_t *)(void *)(stack_of(fibers, n) + SIMT_STACK - 160);
    memset(frame, 0, 160);
    frame[0] = (uintptr_t)fibers;      /* x19 */
    frame[1] = (uintptr_t)n;           /* x20 */
    frame[11] = (uintptr_t)simt_start; /* x30 */
    return frame;
}
#endif

void simt_begin(simt_fibers *fibers, intptr_t n)
{
#if SMP_SANITIZED
    __sanitizer_finish_switch_fiber(NULL, &fibers->host_bottom, &fibers->host_size);
#endif
    fibers->main(fibers->context, (int)n);
}
#else
static void begin_context(unsigned high, unsigned low, int n)
{
    simt_fibers *fibers = (simt_fibers *)((uintptr_t)high << 16 << 16 | low);
#if SMP_SANITIZED
    __sanitizer_finish_switch_fiber(NULL, &fibers->host_bottom, &fibers->host_size);
#endif
    fibers->main(fibers->context, n);
}
#endif

simt_fibers *simt_fibers_new(void (*main)(void *context, int n), void *context)
{
    simt_fibers *fibers = smp_alloc(sizeof *fibers);
    if (!fibers)
        return NULL;
    fibers->main = main;
    fibers->context = context;
    void *stacks =
        mmap(NULL, SIMT_THREADS * pitch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) {
        smp_free(fibers);
        return NULL;
    }
    fibers->stacks = stacks;
    return fibers;
}

void simt_fibers_free(simt_fibers *fibers)
{
    if (!fibers)
        return;
    munmap(fibers->stacks, SIMT_THREADS * pitch);
    smp_free(fibers);
}

void simt_fiber_reset(simt_fibers *fibers, int n)
{
    fibers->started[n] = false;
}

static void start(simt_fibers *fibers, int n)
{
    if (!fibers->mapped[n]) { /* a stack that grows too far must fault and not overwrite its neighbour */
        (void)mprotect(stack_of(fibers, n), (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
        fibers->mapped[n] = true;
    }
#ifdef FIBER_ASM
    fibers->pointer[n] = new_stack(fibers, n);
#else
    uintptr_t address = (uintptr_t)fibers;
    getcontext(&fibers->place[n]);
    fibers->place[n].uc_stack.ss_sp = stack_of(fibers, n);
    fibers->place[n].uc_stack.ss_size = SIMT_STACK;
    fibers->place[n].uc_link = NULL;
    makecontext(&fibers->place[n], (void (*)(void))begin_context, 3, (unsigned)(address >> 16 >> 16), (unsigned)address,
                n);
#endif
#if SMP_SANITIZED
    fibers->fake[n] = NULL;
#endif
    fibers->started[n] = true;
}

void simt_fiber_enter(simt_fibers *fibers, int n)
{
    if (!fibers->started[n])
        start(fibers, n);
#if SMP_SANITIZED
    __sanitizer_start_switch_fiber(&fibers->scheduler_fake, stack_of(fibers, n), SIMT_STACK);
#endif
#ifdef FIBER_ASM
    simt_switch(&fibers->scheduler, fibers->pointer[n]);
#else
    swapcontext(&fibers->scheduler, &fibers->place[n]);
#endif
#if SMP_SANITIZED
    __sanitizer_finish_switch_fiber(fibers->scheduler_fake, NULL, NULL);
#endif
}

void simt_fiber_leave(simt_fibers *fibers, int n)
{
#if SMP_SANITIZED
    __sanitizer_start_switch_fiber(&fibers->fake[n], fibers->host_bottom, fibers->host_size);
#endif
#ifdef FIBER_ASM
    simt_switch(&fibers->pointer[n], fibers->scheduler);
#else
    swapcontext(&fibers->place[n], &fibers->scheduler);
#endif
#if SMP_SANITIZED
    __sanitizer_finish_switch_fiber(fibers->fake[n], &fibers->host_bottom, &fibers->host_size);
#endif
}
