/* See tool_filter.h. What Landlock grants or refuses is left to it; refused here is what it does not see. */
#include "base/os/tool_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

static const int refused[] = {
    /* connections; io_uring makes any call past the filter */
    __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_io_uring_setup, __NR_io_uring_enter,
    /* leaving the group that is ended as a whole */
    __NR_setpgid, __NR_setsid,
    /* other processes */
    __NR_kill, __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, __NR_pidfd_send_signal, __NR_pidfd_getfd,
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_setpriority, __NR_ioprio_set,
    __NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr,
    /* what Landlock lets pass of files: truncating before its ABI 3, and rights, owners, times, attributes */
    __NR_truncate, __NR_fchmod, __NR_fchown, __NR_fchmodat, __NR_fchownat, __NR_utimensat, __NR_setxattr,
    __NR_lsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_open_by_handle_at, __NR_openat2, __NR_fsetxattr,
    __NR_fremovexattr,
    452, /* fchmodat2; headers lack numbers that are newer than they, and these are the same on all systems */
    463, /* setxattrat */
    466, /* removexattrat */
    469, /* file_setattr */
#ifdef __NR_chmod
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat,
#endif
    /* what outlives a process */
    __NR_shmget, __NR_semget, __NR_msgget, __NR_mq_open, __NR_add_key, __NR_request_key, __NR_keyctl,
    /* the system */
    __NR_unshare, __NR_setns, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot,
    428, /* open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr */
    429, 430, 431, 432, 433, 442, __NR_fanotify_init, __NR_sethostname, __NR_setdomainname, __NR_settimeofday,
    __NR_clock_settime, __NR_adjtimex, __NR_clock_adjtime, __NR_syslog, __NR_vhangup, __NR_bpf, __NR_perf_event_open,
    __NR_userfaultfd, __NR_quotactl, __NR_acct, __NR_swapon, __NR_swapoff, __NR_reboot, __NR_kexec_load,
    __NR_init_module, __NR_finit_module, __NR_delete_module};

enum { COUNT = sizeof refused / sizeof refused[0] };

bool smp_tool_filter_works(void)
{
    /* A filter that is null is an address that cannot be read where there are filters. */
    return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) != 0 && errno == EFAULT;
}

/* Opening for reading with O_TRUNC cuts a file, which Landlock does not see before its ABI 3. */
static size_t refuse_cutting(struct sock_filter *to, int call, int flags)
{
    const struct sock_filter code[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offsetof(struct seccomp_data, args) + (size_t)flags * 8)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_TRUNC | O_RDONLY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
        to[i] = code[i];
    return sizeof code / sizeof code[0];
}

/* Limits of its own it may read and lower, of no other process. */
static size_t refuse_limits_of_others(struct sock_filter *to)
{
    const struct sock_filter code[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prlimit64, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    for (size_t i = 0; i < sizeof code / sizeof code[0]; i++)
        to[i] = code[i];
    return sizeof code / sizeof code[0];
}

bool smp_tool_filter(void)
{
    struct sock_filter code[COUNT * 2 + 32];
    size_t n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32's calls */
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < COUNT; i++) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i], 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
#ifdef __NR_open
    n += refuse_cutting(code + n, __NR_open, 1);
#endif
    n += refuse_cutting(code + n, __NR_openat, 2);
    n += refuse_limits_of_others(code + n);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)n, code};
    return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#else

bool smp_tool_filter_works(void)
{
    return false;
}

bool smp_tool_filter(void)
{
    return false;
}

#endif
