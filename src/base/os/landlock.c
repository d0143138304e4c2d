/* See landlock.h. The numbers are the same on all systems; the struct and the bits grew with the ABI. */
#include "base/os/landlock.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE = 444, ADD = 445, RESTRICT = 446, VERSION = 1, BENEATH = 1, NETWORK_SINCE = 4, SCOPES_SINCE = 6 };
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE /* rights that a file can have, the others are folders' */
};

int smp_landlock_abi(void)
{
    const long abi = syscall(CREATE, NULL, 0, VERSION);
    return abi > 0 ? (int)abi : 0;
}

smp_landlock smp_landlock_begin(bool scopes)
{
    const int abi = smp_landlock_abi();
    const int file_rights = abi < 2 ? 13 : abi < 3 ? 14 : abi < 5 ? 15 : 16;
    struct {
        uint64_t files, network, scopes;
    } handled = {
        .files = (UINT64_C(1) << file_rights) - 1,
        .network = 3,             /* bind and connect by TCP */
        .scopes = scopes ? 3 : 0, /* abstract sockets, signals */
    };
    const size_t size = (abi < NETWORK_SINCE ? 1 : abi < SCOPES_SINCE ? 2 : 3) * sizeof(uint64_t);
    return (smp_landlock){abi ? (int)syscall(CREATE, &handled, size, 0) : -1, handled.files};
}

void smp_landlock_allow(const smp_landlock *list, const char *path, unsigned rights)
{
    struct {
        uint64_t rights;
        int32_t folder;
    } __attribute__((packed)) rule = {.rights = 0};
    struct stat status;
    if (rights & SMP_LANDLOCK_READ)
        rule.rights |= READ_FILE | READ_DIR;
    if (rights & SMP_LANDLOCK_RUN)
        rule.rights |= EXECUTE;
    if (rights & SMP_LANDLOCK_WRITE)
        rule.rights |= WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_REG | MAKE_DIR | REFER;
    rule.folder = list->rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    if (rule.folder < 0)
        return;
    if (fstat(rule.folder, &status) == 0) {
        rule.rights &= list->handled & (S_ISDIR(status.st_mode) ? UINT64_MAX : OF_FILES);
        (void)syscall(ADD, list->rules, BENEATH, &rule, 0);
    }
    close(rule.folder);
}

bool smp_landlock_restrict(const smp_landlock *list)
{
    return list->rules >= 0 && syscall(RESTRICT, list->rules, 0) == 0;
}

void smp_landlock_end(smp_landlock *list)
{
    if (list->rules >= 0)
        close(list->rules);
    list->rules = -1;
}

void smp_bound_resource(unsigned resource, uint64_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
        limit.rlim_max = (rlim_t)most;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(resource, &limit);
}
