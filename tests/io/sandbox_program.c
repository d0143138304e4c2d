/* The whole program's confinement: what is on the list can be read or written, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#include "io/sandbox_program.h"

static char top[64];

static const char *in(const char *name)
{
    static char paths[8][128];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static void touch(const char *name)
{
    FILE *file = fopen(in(name), "w");
    assert_non_null(file);
    fclose(file);
}

static int make_folders(void **state)
{
    (void)state;
    snprintf(top, sizeof top, "/tmp/smp-sandbox-XXXXXX");
    assert_non_null(mkdtemp(top));
    assert_int_equal(mkdir(in("in"), 0700) | mkdir(in("out"), 0700) | mkdir(in("other"), 0700), 0);
    touch("in/a");
    touch("out/old");
    touch("other/secret");
    touch("other/linked");
    assert_int_equal(symlink("../other/linked", in("in/link")), 0);
    return 0;
}

static int remove_folders(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

static bool opens(const char *name, int flags)
{
    int fd = open(in(name), flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool denied(const char *name, int flags)
{
    return !opens(name, flags) && (errno == EACCES || errno == EXDEV);
}

/* Tries what a confined process may do; returns the number of the first fault, 0: none. */
static int look_round(void)
{
    smp_sandbox *sandbox = smp_sandbox_begin();
    if (!sandbox)
        return 100;
    smp_sandbox_allow(sandbox, in("in"), false);
    smp_sandbox_allow(sandbox, in("in/link"), false);
    smp_sandbox_allow(sandbox, in("nowhere"), false);
    smp_sandbox_allow_output(sandbox, in("out/new"));
    smp_sandbox_allow_output(sandbox, "-");
    smp_sandbox_close(sandbox);
    const bool good[] = {
        opens("in/a", O_RDONLY),
        opens("in/link", O_RDONLY),
        denied("in/a", O_WRONLY),
        denied("in/b", O_WRONLY | O_CREAT),
        unlink(in("in/a")) != 0 && errno == EACCES,
        denied("other/secret", O_RDONLY),
        denied("other/new", O_WRONLY | O_CREAT),
        denied("other", O_RDONLY | O_DIRECTORY),
        opens("out/new", O_WRONLY | O_CREAT),
        opens("out/old", O_RDWR | O_TRUNC),
        opens("out", O_RDONLY | O_DIRECTORY),
        mkdir(in("out/sub"), 0700) == 0 && opens("out/sub/x", O_WRONLY | O_CREAT),
        rename(in("out/new"), in("out/sub/y")) == 0,
        rename(in("out/sub/y"), in("other/y")) != 0,
        link(in("out/old"), in("out/again")) == 0,
        unlink(in("out/old")) == 0,
        access("/proc/self/status", R_OK) == 0,
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!good[i])
            return (int)i + 1;
    return 0;
}

SMP_TEST(what_is_not_allowed_is_denied)
{
    if (!smp_sandbox_abi())
        skip();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(look_round());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(opens("other/secret", O_RDONLY)); /* this process is not confined */
}

SMP_TESTS_AROUND(make_folders, remove_folders)
