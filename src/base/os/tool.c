/* See tool.h. Between this process and a tool stand two more. The watcher, in the group of this process, hears the
 * terminal's signals and the clock, and that this process is gone. The guard leads the group of the tool and of all
 * that the tool starts, and ends it when the watcher is gone, too: a group may be killed as a whole. Between fork and
 * exec only calls are made that are safe in a program with threads; what they need is made before. */
#include "base/os/tool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/landlock.h"
#include "base/os/tool_filter.h"
#include "base/paths.h"
#include "base/text/utf8.h"
#include "base/whole_file.h"

extern char **environ;

enum {
    MOST_MESSAGES = 64 << 10, /* bytes that are shown */
    MOST_MORE = 512,          /* processes and threads that the user may have more than the system has now */
    MOST_VARIABLES = 64,
    MOST_PROCESSORS = 8, /* that a tool keeps busy */
    UNWATCHED = -65536,  /* a status that no signal has */
};
static const char messages_name[] = "smempipe-messages";

/* What is waited for beside a child: its end, and signals that end this process. */
static const int waited[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP};
enum { WAITED = sizeof waited / sizeof waited[0], OF_CHILD = 1, OF_GUARD = 2 /* the first of them */ };

/* Memory shared by the two processes. status: UNWATCHED: the watcher has not set it. */
typedef struct outcome {
    int status, error; /* error: of what could not be done before the tool began */
    bool late;
} outcome;

typedef struct cage {
    const smp_tool *tool;
    smp_landlock rules;
    char *environment[MOST_VARIABLES];
    int input, output, messages;
    uint64_t processes; /* 0: no bound */
    outcome *outcome;
} cage;

/* ------------------------------------------------------------------------------------------------ in the children */

static void close_from(int first, bool when_it_begins)
{
    enum { CLOEXEC = 4 };
    if (syscall(SYS_close_range, (unsigned)first, ~0U, when_it_begins ? CLOEXEC : 0) == 0)
        return;
    for (int fd = first; fd < 4096; fd++)
        (void)(when_it_begins ? fcntl(fd, F_SETFD, FD_CLOEXEC) : close(fd));
}

static int confine(const cage *c)
{
    const smp_tool *tool = c->tool;
    smp_bound_resource(RLIMIT_CORE, 0);
    smp_bound_resource(RLIMIT_AS, tool->memory);
    smp_bound_resource(RLIMIT_FSIZE, tool->file);
    smp_bound_resource(RLIMIT_CPU,
                       (uint64_t)(tool->seconds * MOST_PROCESSORS) + 1); /* in case the watcher is ended, too */
    if (c->processes)
        smp_bound_resource(RLIMIT_NPROC, c->processes);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return tool->trusted ? 0 : errno;
    if (!smp_landlock_restrict(&c->rules) && !tool->trusted)
        return errno;
    if (!smp_tool_filter() && !tool->trusted)
        return errno;
    return 0;
}

/* The process of the tool, up to the tool. */
static _Noreturn void begin(const cage *c, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent && chdir(c->tool->folder) == 0 && dup2(c->input, STDIN_FILENO) >= 0 &&
        dup2(c->output, STDOUT_FILENO) >= 0 && dup2(c->messages, STDERR_FILENO) >= 0) {
        close_from(STDERR_FILENO + 1, true);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        errno = confine(c);
        if (!errno)
            (void)execve(c->tool->argv[0], c->tool->argv, c->environment);
    }
    c->outcome->error = errno;
    _exit(127);
}

/* Seconds until `end`, not less than 0. */
static struct timespec left_until(const struct timespec *end)
{
    struct timespec now, left = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    left.tv_sec = end->tv_sec - now.tv_sec;
    left.tv_nsec = end->tv_nsec - now.tv_nsec;
    if (left.tv_nsec < 0) {
        left.tv_nsec += 1000000000;
        left.tv_sec--;
    }
    return left.tv_sec < 0 ? (struct timespec){0} : left;
}

static void fill(sigset_t *set, size_t count)
{
    sigemptyset(set);
    for (size_t i = 0; i < count; i++)
        sigaddset(set, waited[i]);
}

/* All signals are blocked here and in watch(). */
static _Noreturn void guard(const cage *c, pid_t parent)
{
    int status = 0;
    sigset_t set;
    fill(&set, OF_GUARD);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    const pid_t self = getpid(), tool = getppid() == parent ? fork() : -1;
    if (!tool)
        begin(c, self);
    if (tool < 0)
        c->outcome->error = errno;
    close_from(0, false);
    while (tool > 0 && waitpid(tool, &status, WNOHANG) == 0)
        if (sigwaitinfo(&set, NULL) == SIGTERM)
            kill(0, SIGKILL);
    c->outcome->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    _exit(0);
}

static _Noreturn void watch(const cage *c, pid_t parent)
{
    struct timespec end;
    sigset_t set;
    int status = 0, ends_it = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)c->tool->seconds;
    end.tv_nsec += (long)((c->tool->seconds - (double)(time_t)c->tool->seconds) * 1e9);
    fill(&set, WAITED);
    (void)signal(SIGCHLD, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    const pid_t self = getpid(), group = getppid() == parent ? fork() : -1;
    if (!group)
        guard(c, self);
    if (group < 0) {
        c->outcome->error = errno;
        _exit(1);
    }
    (void)setpgid(group, group);
    close_from(0, false);
    while (!ends_it && waitpid(group, &status, WNOHANG) == 0) {
        const struct timespec left = left_until(&end);
        const int got = sigtimedwait(&set, NULL, &left);
        c->outcome->late = got < 0 && errno == EAGAIN;
        ends_it = c->outcome->late ? SIGKILL : got > 0 && got != SIGCHLD ? got : 0;
    }
    kill(-group, SIGKILL);
    if (ends_it)
        (void)waitpid(group, &status, 0);
    if (ends_it || WIFSIGNALED(status))
        c->outcome->status = -(ends_it ? ends_it : WTERMSIG(status));
    if (getppid() != parent) { /* nobody else removes it */
        char *const words[] = {(char *)(uintptr_t) "rm", (char *)(uintptr_t) "-rf", (char *)(uintptr_t) "--",
                               (char *)(uintptr_t)c->tool->folder, NULL};
        (void)execve("/bin/rm", words, c->environment);
    }
    _exit(0);
}

/* ------------------------------------------------------------------------------------------------ what it needs */

char *smp_tool_find(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        const size_t size = strcspn(at, ":");
        char *found = *at == '/' ? smp_asprintf("%.*s/%s", (int)size, at, name) : NULL;
        if (found && !access(found, X_OK) && !smp_is_folder(found))
            return found;
        smp_free(found);
        at += size + (at[size] == ':');
    }
    return NULL;
}

bool smp_tool_confines(void)
{
    return smp_landlock_abi() > 0 && smp_tool_filter_works();
}

/* Keeps variables that a user set for compilers. No variable makes a tool load a library or write elsewhere. */
static void make_environment(cage *c)
{
    static const char *const kept[] = {
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LC_MESSAGES",
        "CUDA_HOME",
        "NVCC_CCBIN",
        "CPATH",
        "LD_LIBRARY_PATH",
        "LIBRARY_PATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "CONDA_PREFIX",
        "NVCC_APPEND_FLAGS",
        "NVCC_PREPEND_FLAGS",
    };
    static char here[] = "TMPDIR=.", no_cache[] = "CCACHE_DISABLE=1";
    size_t count = 0;
    c->environment[count++] = here;
    c->environment[count++] = no_cache; /* a compiler may be ccache, which would write elsewhere */
    for (char **at = environ; *at; at++)
        for (size_t i = 0; i < sizeof kept / sizeof kept[0] && count < MOST_VARIABLES - 1; i++)
            if (!strncmp(*at, kept[i], strlen(kept[i])) && (*at)[strlen(kept[i])] == '=')
                c->environment[count++] = *at;
    c->environment[count] = NULL;
}

static void allow_all_but_devices(const smp_landlock *rules)
{
    DIR *root = opendir("/");
    for (struct dirent *entry; root && (entry = readdir(root));) {
        char path[sizeof entry->d_name + 1];
        snprintf(path, sizeof path, "/%s", entry->d_name);
        if (strcmp(path, "/.") != 0 && strcmp(path, "/..") != 0 && strcmp(path, "/dev") != 0 &&
            strcmp(path, "/proc") != 0 && strcmp(path, "/sys") != 0)
            smp_landlock_allow(rules, path, SMP_LANDLOCK_READ | SMP_LANDLOCK_RUN);
    }
    if (root)
        closedir(root);
}

static void make_rules(cage *c)
{
    static const char *const run[] = {"/usr", "/lib",  "/lib64", "/lib32",     "/libx32",
                                      "/bin", "/sbin", "/opt",   "/nix/store", "/gnu/store"};
    static const char *const read[] = {"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/alternatives",
                                       "/etc/localtime",   "/dev/urandom",       "/dev/random",
                                       "/proc/cpuinfo",    "/proc/meminfo",      "/sys/devices/system/cpu"};
    c->rules = smp_landlock_begin(true);
    for (size_t i = 0; i < sizeof run / sizeof run[0]; i++)
        smp_landlock_allow(&c->rules, run[i], SMP_LANDLOCK_READ | SMP_LANDLOCK_RUN);
    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++)
        smp_landlock_allow(&c->rules, read[i], SMP_LANDLOCK_READ);
    smp_landlock_allow(&c->rules, "/dev/null", SMP_LANDLOCK_READ | SMP_LANDLOCK_WRITE);
    smp_landlock_allow(&c->rules, c->tool->folder, SMP_LANDLOCK_READ | SMP_LANDLOCK_WRITE);
    for (size_t i = 0; c->tool->readable && c->tool->readable[i]; i++)
        smp_landlock_allow(&c->rules, c->tool->readable[i], SMP_LANDLOCK_READ | SMP_LANDLOCK_RUN);
    if (c->tool->reads_all)
        allow_all_but_devices(&c->rules);
}

/* RLIMIT_NPROC counts all of a user's processes, so that the bound is above what the whole system has. */
static uint64_t most_processes(void)
{
    unsigned long long all = 0;
    FILE *from = fopen("/proc/loadavg", "re");
    if (from && fscanf(from, "%*s %*s %*s %*u/%llu", &all) != 1)
        all = 0;
    if (from)
        fclose(from);
    return all ? all + MOST_MORE : 0;
}

static int create(const char *folder, const char *name)
{
    char *path = smp_asprintf("%s/%s", folder, name);
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    smp_free(path);
    return fd;
}

/* ------------------------------------------------------------------------------------------------ running */

static smp_code wait_for(pid_t child, const char *name, int *status, smp_error *err)
{
    *status = 0;
    while (waitpid(child, status, 0) < 0)
        if (errno == ECHILD) /* it has ended; where SIGCHLD is ignored, nobody is told how */
            return SMP_OK;
        else if (errno != EINTR)
            return smp_fail(err, SMP_E_PROCESS, "cannot wait for %s: %s", name, strerror(errno));
    return SMP_OK;
}

/* Forks with all signals blocked: a handler of this program must not run in the child. */
static pid_t fork_quietly(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    const pid_t child = fork();
    if (child)
        pthread_sigmask(SIG_SETMASK, before, NULL);
    return child;
}

static char *read_messages(const char *folder)
{
    smp_error ignored = {0};
    char *text = NULL, *path = smp_asprintf("%s/%s", folder, messages_name);
    size_t size = 0;
    if (path)
        (void)smp_read_file(path, MOST_MESSAGES, &text, &size, &ignored);
    smp_free(path);
    if (text && size > MOST_MESSAGES)
        snprintf(text + MOST_MESSAGES - 32, 32, "...\n(what follows is cut)\n");
    if (text)
        smp_utf8_clean(text);
    return text;
}

smp_code smp_tool_run(const smp_tool *tool, smp_tool_end *end, smp_error *err)
{
    sigset_t before;
    int status;
    cage c = {.tool = tool, .processes = most_processes()};
    *end = (smp_tool_end){.status = 0};
    if (!tool->trusted && !smp_tool_confines())
        return smp_fail(err, SMP_E_DEVICE, "nothing here can confine %s (the kernel lacks Landlock or seccomp)",
                        smp_base_name(tool->argv[0])),
               smp_hint(err, "--trust runs it with your rights, on files of the pipeline's author");
    outcome *out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    SMP_NEED(out != MAP_FAILED, "a tool", sizeof *out, err);
    c.outcome = out;
    out->status = UNWATCHED;
    c.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    c.messages = create(tool->folder, messages_name);
    c.output = tool->output ? create(tool->folder, tool->output) : c.messages;
    make_environment(&c);
    make_rules(&c);
    smp_code code = SMP_OK;
    const pid_t self = getpid(), child = c.input < 0 || c.messages < 0 || c.output < 0 ? -1 : fork_quietly(&before);
    if (!child)
        watch(&c, self);
    if (child < 0)
        code = smp_fail(err, SMP_E_PROCESS, "cannot run %s: %s", tool->argv[0], strerror(errno));
    else
        code = wait_for(child, tool->argv[0], &status, err);
    if (!code && (out->error || out->status == UNWATCHED))
        code = smp_fail(err, SMP_E_PROCESS, "cannot run %s: %s", tool->argv[0],
                        out->error ? strerror(out->error) : "the process that watches it was ended");
    const int opened[] = {c.input, c.messages, tool->output ? c.output : -1};
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
        if (opened[i] >= 0)
            close(opened[i]);
    smp_landlock_end(&c.rules);
    end->status = out->status;
    end->late = out->late;
    if (!code)
        end->messages = read_messages(tool->folder);
    munmap(out, sizeof *out);
    return code;
}

/* ends: of SIGCHLD, and of signals that end the child. Another thread that does not block SIGCHLD may take it, so that
 * the child is looked at now and then. */
static smp_code wait_for_own(pid_t child, const char *name, const sigset_t *ends, int *status, smp_error *err)
{
    const struct timespec now_and_then = {.tv_nsec = 50000000};
    siginfo_t info = {.si_pid = 0};
    int end = 0;
    while (!end && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid) {
        const int got = sigtimedwait(ends, NULL, &now_and_then);
        end = got > 0 && got != SIGCHLD ? got : 0;
    }
    if (!end)
        return wait_for(child, name, status, err);
    kill(child, SIGKILL);
    (void)waitpid(child, status, 0);
    return smp_fail(err, end == SIGINT ? SMP_E_INTERRUPTED : SMP_E_TERMINATED, "ended by a signal");
}

/* All variables, those of `environment` instead of ours of the same name; from smp_alloc. */
static char **join_environments(char *const *environment)
{
    size_t count = 0, more = 0;
    while (environ[count])
        count++;
    while (environment && environment[more])
        more++;
    char **all = smp_alloc_array(count + more + 1, sizeof *all);
    if (!all)
        return NULL;
    memcpy(all, environ, count * sizeof *all);
    for (size_t i = 0; i < more; i++) {
        const size_t name = strcspn(environment[i], "=") + 1;
        size_t at = 0;
        while (at < count && strncmp(all[at], environment[i], name) != 0)
            at++;
        all[at] = environment[i];
        count += at == count;
    }
    all[count] = NULL;
    return all;
}

smp_code smp_tool_run_own(char *const *argv, char *const *environment, int out, bool told, int *status, smp_error *err)
{
    sigset_t ends, before, blocked;
    int ended = 0, failed[2];
    char **all = join_environments(environment);
    if (!all || pipe2(failed, O_CLOEXEC) != 0) {
        smp_free(all);
        return smp_fail_memory(err, "a command", sizeof *all);
    }
    fflush(stdout);
    fill(&ends, told ? WAITED : OF_CHILD);
    for (size_t i = OF_CHILD; i < WAITED; i++) {
        struct sigaction action;
        if (sigaction(waited[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN) /* nohup */
            sigdelset(&ends, waited[i]);
    }
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    const pid_t self = getpid(), child = fork_quietly(&blocked);
    if (!child) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int number = 1; number < NSIG; number++) { /* handlers of ours end here; what is ignored stays so */
            struct sigaction action;
            if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                (void)signal(number, SIG_DFL);
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (getppid() == self && (out < 0 || dup2(out, STDOUT_FILENO) >= 0))
            (void)execvpe(argv[0], argv, all);
        ended = errno;
        (void)!write(failed[1], &ended, sizeof ended);
        _exit(127);
    }
    close(failed[1]);
    int why = child < 0 ? errno : 0;
    if (child > 0 && read(failed[0], &why, sizeof why) != sizeof why)
        why = 0;
    close(failed[0]);
    smp_free(all);
    const smp_code code = child > 0 ? wait_for_own(child, argv[0], &ends, &ended, err) : SMP_OK;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why)
        return smp_fail(err, SMP_E_PROCESS, "cannot run %s: %s", argv[0], strerror(why));
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
    return code;
}

/* ------------------------------------------------------------------------------------------------ its folder */

char *smp_tool_folder(void)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (!places[i] || places[i][0] != '/' || strspn(places[i], harmless) != strlen(places[i]))
            continue;
        char *folder = smp_asprintf("%s/smempipe-tool-XXXXXX", places[i]);
        if (folder && mkdtemp(folder))
            return folder;
        smp_free(folder);
    }
    return NULL;
}

/* Files of the folder, and of folders in it one level down: tools make no deeper ones. */
static void remove_files(int folder, int depth)
{
    DIR *list = fdopendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        const int below =
            depth < 4 ? openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (below >= 0)
            remove_files(below, depth + 1);
        (void)unlinkat(folder, entry->d_name, below >= 0 ? AT_REMOVEDIR : 0);
    }
    if (list)
        closedir(list);
    else
        close(folder);
}

void smp_tool_folder_remove(char *folder)
{
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0) {
        remove_files(fd, 0);
        rmdir(folder);
    }
    smp_free(folder);
}

smp_code smp_tool_take(const char *folder, const char *name, const char *to, int mode, smp_error *err)
{
    struct stat status;
    char bytes[1 << 16];
    ssize_t got = 0;
    char *path = smp_asprintf("%s/%s", folder, name);
    const int from = path ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    smp_free(path);
    if (from < 0 || fstat(from, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (from >= 0)
            close(from);
        return smp_fail(err, SMP_E_PROCESS, "the tool left no file '%s'", name);
    }
    const int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
    bool wrote = out >= 0;
    while (wrote && (got = read(from, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0; wrote && done < got;) {
            const ssize_t n = write(out, bytes + done, (size_t)(got - done));
            wrote = n > 0;
            done += n;
        }
    const int why = errno;
    if (out >= 0 && close(out) != 0)
        wrote = false;
    close(from);
    if (wrote && !got)
        return SMP_OK;
    smp_fail(err, SMP_E_WRITE, "cannot write: %s", strerror(why));
    return smp_at(err, "%s", to);
}
