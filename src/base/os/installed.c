/* Finds and opens what lies beside the program: see installed.h. */
#include "base/os/installed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/version.h"

enum { PLACES = 3 };

/* The file that holds the address, as the kernel knows it. */
static bool mapped_file(const void *address, char path[PATH_MAX])
{
    char line[PATH_MAX + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        const char *name = strchr(line, '/');
        found = name && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 && (uintptr_t)address >= from &&
                (uintptr_t)address < to;
        if (found)
            snprintf(path, PATH_MAX, "%.*s", (int)strcspn(name, "\n"), name);
    }
    if (maps)
        (void)fclose(maps);
    return found;
}

/* The folder that libsmempipe.so lies in, where this code is in it. The program itself has no name here. A name that is
 * not from the root on is from a folder that the process may have left. */
static bool library_folder(char folder[PATH_MAX])
{
    static const char here;
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name[0] ||
        !(map->l_name[0] == '/' ? realpath(map->l_name, folder) != NULL : mapped_file(&here, folder)))
        return false;
    *strrchr(folder, '/') = '\0';
    return true;
}

/* Fills the folders to look in, best first; returns how many. ".." is for a build's tests. */
static int places(char folders[PLACES][PATH_MAX])
{
    static const char *const of_library[] = {"smempipe"}, *const of_program[] = {SMP_INSTALLED_FOLDER, ".."};
    char own[PATH_MAX];
    const bool library = library_folder(own);
    if (!library && !smp_program_folder(own))
        return 0;
    strcpy(folders[0], own);
    const char *const *below = library ? of_library : of_program;
    int count = 1;
    for (const int all = library ? 2 : 3; count < all; count++) {
        const char *rest = below[count - 1];
        size_t length = strlen(own);
        for (; strncmp(rest, "..", 2) == 0; rest += rest[2] ? 3 : 2) /* the folder's name has no links in it */
            while (length > 0 && own[--length] != '/')
                ;
        snprintf(folders[count], PATH_MAX, "%.*s%s%s", (int)length, own, rest[0] ? "/" : "", rest);
    }
    return count;
}

static bool join(char path[PATH_MAX], const char *folder, const char *name)
{
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && access(path, F_OK) == 0;
}

bool smp_installed_find(const char *name, char path[PATH_MAX])
{
    char folders[PLACES][PATH_MAX];
    const int count = places(folders);
    for (int i = 0; i < count; i++)
        if (join(path, folders[i], name))
            return true;
    return false;
}

static smp_code missing(const char *name, smp_error *err)
{
    char folders[PLACES][PATH_MAX], text[400] = "";
    const int count = places(folders);
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", !i ? " in " : i < count - 1 ? ", " : " or ", folders[i]);
    }
    return smp_fail(err, SMP_E_DEVICE, "there is no %s%s", name, text);
}

/* Whether the file has all that its header lays out: what lacks would end the process when it is touched. */
static bool is_whole(const char *path)
{
    ElfW(Ehdr) head;
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && fstat(fd, &status) == 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                 memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
    for (unsigned i = 0; whole && i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        whole = pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) == (ssize_t)sizeof part &&
                (part.p_type != PT_LOAD || (part.p_filesz <= (uint64_t)status.st_size &&
                                            part.p_offset <= (uint64_t)status.st_size - part.p_filesz));
    }
    if (fd >= 0)
        (void)close(fd);
    return whole;
}

/* The table of a library that was made with this program. */
static smp_code find_table(void *library, const char *path, const char *build, const char *name, const void **table,
                           smp_error *err)
{
    const char *version = dlsym(library, "smp_kernel_files_version");
    const char *own = build ? dlsym(library, "smp_kernel_files_build") : NULL;
    if (version && strcmp(version, SMP_VERSION) != 0)
        return smp_fail(err, SMP_E_DEVICE, "%s is of smempipe %.40s, not " SMP_VERSION, path, version);
    if (version && build && (!own || strcmp(own, build) != 0))
        return smp_fail(err, SMP_E_DEVICE, "%s is of another build of smempipe " SMP_VERSION, path);
    *table = version ? dlsym(library, name) : NULL;
    return *table ? SMP_OK : smp_fail(err, SMP_E_DEVICE, "%s is not a library of smempipe " SMP_VERSION, path);
}

const void *smp_installed_open(const char *name, const char *build, const char *table, smp_error *err)
{
    char path[PATH_MAX];
    const void *found = NULL;
    void *library;
    smp_code code = SMP_OK;
    if (!smp_installed_find(name, path))
        code = missing(name, err);
    else if (access(path, R_OK) == 0 && !is_whole(path))
        code = smp_fail(err, SMP_E_DEVICE, "%s is damaged", path);
    else if (!(library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        code = smp_fail(err, SMP_E_DEVICE, "%s", dlerror());
    else if ((code = find_table(library, path, build, table, &found, err)))
        (void)dlclose(library);
    if (code)
        smp_hint(err, "install smempipe with its folder lib/smempipe, or copy the %s of its build beside %s", name,
                 library_folder(path) ? "libsmempipe.so" : "the program");
    return found;
}
