/* Modules that programs load while they run, by the driver's calls: PTX, a cubin or a fatbin in their memory. SASS is
 * made of them as of a file's, and kept beside it. What NVRTC compiles is known by its cubin's bytes: it has PTX, too.
 */
#define _GNU_SOURCE 1 /* process_vm_readv, RTLD_NEXT */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/paths.h"
#include "base/whole_file.h"
#include "lab/machine/fatbin.h"
#include "lab/runtime/runtime.h"
#include "lab/stage/assemble.h"
#include "lab/stage/fatbin.h"

enum { PAGE = 4096, MOST_IMAGE = 512 << 20, WRAPPER = 0x466243b1 };

/* ------------------------------------------------------------------------------------------------ bytes */

/* Copies what a program's pointer leads to; false: not all of it can be read. */
static bool peek(const void *from, void *to, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM)) { /* a container that forbids the call */
        memcpy(to, from, size);
        return true;
    }
    return got == (ssize_t)size;
}

bool lab_readable(const void *at, size_t size)
{
    char bytes[PAGE];
    bool can = !size || peek((const char *)at + size - 1, bytes, 1);
    for (size_t done = 0; can && done < size; done += PAGE)
        can = peek((const char *)at + done, bytes, 1);
    return can;
}

/* Its headers are the last in it. 0: they lie beyond what is read. */
static size_t elf_size(const Elf64_Ehdr *head)
{
    const size_t sections = (size_t)head->e_shnum * sizeof(Elf64_Shdr),
                 parts = (size_t)head->e_phnum * sizeof(Elf64_Phdr);
    if (head->e_shoff > MOST_IMAGE || head->e_phoff > MOST_IMAGE)
        return 0;
    return head->e_shoff + sections > head->e_phoff + parts ? head->e_shoff + sections : head->e_phoff + parts;
}

static size_t text_size(const char *at)
{
    char page[PAGE];
    for (size_t size = 0, room; size <= MOST_IMAGE; size += room) {
        room = PAGE - (uintptr_t)(at + size) % PAGE;
        const char *end = peek(at + size, page, room) ? memchr(page, 0, room) : page;
        if (end)
            return end == page ? size : size + (size_t)(end - page);
    }
    return 0;
}

/* *at: to the fatbin, where it leads to what nvcc puts before one. 0: it is no image, or not all of it can be read. */
static size_t image_size(const char **at)
{
    struct {
        uint32_t magic, version;
        const char *fatbin;
    } wrapper;
    char begin[16];
    Elf64_Ehdr head;
    size_t size;
    if (peek(*at, &wrapper, sizeof wrapper) && wrapper.magic == WRAPPER)
        *at = wrapper.fatbin;
    if (peek(*at, begin, sizeof begin) && smp_fatbin_size(begin, MOST_IMAGE, &size))
        return size;
    if (peek(*at, &head, sizeof head) && !memcmp(head.e_ident, ELFMAG, SELFMAG))
        return elf_size(&head);
    return text_size(*at);
}

/* ------------------------------------------------------------------------------------------------ NVRTC */

/* What NVRTC made of a program, by its functions behind this library's; from smp_alloc, null: nothing. */
static unsigned char *made(void *program, const char *size_of, const char *get, size_t *size)
{
    int (*sizer)(void *, size_t *), (*getter)(void *, void *);
    *(void **)&sizer = dlsym(RTLD_NEXT, size_of);
    *(void **)&getter = dlsym(RTLD_NEXT, get);
    unsigned char *bytes = sizer && getter && !sizer(program, size) && *size ? smp_alloc(*size + 1) : NULL;
    if (!bytes || !getter(program, bytes))
        return bytes;
    smp_free(bytes);
    return NULL;
}

/* Where the PTX of a cubin is found that NVRTC made. */
static char *ptx_beside(const char *cubin)
{
    return smp_asprintf("%s.ptx", cubin);
}

/* NVRTC's own, with lines of the source, as nvcc's are compiled. The PTX is kept beside its cubin. */
LAB_API int nvrtcCompileProgram(void *program, int count, const char *const *options);
int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    enum { INVALID_INPUT = 3, INTERNAL = 11 };
    int (*real)(void *, int, const char *const *);
    char *cubin = NULL, *ptx = NULL, *beside = NULL;
    size_t size, ptx_size;
    smp_error err = {0};
    bool has_lines = false;
    *(void **)&real = dlsym(RTLD_NEXT, "nvrtcCompileProgram");
    if (count < 0 || (count && !options))
        return INVALID_INPUT;
    const char **words = smp_alloc_array((size_t)count + 1, sizeof *words);
    for (int i = 0; words && i < count; i++) {
        words[i] = options[i];
        has_lines = has_lines || (words[i] && (strstr(words[i], "-lineinfo") || strstr(words[i], "-line-info")));
    }
    if (words)
        words[count] = "-lineinfo";
    const int error = words && real ? real(program, count + !has_lines, words) : INTERNAL;
    unsigned char *code = error ? NULL : made(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN", &size);
    unsigned char *text = code ? made(program, "nvrtcGetPTXSize", "nvrtcGetPTX", &ptx_size) : NULL;
    if (text && !smp_kernel_keep_image(code, size, "cubin", &cubin, &err) &&
        !smp_kernel_keep_image(text, strlen((char *)text), "ptx", &ptx, &err) && (beside = ptx_beside(cubin)) &&
        symlink(smp_base_name(ptx), beside) && access(beside, R_OK) && /* one was made before, and leads nowhere */
        (unlink(beside) || symlink(smp_base_name(ptx), beside)))
        fprintf(stderr, "smempipe kernel: what NVRTC compiles has no PTX in %s: %s\n", beside, strerror(errno));
    smp_free_all(words, code, text, cubin, ptx, beside);
    return error;
}

/* ------------------------------------------------------------------------------------------------ modules */

/* Keeps an image, and finds what is made of it. Flags of the command line are not for it: programs load it. */
static smp_code find_code(const unsigned char *bytes, size_t size, bool is_ptx, const char *arch, lab_code *out,
                          smp_error *err)
{
    const char *wanted = getenv("SMEMPIPE_LAB_CODE");
    char why[SMP_ASSEMBLE_WHY] = "", *path = NULL;
    SMP_TRY(smp_kernel_keep_image(bytes, size, is_ptx ? "ptx" : "cubin", &path, err));
    out->ptx = is_ptx ? smp_strdup(path) : ptx_beside(path);
    if (out->ptx && access(out->ptx, R_OK)) {
        smp_free(out->ptx);
        out->ptx = NULL;
    }
    smp_code code = smp_assemble(path, arch, out->ptx && wanted && !strcmp(wanted, "sass") ? NULL : wanted, NULL, NULL,
                                 &out->sass, why, err);
    if (!out->sass && out->ptx) /* of a cubin, too */
        code = SMP_OK;
    if (!code && !out->sass && !out->ptx)
        code = smp_fail(err, SMP_E_USAGE, "a cubin has no PTX to count: %s", why);
    if (!code && !out->sass) {
        out->why = smp_strdup(why);
        out->cubin = is_ptx ? smp_assemble_cubin(path, arch, NULL) : smp_strdup(path);
    }
    smp_free(path);
    return code;
}

/* PTX, a cubin, or a fatbin with some of either. */
static int open_bytes(char *bytes, size_t size, lab_module **out, smp_error *err)
{
    const char *given = getenv("SMEMPIPE_LAB_ARCH"), *arch = given ? given : "sm_90";
    unsigned char *own = (unsigned char *)bytes, *unpacked = NULL;
    smp_kernel_fatbin fatbin = {.count = 0};
    bool is_ptx = size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0, found = false;
    lab_code code = {.ptx = NULL};
    size_t all;
    if (is_ptx && smp_fatbin_size(bytes, size, &all)) {
        if (smp_kernel_next_fatbin(own, all, &(size_t){0}, &fatbin, &found, err))
            return LAB_INVALID_IMAGE;
        const smp_kernel_image *image = smp_kernel_choose_image(&fatbin, atoi(smp_compile_arch(arch)));
        if (!image || smp_kernel_unpack(image, &unpacked, &size, err))
            return image ? LAB_INVALID_IMAGE : LAB_NO_BINARY;
        is_ptx = image->is_ptx;
        own = unpacked;
    }
    int error = is_ptx && !strstr((char *)own, ".version") ? LAB_INVALID_IMAGE : LAB_SUCCESS;
    if (!error && (find_code(own, is_ptx ? strlen((char *)own) : size, is_ptx, arch, &code, err) ||
                   lab_module_open(&code, out, err)))
        error = is_ptx ? LAB_INVALID_PTX : LAB_INVALID_IMAGE;
    smp_free(unpacked);
    return error;
}

int lab_load(const void *image, const char *path, lab_module **out, char log[LAB_LOG])
{
    LAB_ALONE;
    smp_error err = {0};
    const char *at = image;
    char *bytes = NULL;
    size_t size = path ? 0 : image_size(&at);
    if (path && smp_read_file(path, MOST_IMAGE, &bytes, &size, &err)) {
        smp_free(bytes);
        return LAB_FILE_NOT_FOUND;
    }
    if (!path && size && size <= MOST_IMAGE && (bytes = smp_alloc(size + 1)) && !peek(at, bytes, size))
        size = 0;
    const int error = bytes && size ? open_bytes(bytes, size, out, &err) : LAB_INVALID_IMAGE;
    snprintf(log, LAB_LOG, "%s", !error ? "" : err.message[0] ? err.message : "it is no PTX, cubin or fatbin");
    if (error)
        fprintf(stderr, "smempipe kernel: a module is not loaded: %s%s%s\n", err.where, err.where[0] ? ": " : "", log);
    smp_free(bytes);
    return error;
}
