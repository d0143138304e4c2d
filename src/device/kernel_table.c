/* Finding a kernel by name among the files that the program carries. */
#include "device/kernel_table.h"

#include <string.h>

static const smp_kernel_file *extra;

const smp_simt_kernel *smp_simt_kernel_find(const smp_simt_kernel *const *const *list, const char *name)
{
    for (const smp_simt_kernel *kernel = **list; kernel; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    return NULL;
}

static const smp_kernel_file *search(const smp_kernel_file *files, const char *name)
{
    for (; files && files->name; files++)
        if (smp_simt_kernel_find(files->plain, name))
            return files;
    return NULL;
}

const smp_kernel_file *smp_kernel_file_of(const char *name)
{
    const smp_kernel_file *file = search(extra, name);
    return file ? file : search(smp_kernel_files, name);
}

void smp_kernel_files_extra(const smp_kernel_file *files)
{
    extra = files;
}
