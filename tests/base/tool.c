/* Tools in their cage (base/os/tool.h): what they cannot do, how they end, and what they print. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "base/alloc.h"
#include "base/os/tool.h"

static smp_tool_end run(const char *script, double seconds, bool reads_all, char **folder)
{
    char *const argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)script, NULL};
    smp_tool_end end;
    smp_error err = {0};
    *folder = smp_tool_folder();
    assert_non_null(*folder);
    const smp_tool tool = {.argv = argv,
                           .folder = *folder,
                           .reads_all = reads_all,
                           .trusted = true,
                           .seconds = seconds,
                           .memory = UINT64_C(1) << 30,
                           .file = 1 << 20};
    assert_int_equal(smp_tool_run(&tool, &end, &err), SMP_OK);
    assert_non_null(end.messages);
    return end;
}

/* Expects what a script prints, then its status. */
static void expect(const char *script, bool reads_all, const char *printed, int status)
{
    char *folder;
    smp_tool_end end = run(script, 10, reads_all, &folder);
    assert_string_equal(end.messages, printed);
    assert_int_equal(end.status, status);
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
}

SMP_TEST(writes_and_reads_its_folder_alone)
{
    char script[600], other[] = "/tmp/smempipe-other-XXXXXX";
    const int fd = mkstemp(other);
    assert_true(fd >= 0 && write(fd, "own\n", 4) == 4);
    close(fd);
    expect("echo a > b && cat b && mkdir c && echo d > c/e && exec 2>&- && cat < /dev/null", false, "a\n", 0);
    if (smp_tool_confines()) {
        snprintf(script, sizeof script,
                 "exec 2> /dev/null; cat %s && echo read; cat /etc/passwd && echo passwd; cat /proc/self/environ && "
                 "echo environment; head -c 1 /dev/zero && echo zero; (echo x > %s) && echo written; "
                 "ln -s %s l && cat l && echo link; chmod 777 . && echo mode; kill -0 %d && echo kill; "
                 "renice -n 1 -p %d && echo nice; prlimit --core=0 --pid %d && echo limit; "
                 "prlimit --core --noheadings --output RESOURCE; echo end",
                 other, other, other, (int)getpid(), (int)getpid(), (int)getpid());
        expect(script, false, "CORE\nend\n", 0);
        snprintf(script, sizeof script,
                 "exec 2> /dev/null; cat %s; (echo x > %s) && echo written; rm -f %s && echo gone; head -c 1 "
                 "/dev/zero && echo zero; echo end",
                 other, other, other);
        expect(script, true, "own\nend\n", 0);
    }
    assert_int_equal(unlink(other), 0);
}

SMP_TEST(variables_that_load_libraries_stay_behind)
{
    setenv("LD_PRELOAD", "", 1);
    setenv("SMEMPIPE_SECRET", "x", 1);
    expect("echo ${LD_PRELOAD-none} ${SMEMPIPE_SECRET-none} $TMPDIR; pwd | tr -d 'A-Za-z0-9/._\\n-'", false,
           "none none .\n", 0);
    unsetenv("LD_PRELOAD");
    unsetenv("SMEMPIPE_SECRET");
}

/* Whether a process is there, and no zombie that nobody waits for. */
static bool lives(pid_t pid)
{
    char path[40], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state && state != 'Z';
}

static pid_t pid_in(const char *folder)
{
    char path[200];
    int pid = 0;
    snprintf(path, sizeof path, "%s/pid", folder);
    for (int tries = 0; tries < 500 && pid <= 0; tries++) {
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%d", &pid) != 1)
            pid = 0;
        if (file)
            fclose(file);
        usleep(10000);
    }
    assert_true(pid > 0);
    return pid;
}

static void assert_gone(pid_t pid)
{
    for (int tries = 0; tries < 200 && lives(pid); tries++)
        usleep(10000);
    assert_false(lives(pid));
}

static const char child_that_stays[] = "trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep 100) & echo $! > pid.new; "
                                       "mv pid.new pid; wait";

SMP_TEST(what_it_started_ends_with_its_time)
{
    char *folder;
    smp_tool_end end = run(child_that_stays, 0.5, true, &folder);
    assert_true(end.late);
    assert_int_equal(end.status, -SIGKILL);
    assert_gone(pid_in(folder));
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
}

/* A program that runs a tool, in a group of its own. */
static pid_t start_program(char folder[200])
{
    int said[2];
    assert_int_equal(pipe(said), 0);
    const pid_t program = fork();
    if (!program) {
        char *const argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                              (char *)(uintptr_t)child_that_stays, NULL};
        char *own = smp_tool_folder();
        smp_tool_end end;
        smp_error err = {0};
        const smp_tool tool = {.argv = argv,
                               .folder = own,
                               .reads_all = true,
                               .trusted = true,
                               .seconds = 100,
                               .memory = UINT64_C(1) << 30,
                               .file = 1 << 20};
        if (setpgid(0, 0) == 0 && own && write(said[1], own, strlen(own) + 1) > 0)
            (void)smp_tool_run(&tool, &end, &err);
        _exit(1);
    }
    assert_true(read(said[0], folder, 200) > 0);
    close(said[0]);
    close(said[1]);
    return program;
}

SMP_TEST(what_it_started_ends_with_this_program_however_it_ends)
{
    static const int signals[] = {SIGKILL, SIGTERM};
    for (size_t i = 0; i < 4; i++) {
        char folder[200];
        const bool whole_group = i >= 2;
        const pid_t program = start_program(folder), pid = pid_in(folder);
        assert_true(lives(pid));
        kill(whole_group ? -program : program, signals[i % 2]);
        assert_int_equal(waitpid(program, NULL, 0), program);
        assert_gone(pid);
        for (int tries = 0; tries < 200 && access(folder, F_OK) == 0 && !whole_group; tries++)
            usleep(10000);
        if (whole_group) /* nobody may be left to remove it */
            smp_tool_folder_remove(smp_strdup(folder));
        assert_int_equal(access(folder, F_OK), -1);
    }
}

/* A status of 255, with which ptxas ends, is no signal. */
SMP_TEST(a_status_is_told_from_a_signal)
{
    expect("exit 255", true, "", 255);
    expect("exec head -c 9000000 /dev/urandom > f", true, "", -SIGXFSZ);
}

SMP_TEST(memory_and_files_have_bounds)
{
    char *folder, path[200];
    struct stat status;
    smp_tool_end end = run("head -c 9000000 /dev/urandom > f; exit 3", 10, true, &folder);
    assert_int_equal(end.status, 3);
    snprintf(path, sizeof path, "%s/f", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 1 << 20);
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
    expect("ulimit -v; ulimit -c", true, "1048576\n0\n", 0);
}

SMP_TEST(messages_are_cut_and_cleaned)
{
    char *folder;
    expect("printf 'a\\033[31mb\\tc \\342\\200\\256 \\302\\233 \\377 \\303\\251\\n'", true,
           "a?[31mb\tc ? ? ? \xc3\xa9\n", 0);
    smp_tool_end end = run("yes message | head -c 500000", 10, true, &folder);
    assert_in_range(strlen(end.messages), 60000, 66000);
    assert_non_null(strstr(end.messages, "(what follows is cut)\n"));
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
}

SMP_TEST(what_is_taken_is_a_file_and_no_link)
{
    char *folder, to[200];
    smp_error err = {0};
    smp_tool_end end = run("echo made > a; ln -s /etc/passwd b; mkfifo c", 10, true, &folder);
    snprintf(to, sizeof to, "%s/taken", folder);
    assert_int_equal(smp_tool_take(folder, "b", to, 0600, &err), SMP_E_PROCESS);
    assert_int_equal(smp_tool_take(folder, "c", to, 0600, &err), SMP_E_PROCESS);
    assert_int_equal(smp_tool_take(folder, "a", to, 0600, &err), SMP_OK);
    smp_free(end.messages);
    smp_tool_folder_remove(folder);
}

static _Thread_local bool slow;

/* The library's, and where `slow` a child ends between the last look at it and the wait. */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit)
{
    usleep(slow ? 300000 : 0);
    return (int)syscall(SYS_rt_sigtimedwait, set, info, limit, sizeof(uint64_t));
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

static void *runs(void *status)
{
    char *const argv[] = {(char *)(uintptr_t) "sleep", (char *)(uintptr_t) "0.1", NULL};
    smp_error err = {0};
    slow = true;
    return smp_tool_run_own(argv, NULL, -1, true, status, &err) ? NULL : status;
}

/* The first thread, which does not block SIGCHLD, takes it in the place of the one that waits. */
SMP_TEST(a_program_of_the_user_ends_beside_threads)
{
    pthread_t thread;
    void *done = NULL;
    int status = -1;
    alarm(20);
    assert_int_equal(pthread_create(&thread, NULL, runs, &status), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    alarm(0);
    assert_non_null(done);
    assert_int_equal(status, 0);
}
