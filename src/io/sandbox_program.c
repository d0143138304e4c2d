/* Landlock for the whole program: see sandbox_program.h. */
#include "io/sandbox_program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/os/landlock.h"
#include "base/paths.h"

enum { ABI_LEAST = 3 };

struct smp_sandbox {
    smp_landlock list;
};

static bool closed;

int smp_sandbox_abi(void)
{
    const int abi = smp_landlock_abi();
    return abi >= ABI_LEAST ? abi : 0;
}

smp_sandbox *smp_sandbox_begin(void)
{
    static const char *const system_folders[] = {"/usr", "/lib", "/lib64", "/etc", "/opt", "/proc", "/sys", "/dev"};
    smp_landlock list = smp_sandbox_abi() ? smp_landlock_begin(false) : (smp_landlock){.rules = -1};
    smp_sandbox *sandbox = list.rules >= 0 ? smp_alloc(sizeof *sandbox) : NULL;
    if (!sandbox) {
        smp_landlock_end(&list);
        return NULL;
    }
    sandbox->list = list;
    for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++)
        smp_sandbox_allow(sandbox, system_folders[i], false);
    return sandbox;
}

void smp_sandbox_allow(smp_sandbox *sandbox, const char *path, bool write)
{
    if (sandbox)
        smp_landlock_allow(&sandbox->list, path, write ? SMP_LANDLOCK_READ | SMP_LANDLOCK_WRITE : SMP_LANDLOCK_READ);
}

static void allow_folder_of(smp_sandbox *sandbox, const char *path)
{
    char *folder = smp_folder_part(path);
    if (folder)
        smp_sandbox_allow(sandbox, folder, true);
    smp_free(folder);
}

void smp_sandbox_allow_output(smp_sandbox *sandbox, const char *path)
{
    struct stat status;
    if (!sandbox || !strcmp(path, "-"))
        return;
    allow_folder_of(sandbox, path);
    char *real = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? smp_real_path(path) : NULL;
    if (real)
        allow_folder_of(sandbox, real);
    smp_free(real);
}

void smp_sandbox_allow_temporary(smp_sandbox *sandbox)
{
    const char *own = getenv("TMPDIR");
    if (!sandbox)
        return;
    if (own && own[0])
        smp_sandbox_allow(sandbox, own, true);
    smp_sandbox_allow(sandbox, "/var/tmp", true);
    smp_sandbox_allow(sandbox, "/tmp", true);
}

void smp_sandbox_close(smp_sandbox *sandbox)
{
    if (!sandbox)
        return;
    closed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && smp_landlock_restrict(&sandbox->list);
    smp_landlock_end(&sandbox->list);
    smp_free(sandbox);
}

bool smp_sandbox_closed(void)
{
    return closed;
}
