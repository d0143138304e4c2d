/* The packed SASS of kernel files: finding, reading, and loading one kernel of a file at a time. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/alloc.h"
#include "base/os/installed.h"
#include "base/paths.h"
#include "base/version.h"
#include "lab/program_kernels/own.h"

static struct {
    pthread_once_t once;
    char path[PATH_MAX]; /* "": there is none */
} folder = {.once = PTHREAD_ONCE_INIT};

static void find_folder(void)
{
    const char *given = getenv("SMP_SASS");
    if (given)
        snprintf(folder.path, sizeof folder.path, "%s", strlen(given) < sizeof folder.path ? given : "");
    else if (!smp_installed_find("sass", folder.path))
        folder.path[0] = '\0';
}

const char *smp_own_folder(void)
{
    pthread_once(&folder.once, find_folder);
    return folder.path[0] ? folder.path : NULL;
}

/* Everything that is packed in it. */
static smp_code inflate_file(const char *path, char **bytes, size_t *size, smp_error *err)
{
    enum { FIRST = 1 << 20, MOST = 256 << 20 };
    size_t room = 0;
    *size = 0;
    *bytes = NULL;
    gzFile from = gzopen(path, "rb");
    if (!from) {
        const char *name = smp_base_name(path);
        return smp_fail(err, SMP_E_READ, "this build has no SASS of %.*s.cu, which -DSMP_CUDA_ARCHS=90 adds",
                        (int)strcspn(name, "."), name);
    }
    int got = 1;
    while (got > 0 && *size < MOST) {
        if (*size + 1 >= room && !smp_grow(bytes, &room, room ? 2 * room : FIRST, 1)) {
            smp_free(*bytes);
            (void)gzclose(from);
            return smp_fail_memory(err, "SASS", room);
        }
        const size_t left = room - *size - 1;
        got = gzread(from, *bytes + *size, (unsigned)(left < FIRST ? left : FIRST));
        *size += got > 0 ? (size_t)got : 0;
    }
    const bool whole = got == 0;
    if (gzclose(from) == Z_OK && whole) {
        (*bytes)[*size] = 0;
        return SMP_OK;
    }
    smp_free(*bytes);
    *bytes = NULL;
    return smp_fail(err, SMP_E_DECODE, "%s is damaged", path);
}

smp_code smp_own_file_read(const char *file, smp_own_file *out, smp_error *err)
{
    static const char head[] = "smempipe SASS\n" SMP_VERSION "\n";
    char path[PATH_MAX + 128], *end;
    size_t size;
    memset(out, 0, sizeof *out);
    if (!smp_own_folder())
        return smp_fail(err, SMP_E_READ, "this build has no SASS of its kernels");
    snprintf(path, sizeof path, "%s/%s.gz", smp_own_folder(), file);
    SMP_TRY(inflate_file(path, &out->bytes, &size, err));
    const size_t length = strlen(head);
    if (size < length || memcmp(out->bytes, head, length) != 0) {
        smp_own_file_free(out);
        return smp_fail(err, SMP_E_DECODE, "%s is not of smempipe " SMP_VERSION, path);
    }
    out->cubin_size = strtoul(out->bytes + length, &end, 10);
    out->cubin = end + 1;
    if (*end != '\n' || out->cubin_size > size - (size_t)(out->cubin - out->bytes)) {
        smp_own_file_free(out);
        return smp_fail(err, SMP_E_DECODE, "%s is damaged", path);
    }
    out->text = end + 1 + out->cubin_size;
    out->text_size = size - (size_t)(out->text - out->bytes);
    return SMP_OK;
}

void smp_own_file_free(smp_own_file *file)
{
    smp_free(file->bytes);
    memset(file, 0, sizeof *file);
}

typedef struct loaded {
    struct loaded *next;
    smp_warp_module *module; /* of one kernel; null: it could not be loaded */
    smp_error problem;
    uint32_t registers; /* of a thread; 0: not known */
    char name[];
} loaded;

static struct {
    smp_warp_memory *memory;
    loaded *kernels;
    int architecture;
} own;

smp_warp_memory *smp_own_memory(void)
{
    if (!own.memory)
        (void)smp_warp_memory_open(&own.memory, NULL);
    return own.memory;
}

int smp_own_architecture(void)
{
    return own.architecture;
}

/* The section of a kernel, with the line that tells the architecture. Null: no memory; "": there is no such kernel. */
static char *cut_section(const smp_own_file *file, const char *kernel)
{
    char title[256];
    snprintf(title, sizeof title, "\t.section\t.text.%s,", kernel);
    const char *target = strstr(file->text, "\t.target\tsm_"), *begin = strstr(file->text, title);
    if (!target || !begin)
        return smp_strdup("");
    own.architecture = atoi(target + strlen("\t.target\tsm_"));
    const char *end = strstr(begin + 1, "\t.section\t.text.");
    const size_t size = end ? (size_t)(end - begin) : strlen(begin);
    return smp_asprintf("%.*s\n%.*s", (int)strcspn(target, "\n"), target, (int)size, begin);
}

static smp_code load(const char *file, const char *kernel, loaded *to, smp_error *err)
{
    static smp_own_file packed; /* the last one: kernels of a file are asked for one after the other */
    static char *name;
    smp_code code = smp_own_memory() ? SMP_OK : smp_fail_memory(err, "buffers", 0);
    if (!code && (!name || strcmp(name, file) != 0)) {
        smp_free(name);
        smp_own_file_free(&packed);
        name = NULL;
        code = smp_own_file_read(file, &packed, err);
        if (code)
            memset(&packed, 0, sizeof packed);
        else
            name = smp_strdup(file);
    }
    if (code)
        return code;
    char *text = cut_section(&packed, kernel);
    if (!text)
        code = smp_fail_memory(err, "SASS", packed.text_size);
    else if (!text[0])
        code = smp_fail(err, SMP_E_READ, "there is no SASS of it in %s.gz", file);
    else
        code = smp_warp_load_sass(file, text, strlen(text), packed.cubin, packed.cubin_size, NULL, own.memory,
                                  &to->module, err);
    (void)smp_warp_registers(packed.cubin, packed.cubin_size, kernel, &to->registers);
    smp_free(text);
    return code;
}

static loaded *find_loaded(const char *kernel)
{
    loaded *one = own.kernels;
    while (one && strcmp(one->name, kernel) != 0)
        one = one->next;
    return one;
}

uint32_t smp_own_registers(const char *kernel)
{
    const loaded *one = find_loaded(kernel);
    return one ? one->registers : 0;
}

const smp_warp_kernel *smp_own_kernel(const char *file, const char *kernel, smp_error *err)
{
    loaded *one = find_loaded(kernel);
    if (!one) {
        one = smp_alloc(sizeof *one + strlen(kernel) + 1);
        if (!one) {
            smp_fail_memory(err, "SASS", sizeof *one);
            return NULL;
        }
        memcpy(one->name, kernel, strlen(kernel));
        one->next = own.kernels;
        own.kernels = one;
        (void)load(file, kernel, one, &one->problem);
    }
    if (one->module)
        return smp_warp_kernel_at(one->module, 0);
    if (err)
        *err = one->problem;
    return NULL;
}
