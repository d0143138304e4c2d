/* Landlock for the whole program: see jail.h. */
#include "io/jail.h"

#include "base/alloc.h"
#include "io/decoder/confine.h"

#if defined(__linux__) && !defined(SMP_SANITIZED) /* a sanitizer starts other programs to tell what it found */

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/os/landlock.h"
#include "base/paths.h"

enum { ABI_LEAST = 3 };

struct smp_jail {
    smp_landlock list;
};

int smp_jail_abi(void)
{
    const int abi = smp_landlock_abi();
    return abi >= ABI_LEAST ? abi : 0;
}

smp_jail *smp_jail_begin(void)
{
    static const char *const system_folders[] = {"/usr", "/lib", "/lib64", "/etc", "/opt", "/proc", "/sys", "/dev"};
    smp_landlock list = smp_jail_abi() ? smp_landlock_begin(false) : (smp_landlock){.rules = -1};
    smp_jail *jail = list.rules >= 0 ? smp_alloc(sizeof *jail) : NULL;
    if (!jail) {
        smp_landlock_end(&list);
        return NULL;
    }
    jail->list = list;
    for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++)
        smp_jail_allow(jail, system_folders[i], false);
    return jail;
}

void smp_jail_allow(smp_jail *jail, const char *path, bool write)
{
    if (jail)
        smp_landlock_allow(&jail->list, path, write ? SMP_LANDLOCK_READ | SMP_LANDLOCK_WRITE : SMP_LANDLOCK_READ);
}

static void allow_folder_of(smp_jail *jail, const char *path)
{
    char *folder = smp_folder_part(path);
    if (folder)
        smp_jail_allow(jail, folder, true);
    smp_free(folder);
}

void smp_jail_allow_output(smp_jail *jail, const char *path)
{
    struct stat status;
    if (!jail || !strcmp(path, "-"))
        return;
    allow_folder_of(jail, path);
    char *real = lstat(path, &status) == 0 && S_ISLNK(status.st_mode) ? smp_real_path(path) : NULL;
    if (real)
        allow_folder_of(jail, real);
    smp_free(real);
}

void smp_jail_allow_temporary(smp_jail *jail)
{
    const char *own = getenv("TMPDIR");
    if (!jail)
        return;
    if (own && own[0])
        smp_jail_allow(jail, own, true);
    smp_jail_allow(jail, "/var/tmp", true);
    smp_jail_allow(jail, "/tmp", true);
}

void smp_jail_close(smp_jail *jail)
{
    if (!jail)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)smp_landlock_restrict(&jail->list);
    smp_landlock_end(&jail->list);
    smp_free(jail);
}

#else

int smp_jail_abi(void)
{
    return 0;
}

smp_jail *smp_jail_begin(void)
{
    return NULL;
}

void smp_jail_allow(smp_jail *jail, const char *path, bool write)
{
    (void)jail, (void)path, (void)write;
}

void smp_jail_allow_output(smp_jail *jail, const char *path)
{
    (void)jail, (void)path;
}

void smp_jail_allow_temporary(smp_jail *jail)
{
    (void)jail;
}

void smp_jail_close(smp_jail *jail)
{
    (void)jail;
}

#endif
