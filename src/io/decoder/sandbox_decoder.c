/* seccomp, Landlock and resource limits: see sandbox_decoder.h. A call that is not named below fails with EPERM and
 * does not end the process, since libraries try calls that they can do without. */
#include "io/decoder/sandbox_decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/landlock.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

enum {
    MOST_FILTER = 128,
    THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS |
             CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID /* pthread_create of glibc, and no other flags */
};

typedef struct filter {
    struct sock_filter code[MOST_FILTER];
    unsigned short length;
} filter;

static void add(filter *f, unsigned short code, unsigned char yes, unsigned char no, uint32_t value)
{
    if (f->length < MOST_FILTER)
        f->code[f->length++] = (struct sock_filter){code, yes, no, value};
}

static void load(filter *f, size_t offset)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void answer(filter *f, uint32_t what)
{
    add(f, BPF_RET | BPF_K, 0, 0, what);
}

static void allow(filter *f, long call)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
    answer(f, SECCOMP_RET_ALLOW);
}

/* The lower half of an argument: both systems here store it first. */
static size_t argument(int index)
{
    return offsetof(struct seccomp_data, args) + (size_t)index * sizeof(uint64_t);
}

static void allow_where_equal(filter *f, long call, int index, uint32_t value)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)call);
    load(f, argument(index));
    add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, SECCOMP_RET_ERRNO | EPERM);
}

static void allow_without_bits(filter *f, long call, int index, uint32_t bits)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)call);
    load(f, argument(index));
    add(f, BPF_JMP | BPF_JSET | BPF_K, 1, 0, bits);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, SECCOMP_RET_ERRNO | EPERM);
}

/* Threads, which pango and librsvg begin however little there is to do. */
static void allow_threads(filter *f)
{
    static const long calls[] = {
        __NR_rt_sigprocmask, __NR_sigaltstack, __NR_set_robust_list, __NR_sched_getaffinity, __NR_sched_yield,
        __NR_gettid,         __NR_rseq};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        allow(f, calls[i]);
    add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_clone3); /* whose flags no filter sees: clone serves as well */
    answer(f, SECCOMP_RET_ERRNO | ENOSYS);
    allow_where_equal(f, __NR_clone, 0, THREAD); /* no processes */
}

/* What libraries that draw letters need: to open files, of which Landlock leaves fonts alone. */
static void allow_drawing(filter *f)
{
    static const long asked[] = {
#ifdef __NR_access
        __NR_access,
#endif
        __NR_faccessat};
    allow(f, __NR_fstat);
    allow_without_bits(f, __NR_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH);
    allow_where_equal(f, __NR_newfstatat, 3, AT_EMPTY_PATH);      /* of what is open */
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) { /* whether a font may be read: yes, without a look */
        add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)asked[i]);
        answer(f, SECCOMP_RET_ERRNO | 0);
    }
}

static bool install_filter(int channel, int spool, bool fonts, bool threads)
{
    static const long always[] = {
        __NR_read,       __NR_lseek,         __NR_pread64,      __NR_munmap,    __NR_madvise,
        __NR_mremap,     __NR_brk,           __NR_futex,        __NR_close,     __NR_exit,
        __NR_exit_group, __NR_clock_gettime, __NR_rt_sigreturn, __NR_getrandom, __NR_restart_syscall,
    };
    filter f = {.length = 0};
    load(&f, offsetof(struct seccomp_data, arch));
    add(&f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCH);
    answer(&f, SECCOMP_RET_KILL_PROCESS);
    load(&f, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        allow(&f, always[i]);
    allow_where_equal(&f, __NR_recvmsg, 0, (uint32_t)channel);
    allow_where_equal(&f, __NR_sendmsg, 0, (uint32_t)channel);
#if SMP_SANITIZED
    (void)spool;
    allow(&f, __NR_write);
    allow(&f, __NR_sigaltstack); /* AddressSanitizer asks before a longjmp */
#else
    allow_where_equal(&f, __NR_write, 0, (uint32_t)spool);
#endif
    if (fonts)
        allow_drawing(&f);
    if (fonts || threads)
        allow_threads(&f);
    allow_without_bits(&f, __NR_mmap, 2, PROT_EXEC);
    allow_without_bits(&f, __NR_mprotect, 2, PROT_EXEC);
    answer(&f, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {.len = f.length, .filter = f.code};
    /* Kernels before 5.16 slow a filtered process down against speculation, which guards a process from itself. */
    if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0)
        return true;
    return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

static bool install_filter(int, int, bool, bool)
{
    return false;
}

#endif

/* No rights but to read fonts: every kind of access is handled. The kernel's ABI, or 0. */
static int restrict_by_landlock(char *const *fonts)
{
    smp_landlock none = smp_landlock_begin(true);
    for (; fonts && *fonts; fonts++)
        smp_landlock_allow(&none, *fonts, SMP_LANDLOCK_READ);
    const bool restricted = smp_landlock_restrict(&none);
    smp_landlock_end(&none);
    return restricted ? smp_landlock_abi() : 0;
}

void smp_sandbox_decoder(int channel, int spool, uint64_t memory, char *const *fonts, bool threads,
                         smp_confinement *got)
{
    *got = (smp_confinement){.landlock = 0};
    smp_bound_resource(RLIMIT_CORE, 0);
#if !SMP_SANITIZED
    if (memory)
        smp_bound_resource(RLIMIT_AS, memory);
#else
    (void)memory;
#endif
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return;
    got->landlock = restrict_by_landlock(fonts);
    got->seccomp = install_filter(channel, spool, fonts && got->landlock, threads);
}

void smp_confinement_text(const smp_confinement *got, char *text, size_t size)
{
    char landlock[32] = "no Landlock";
    if (got->landlock)
        snprintf(landlock, sizeof landlock, "Landlock ABI %d", got->landlock);
    snprintf(text, size, "%s, %s", got->seccomp ? "seccomp" : "no seccomp", landlock);
}
