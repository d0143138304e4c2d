/* Paths of files: see paths.h. */
#include "base/paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

char *smp_real_path(const char *path)
{
    char *copy = smp_strdup(path[0] ? path : "."), *found = NULL, *answer = NULL;
    const char *rest = "";
    size_t cut = copy ? strlen(copy) : 0;
    while (copy && !(found = realpath(copy, NULL)) && cut > 0) { /* the part that exists */
        while (cut > 0 && copy[cut - 1] == '/')
            cut--;
        while (cut > 0 && copy[cut - 1] != '/')
            cut--;
        if (!cut)
            break;
        copy[cut] = '\0';
        rest = path + cut;
    }
    if (copy && !found && (found = realpath(".", NULL)))
        rest = path;
    if (found)
        answer = smp_asprintf("%s%s%s", found, rest[0] && strcmp(found, "/") != 0 ? "/" : "", rest);
    free(found);
    smp_free(copy);
    for (size_t n = answer ? strlen(answer) : 0; n > 1 && answer[n - 1] == '/'; n--)
        answer[n - 1] = '\0';
    return answer;
}

bool smp_path_within(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (length == 1 && folder[0] == '/')
        return true;
    return strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/');
}

bool smp_path_leaves(const char *name)
{
    if (name[0] == '/')
        return true;
    for (const char *part = name;; part++) {
        const size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.')
            return true;
        part += length;
        if (!*part)
            return false;
    }
}

bool smp_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool smp_path_is_stdout(const char *path)
{
    return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/fd/1") || !strcmp(path, "/proc/self/fd/1");
}

const char *smp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t smp_stem(const char *path)
{
    const char *name = smp_base_name(path), *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

char *smp_folder_part(const char *path)
{
    const char *name = smp_base_name(path);
    return name > path ? smp_strndup(path, (size_t)(name - path)) : smp_strdup(".");
}

bool smp_program_folder(char folder[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    folder[slash ? slash - folder : 0] = '\0';
    return slash != NULL;
}

bool smp_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && !strcmp(text + length - size, end);
}
