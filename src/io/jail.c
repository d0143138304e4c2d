/* Landlock for the whole program: see jail.h. Sources: linux/landlock.h; Documentation/userspace-api/landlock.rst. */
#include "io/jail.h"

#include "base/alloc.h"
#include "io/confine.h"

#if defined(__linux__) && !defined(SMP_SANITIZED) /* a sanitizer starts other programs to tell what it found */

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/paths.h"

struct smp_jail {
    int rules;
    uint64_t handled; /* of files */
};

/* The numbers are the same on all systems. */
enum {
    CREATE = 444,
    ADD = 445,
    RESTRICT = 446,
    VERSION = 1,
    BENEATH = 1,
    ABI_LEAST = 3,
    ABI_NETWORK = 4,
    ABI_IOCTL = 5
};
enum {
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE /* rights that a file can have, the others are folders' */
};

int smp_jail_abi(void)
{
    const long abi = syscall(CREATE, NULL, 0, VERSION);
    return abi >= ABI_LEAST ? (int)abi : 0;
}

smp_jail *smp_jail_begin(void)
{
    static const char *const system_folders[] = {"/usr", "/lib", "/lib64", "/etc", "/opt", "/proc", "/sys", "/dev"};
    const int abi = smp_jail_abi();
    struct {
        uint64_t files, network;
    } handled = {.files = (UINT64_C(1) << (abi < ABI_IOCTL ? 15 : 16)) - 1, .network = 3 /* bind and connect by TCP */};
    const size_t size = (abi < ABI_NETWORK ? 1 : 2) * sizeof(uint64_t);
    const int rules = abi ? (int)syscall(CREATE, &handled, size, 0) : -1;
    smp_jail *jail = rules >= 0 ? smp_alloc(sizeof *jail) : NULL;
    if (!jail) {
        if (rules >= 0)
            close(rules);
        return NULL;
    }
    *jail = (smp_jail){.rules = rules, .handled = handled.files};
    for (size_t i = 0; i < sizeof system_folders / sizeof system_folders[0]; i++)
        smp_jail_allow(jail, system_folders[i], false);
    return jail;
}

static void allow(const smp_jail *jail, const char *path, uint64_t rights)
{
    struct {
        uint64_t rights;
        int32_t folder;
    } __attribute__((packed)) rule = {.rights = rights & jail->handled};
    struct stat status;
    rule.folder = open(path, O_PATH | O_CLOEXEC);
    if (rule.folder < 0)
        return;
    if (fstat(rule.folder, &status) == 0) {
        if (!S_ISDIR(status.st_mode))
            rule.rights &= OF_FILES;
        (void)syscall(ADD, jail->rules, BENEATH, &rule, 0);
    }
    close(rule.folder);
}

void smp_jail_allow(smp_jail *jail, const char *path, bool write)
{
    const uint64_t reading = READ_FILE | READ_DIR;
    const uint64_t writing = WRITE_FILE | TRUNCATE | REMOVE_FILE | MAKE_REG | MAKE_DIR | REFER;
    if (jail)
        allow(jail, path, write ? reading | writing : reading);
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
        (void)syscall(RESTRICT, jail->rules, 0);
    close(jail->rules);
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
