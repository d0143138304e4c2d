/* Removes temporary files of killed writers. It finds them by their names. Every writer locks its own file, so an
 * unlocked one is not in use. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "io/files/output.h"

static bool is_temporary(const char *name)
{
    static const char before[] = ".smempipe-", after[] = ".tmp";
    enum { DIGITS = 16 };
    size_t begin = sizeof before - 1, end = sizeof after - 1, length = strlen(name);
    return length == begin + DIGITS + end && !memcmp(name, before, begin) && !strcmp(name + length - end, after) &&
           strspn(name + begin, "0123456789abcdef") == DIGITS;
}

size_t smp_output_sweep(const char *folder)
{
    size_t removed = 0;
    DIR *open_folder = opendir(folder);
    for (struct dirent *entry; open_folder && (entry = readdir(open_folder));) {
        if (!is_temporary(entry->d_name))
            continue;
        int at = dirfd(open_folder), fd = openat(at, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(at, entry->d_name, 0) == 0)
            removed++;
        close(fd);
    }
    if (open_folder)
        closedir(open_folder);
    return removed;
}
