/* Executables that nvcc made: takes the PTX or cubin of each of their source files out, makes SASS of it, and lists
 * both for the lab's runtime library, which takes the place of the one that they ask for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/tool.h"
#include "commands/lab/kernel.h"
#include "commands/lab/kernel_elf.h"
#include "lab/stage/fatbin.h"
#include "lab/stage/toolkit.h"

/* The PTX of all files that were linked, one text behind another; null: of one there is none. CUDA's own runtime for
 * the device is among them, and is what the lab does itself. */
static smp_code join_parts(const smp_kernel_elf *elf, int arch, char **all, smp_error *err)
{
    static const char own[] = "__cuda_syscall_";
    smp_kernel_fatbin *fatbin = smp_alloc(sizeof *fatbin);
    smp_code code = fatbin ? SMP_OK : smp_fail_memory(err, "a fatbin", sizeof *fatbin);
    bool found = true, whole = elf->parts_size > 0;
    *all = smp_strdup("");
    for (size_t at = 0; !code && found && whole && *all;) {
        unsigned char *bytes = NULL;
        size_t size = 0;
        code = smp_kernel_next_fatbin(elf->parts, elf->parts_size, &at, fatbin, &found, err);
        const smp_kernel_image *image = !code && found ? smp_kernel_choose_image(fatbin, arch) : NULL;
        whole = image || !found;
        code = code || !image ? code : smp_kernel_unpack(image, &bytes, &size, err);
        if (bytes && !memmem(bytes, size, own, strlen(own))) {
            char *more = smp_asprintf("%s%s\n", *all, (const char *)bytes);
            whole = image->is_ptx;
            smp_free(*all);
            *all = more;
        }
        smp_free(bytes);
    }
    if (code || !whole || (*all && !**all)) {
        smp_free(*all);
        *all = NULL;
    }
    smp_free(fatbin);
    return code;
}

static smp_code add(const smp_kernel_settings *settings, const smp_kernel_elf *elf, const smp_kernel_fatbin *fatbin,
                    const char *file, smp_kernel_modules *to, smp_error *err)
{
    const smp_kernel_image *image = smp_kernel_choose_image(fatbin, atoi(smp_compile_arch(settings->arch)));
    const bool ptx_wanted = settings->code && !strcmp(settings->code, "ptx"),
               sass_wanted = settings->code && !strcmp(settings->code, "sass");
    unsigned char *bytes = NULL;
    char *parts = NULL, why[SMP_ASSEMBLE_WHY] = "";
    size_t size;
    if (!image)
        return SMP_OK;
    smp_code code = smp_kernel_unpack(image, &bytes, &size, err);
    static const char in_cubin[] = ".text.";
    if (code || (!image->is_ptx && !memmem(bytes, size, in_cubin, sizeof in_cubin - 1))) {
        smp_free(bytes);
        return code; /* nvcc adds one without kernels */
    }
    if (!smp_grow(&to->items, &to->capacity, to->count + 1, sizeof *to->items)) {
        smp_free(bytes);
        return smp_fail_memory(err, "modules", to->count);
    }
    smp_kernel_module *m = &to->items[to->count++];
    *m = (smp_kernel_module){.key = fatbin->key, .is_ptx = image->is_ptx};
    if (!image->is_ptx)
        code = join_parts(elf, atoi(smp_compile_arch(settings->arch)), &parts, err);
    if (!code && !image->is_ptx && !parts && ptx_wanted) {
        smp_fail(err, SMP_E_PROCESS, "it holds SASS of sm_%d alone, and no PTX", image->arch);
        code = smp_hint(err, "nvcc -arch=sm_%d puts both into it", image->arch);
    }
    if (image->is_ptx && bytes) /* zeros fill it up */
        size = strlen((const char *)bytes);
    if (!code)
        code = smp_kernel_keep_image(bytes, size, image->is_ptx ? "ptx" : "cubin", &m->source, err);
    if (!code)
        code =
            smp_assemble(m->source, settings->arch, settings->code, &settings->flags.ptxas, NULL, &m->sass, why, err);
    if (!to->why[0])
        memcpy(to->why, why, sizeof why);
    if (parts && (!code || !sass_wanted)) { /* the cubin is that of all parts together */
        m->linked = m->source;
        m->is_ptx = true;
        code = smp_kernel_keep_image((const unsigned char *)parts, strlen(parts), "ptx", &m->source, err);
    }
    smp_free(parts);
    if (code && err) { /* not the file in the cache */
        err->where[0] = 0;
        smp_at(err, "%s", file);
    }
    smp_free(bytes);
    return code;
}

/* Writes the list that the runtime library reads: a line for each module. */
static smp_code write_list(smp_kernel_modules *modules, smp_error *err)
{
    char *const folder = modules->folder = smp_tool_folder();
    char *list = folder ? smp_asprintf("%s/modules", folder) : NULL;
    char *library = folder ? smp_asprintf("%s/%s", folder, modules->runtime) : NULL;
    char *own = modules->library ? smp_asprintf("%s/libsmp_cudart.so", modules->library) : NULL;
    char *driver = folder ? smp_asprintf("%s/" SMP_KERNEL_DRIVER, folder) : NULL;
    FILE *to = list ? fopen(list, "w") : NULL;
    bool wrote =
        to && library && own && driver && !symlink(own, driver) && (!strcmp(library, driver) || !symlink(own, library));
    for (size_t i = 0; to && i < modules->count; i++) {
        const smp_kernel_module *m = &modules->items[i];
        fprintf(to, "%016llx\t%s\t%s\n", (unsigned long long)m->key, m->is_ptx ? m->source : "",
                m->sass ? m->sass : "");
    }
    if (to && fclose(to))
        wrote = false;
    if (!wrote)
        smp_fail(err, SMP_E_WRITE, "cannot make temporary files: %s", strerror(errno));
    smp_free_all(list, library, own, driver);
    return wrote ? SMP_OK : SMP_E_WRITE;
}

static smp_code refuse(const char *file, const smp_kernel_elf *elf, smp_error *err)
{
    if (!elf->code) {
        smp_fail(err, SMP_E_DECODE, "it holds no CUDA kernels that nvcc compiled");
        smp_hint(err, "a .cu, a .ptx, a .cubin, or a program of nvcc -cudart shared that has its kernels in itself, or "
                      "loads them by the driver's calls");
    } else {
        smp_fail(err, SMP_E_DECODE, "CUDA's runtime library is linked into it, so that the lab cannot take its place");
        smp_hint(err, "build it with nvcc -cudart shared -lineinfo (CMake: CUDA_RUNTIME_LIBRARY Shared)");
    }
    return smp_at(err, "%s", file);
}

smp_code smp_kernel_modules_open(const smp_kernel_settings *settings, const char *file, smp_kernel_modules *out,
                                 smp_error *err)
{
    smp_kernel_elf elf;
    *out = (smp_kernel_modules){.count = 0};
    smp_code code = smp_kernel_elf_open(file, &elf, err);
    if (!code && !elf.driver && !(elf.code && elf.runtime[0]))
        code = refuse(file, &elf, err);
    if (!code && !(out->library = smp_kernel_runtime_folder())) {
        smp_fail(err, SMP_E_PROCESS, "the lab's runtime library libsmp_cudart.so is not beside this program");
        code = smp_hint(err, "install smempipe whole (cmake --install)");
    }
    if (!code) {
        snprintf(out->runtime, sizeof out->runtime, "%s", elf.runtime[0] ? elf.runtime : SMP_KERNEL_DRIVER);
        out->preload = elf.fixed_path || elf.nvrtc;
    }
    smp_kernel_fatbin *fatbin = smp_alloc(sizeof *fatbin);
    if (!code && !fatbin)
        code = smp_fail_memory(err, "a fatbin", sizeof *fatbin);
    bool found = true;
    for (size_t at = 0; !code && found;) {
        code = smp_kernel_next_fatbin(elf.code, elf.code_size, &at, fatbin, &found, err);
        if (code)
            smp_at(err, "%s", file);
        else if (found)
            code = add(settings, &elf, fatbin, file, out, err);
    }
    if (!code && out->count && !elf.runtime[0])
        code = refuse(file, &elf, err);
    code = code ? code : write_list(out, err);
    smp_free(fatbin);
    smp_kernel_elf_free(&elf);
    return code;
}

void smp_kernel_modules_close(smp_kernel_modules *modules)
{
    smp_tool_folder_remove(modules->folder);
    for (size_t i = 0; i < modules->count; i++) {
        smp_free_all(modules->items[i].source, modules->items[i].sass, modules->items[i].linked);
    }
    smp_free_all(modules->items, modules->library);
    *modules = (smp_kernel_modules){.count = 0};
}
