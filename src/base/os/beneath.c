/* Files below folders: see beneath.h. */
#include "base/os/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"

enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };

bool smp_roots_add(smp_roots *roots, const char *folder)
{
    char *real = smp_real_path(folder);
    if (!real || !smp_grow(&roots->items, &roots->capacity, roots->count + 1, sizeof *roots->items)) {
        smp_free(real);
        return false;
    }
    roots->items[roots->count++] = (smp_root){real, open(real, FOLDER)};
    return true;
}

void smp_roots_free(smp_roots *roots)
{
    for (size_t i = 0; i < roots->count; i++) {
        smp_free(roots->items[i].real);
        if (roots->items[i].fd >= 0)
            close(roots->items[i].fd);
    }
    smp_free(roots->items);
    *roots = (smp_roots){.count = 0};
}

bool smp_beneath_find(const smp_roots *roots, const char *path, smp_beneath *out)
{
    char *real = smp_real_path(path);
    bool done = real != NULL;
    *out = (smp_beneath){.folder = -1};
    for (size_t i = 0; done && !out->name && i < roots->count; i++) {
        const smp_root *root = &roots->items[i];
        if (!smp_path_within(real, root->real))
            continue;
        const char *rest = real + strlen(root->real);
        out->folder = root->fd;
        out->name = smp_strdup(rest + strspn(rest, "/"));
        done = out->name != NULL;
    }
    smp_free(real);
    return done;
}

/* A component of the way; closes `folder`. */
static int enter(int folder, const char *part, int *made)
{
    struct stat status;
    int next = openat(folder, part, FOLDER | O_NOFOLLOW);
    if (next < 0 && errno == ENOENT && made && ((mkdirat(folder, part, 0777) == 0 && ++*made) || errno == EEXIST))
        next = openat(folder, part, FOLDER | O_NOFOLLOW);
    int number = errno;
    if (next < 0 && fstatat(folder, part, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
        number = ELOOP;
    close(folder);
    errno = number;
    return next;
}

int smp_beneath_folder(int folder, const char *name, int *made)
{
    char part[NAME_MAX + 1];
    int at = openat(folder, ".", FOLDER);
    for (const char *slash; at >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        const size_t length = (size_t)(slash - name);
        if (!length)
            continue;
        if (length >= sizeof part || (length == 2 && !memcmp(name, "..", 2))) {
            close(at);
            errno = length >= sizeof part ? ENAMETOOLONG : ELOOP;
            return -1;
        }
        memcpy(part, name, length);
        part[length] = '\0';
        at = enter(at, part, made);
    }
    return at;
}

void smp_beneath_leave(int folder, char *path, int made)
{
    for (char *end; made > 0 && (end = strrchr(path, '/'));) {
        *end = '\0';
        const char *part = smp_base_name(path);
        if (!part[0] || !strcmp(part, ".")) /* "a//b", "a/./b" */
            continue;
        made--;
        const int up = openat(folder, "..", FOLDER);
        (void)unlinkat(up, part, AT_REMOVEDIR);
        close(folder);
        folder = up;
    }
    if (folder >= 0)
        close(folder);
}

smp_code smp_beneath_open(const smp_beneath *at, int *fd, smp_error *err)
{
    const char *base = smp_base_name(at->name);
    const int folder = smp_beneath_folder(at->folder, at->name, NULL);
    *fd = folder < 0 ? -1
                     : openat(folder, base[0] ? base : ".", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    const int number = errno;
    if (folder >= 0)
        close(folder);
    if (*fd >= 0)
        return SMP_OK;
    if (number == ELOOP)
        return smp_fail(err, SMP_E_READ, "somebody put a link in the way that leads to it");
    return smp_fail(err, SMP_E_READ, "cannot open: %s", strerror(number));
}
