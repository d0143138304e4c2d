/* Finds a kernel by name in the kernel files of the program. */
#include "device/kernel_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const smp_kernel_file *extra;

const smp_simt_kernel *smp_simt_kernel_find(const smp_simt_kernel *const *const *list, const char *name)
{
    for (const smp_simt_kernel *kernel = **list; kernel; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

struct entry {
    const char *name;
    const smp_kernel_file *file;
};

/* No name: there is none. */
static struct entry search(const smp_kernel_file *files, const char *name)
{
    for (; files && files->name; files++) {
        const smp_simt_kernel *kernel = smp_simt_kernel_find(files->plain, name);
        if (kernel)
            return (struct entry){kernel->name, files};
    }
    return (struct entry){NULL, NULL};
}

/* Every kernel of smp_kernel_files by its name; kept for the program's life. */
static struct by_name {
    pthread_once_t once;
    struct entry *entries;
    size_t count; /* 0: there was no memory for it */
} by_name = {.once = PTHREAD_ONCE_INIT};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void sort_names(void)
{
    size_t all = 0;
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        for (const smp_simt_kernel *kernel = **file->plain; kernel; kernel = kernel->next)
            all++;
    by_name.entries = calloc(all, sizeof *by_name.entries);
    if (!by_name.entries)
        return;
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        for (const smp_simt_kernel *kernel = **file->plain; kernel; kernel = kernel->next)
            by_name.entries[by_name.count++] = (struct entry){kernel->name, file};
    qsort(by_name.entries, by_name.count, sizeof *by_name.entries, compare_names);
}

static struct entry find(const char *name)
{
    const struct entry in_test = search(extra, name);
    if (in_test.name)
        return in_test;
    pthread_once(&by_name.once, sort_names);
    if (!by_name.count)
        return search(smp_kernel_files, name);
    const struct entry wanted = {name, NULL};
    const struct entry *found =
        bsearch(&wanted, by_name.entries, by_name.count, sizeof *by_name.entries, compare_names);
    return found ? *found : (struct entry){NULL, NULL};
}

const smp_kernel_file *smp_kernel_file_of(const char *name)
{
    return find(name).file;
}

const char *smp_kernel_name_of(const char *name)
{
    return find(name).name;
}

bool smp_kernel_usage_find(const char *text, const char *name, int arch, smp_kernel_usage *out)
{
    size_t length = strlen(name);
    bool found = false;
    *out = (smp_kernel_usage){.arch = 0};
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        smp_kernel_usage one;
        if (strncmp(line, name, length) != 0 || line[length] != ' ' ||
            sscanf(line + length, "%d %d %d %d", &one.arch, &one.registers, &one.static_shared, &one.stack) != 4)
            continue;
        if (!found || abs(one.arch - arch) < abs(out->arch - arch))
            *out = one;
        found = true;
    }
    return found;
}

void smp_kernel_files_extra(const smp_kernel_file *files)
{
    extra = files;
}
