/* The driver's modules and links, and launches of what is in them. A function is known by the name that the host has
 * for it, so that the runtime's calls take it, too. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/runtime/runtime.h"

int cudaLaunchKernelExC(const lab_config *config, const void *function, void **arguments);
int cudaLaunchCooperativeKernel(const void *function, lab_dim3 grid, lab_dim3 block, void **arguments, size_t shared,
                                void *stream);
int cudaFuncGetAttributes(char *attributes, const void *function);
int cudaFuncSetAttribute(const void *function, int attribute, int value);

/* ------------------------------------------------------------------------------------------------ loading */

/* CUjit_option: where the program wants to read what is wrong. Sizes become those of what is written. */
static void give_log(const char *log, unsigned count, const int *options, void **values)
{
    enum { INFO = 3, INFO_SIZE, ERROR, ERROR_SIZE };
    void *texts[] = {NULL, NULL}, **sizes[] = {NULL, NULL};
    for (unsigned i = 0; i < count && options && values; i++) {
        if (options[i] == INFO || options[i] == ERROR)
            texts[options[i] == ERROR] = values[i];
        else if (options[i] == INFO_SIZE || options[i] == ERROR_SIZE)
            sizes[options[i] == ERROR_SIZE] = &values[i];
    }
    for (int i = 0; i < 2; i++)
        if (texts[i] && sizes[i] && *sizes[i]) {
            const int written = snprintf(texts[i], (size_t)(uintptr_t)*sizes[i], "%s", i ? log : "");
            *sizes[i] = (void *)(uintptr_t)written;
        }
}

static int load(lab_module **out, const void *image, const char *path, unsigned count, const int *options,
                void **values)
{
    char log[LAB_LOG] = "";
    if (!out || (!image && !path))
        return LAB_INVALID_VALUE;
    const int error = lab_load(image, path, out, log);
    give_log(log, count, options, values);
    return error;
}
LAB_DRIVER(cuModuleLoad, (lab_module * *out, const char *path), load(out, NULL, path, 0, NULL, NULL))
LAB_DRIVER(cuModuleLoadData, (lab_module * *out, const void *image), load(out, image, NULL, 0, NULL, NULL))
LAB_DRIVER(cuModuleLoadFatBinary, (lab_module * *out, const void *image), load(out, image, NULL, 0, NULL, NULL))
LAB_DRIVER(cuModuleLoadDataEx,
           (lab_module * *out, const void *image, unsigned count, const int *options, void **values),
           load(out, image, NULL, count, options, values))

static int unload(const lab_module *m)
{
    if (!lab_is_module(m))
        return LAB_INVALID_HANDLE;
    lab_modules_close(m, NULL);
    return LAB_SUCCESS;
}
static int find_function(const void **out, const lab_module *m, const char *name)
{
    if (!out || !name || !lab_is_module(m))
        return out && name ? LAB_INVALID_HANDLE : LAB_INVALID_VALUE;
    *out = lab_module_kernel(m, name);
    return *out ? LAB_SUCCESS : LAB_NOT_FOUND;
}
static int find_variable(void **p, size_t *size, const lab_module *m, const char *name)
{
    size_t bytes = 0;
    if (!name || !lab_is_module(m))
        return name ? LAB_INVALID_HANDLE : LAB_INVALID_VALUE;
    void *found = lab_module_variable(m, name, &bytes);
    if (found && p)
        *p = found;
    if (found && size)
        *size = bytes;
    return found ? LAB_SUCCESS : LAB_NOT_FOUND;
}
LAB_DRIVER(cuModuleUnload, (const lab_module *m), unload(m))
LAB_DRIVER(cuModuleGetFunction, (const void **out, const lab_module *m, const char *name), find_function(out, m, name))
LAB_DRIVER(cuModuleGetGlobal_v2, (void **p, size_t *size, const lab_module *m, const char *name),
           find_variable(p, size, m, name))

/* ------------------------------------------------------------------------------------------------ links */

/* PTX, one text behind another. */
typedef struct link {
    char *text;
} link;

static int create_link(unsigned count, const int *options, void **values, link **out)
{
    give_log("", count, options, values);
    if (out)
        *out = lab_hold(LAB_LINK, sizeof **out);
    return !out ? LAB_INVALID_VALUE : *out ? LAB_SUCCESS : LAB_OUT_OF_MEMORY;
}
static int add_data(link *l, int type, const char *data, size_t size)
{
    enum { PTX = 1 };
    if (!data || !lab_readable(data, size))
        return LAB_INVALID_VALUE;
    if (type != PTX)
        return lab_missing("cuLinkAddData of what is no PTX");
    char *joined = smp_asprintf("%s%.*s\n", l->text ? l->text : "", (int)strnlen(data, size), data);
    if (!joined)
        return LAB_OUT_OF_MEMORY;
    smp_free(l->text);
    l->text = joined;
    return LAB_SUCCESS;
}
static int complete(const link *l, const char **out, size_t *size)
{
    if (!out || !l->text)
        return LAB_INVALID_VALUE;
    *out = l->text;
    *(size ? size : &(size_t){0}) = strlen(l->text) + 1;
    return LAB_SUCCESS;
}
static int destroy_link(link *l)
{
    smp_free(l->text);
    return lab_let_go(LAB_LINK, l) ? LAB_SUCCESS : LAB_INVALID_HANDLE;
}
LAB_DRIVER(cuLinkCreate_v2, (unsigned count, const int *options, void **values, link **out),
           create_link(count, options, values, out))
LAB_DRIVER(cuLinkAddData_v2,
           (link * l, int type, const char *data, size_t size, const char *, unsigned, const int *, void **),
           lab_holds(LAB_LINK, l) ? add_data(l, type, data, size) : LAB_INVALID_HANDLE)
LAB_DRIVER(cuLinkComplete, (const link *l, const char **out, size_t *size),
           lab_holds(LAB_LINK, l) ? complete(l, out, size) : LAB_INVALID_HANDLE)
LAB_DRIVER(cuLinkDestroy, (link * l), lab_holds(LAB_LINK, l) ? destroy_link(l) : LAB_INVALID_HANDLE)

/* ------------------------------------------------------------------------------------------------ functions */

/* CUfunction_attribute, as they lie in cudaFuncAttributes. */
static int get_attribute(int *out, int attribute, const void *function)
{
    static const unsigned char places[] = {24, 0, 8, 16, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 68};
    char all[144];
    if (!out || attribute < 0 || attribute >= (int)sizeof places)
        return LAB_INVALID_VALUE;
    const int error = cudaFuncGetAttributes(all, function);
    memcpy(out, all + places[attribute], error ? 0 : sizeof *out);
    return error;
}
LAB_DRIVER(cuFuncGetAttribute, (int *out, int attribute, const void *function), get_attribute(out, attribute, function))
LAB_DRIVER(cuFuncSetAttribute, (const void *function, int attribute, int value),
           cudaFuncSetAttribute(function, attribute, value))
LAB_DRIVER(cuFuncSetCacheConfig, (const void *function, int), lab_kernel(function) ? LAB_SUCCESS : LAB_INVALID_HANDLE)

typedef size_t shared_of(int threads); /* CUoccupancyB2DSize */
static int best_block(int *blocks, int *threads, const void *function, shared_of *need, size_t shared, int limit)
{
    int most = 0, resident = 0, best = 0, error = get_attribute(&most, 0, function);
    if (!blocks || !threads)
        return LAB_INVALID_VALUE;
    most = limit > 0 && limit < most ? limit : most;
    for (int n = most; n > 0 && !error; n = (n - 1) / SMP_WARP * SMP_WARP) {
        error = lab_resident_blocks(function, n, need ? need(n) : shared, &resident);
        if (!error && resident * n > best) {
            best = resident * n;
            *threads = n;
            *blocks = resident * LAB_PROCESSORS;
        }
    }
    return error;
}
LAB_DRIVER(cuOccupancyMaxPotentialBlockSize,
           (int *blocks, int *threads, const void *function, shared_of *need, size_t shared, int limit),
           best_block(blocks, threads, function, need, shared, limit))

/* ------------------------------------------------------------------------------------------------ launches */

/* The buffer of all parameters that "extra" leads to; null: it leads to none, or to one that is too small. */
static char *read_extra(void **extra, size_t needed)
{
    enum { BUFFER = 1, SIZE, MOST = 8 };
    char *buffer = NULL;
    size_t size = 0;
    for (int i = 0; i < MOST && lab_readable(extra, 2 * sizeof *extra) && *extra; i++, extra += 2)
        if (*extra == (void *)BUFFER)
            buffer = extra[1];
        else if (*extra == (void *)SIZE && lab_readable(extra[1], sizeof size))
            memcpy(&size, extra[1], sizeof size);
    return size >= needed && lab_readable(buffer, needed) ? buffer : NULL;
}

/* The places of the parameters; false: one is missing. */
static bool read_arguments(const smp_warp_kernel *kernel, void **given, void **extra, void **out)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params);
    const size_t needed = count ? params[count - 1].offset + params[count - 1].size : 0;
    char *buffer = extra && needed ? read_extra(extra, needed) : NULL;
    bool found = !count || (!given ? buffer != NULL : !extra && lab_readable(given, count * sizeof *given));
    for (size_t i = 0; i < count && found; i++) {
        out[i] = given ? given[i] : buffer + params[i].offset;
        found = lab_readable(out[i], params[i].size);
    }
    return found;
}

/* What a kernel does wrong is told by the next call, as on a GPU. */
static int launch(const void *function, const lab_config *c, void **given, void **extra, bool together)
{
    enum { ATTRIBUTE = 72 };
    const smp_warp_param *params;
    const smp_warp_kernel *kernel = lab_kernel(function);
    if (!kernel || !lab_is_stream(c->stream))
        return LAB_INVALID_HANDLE;
    if (lab_broken())
        return lab_broken();
    void **arguments = smp_alloc_array(smp_warp_kernel_params(kernel, &params) + 1, sizeof *arguments);
    int error = !arguments ? LAB_OUT_OF_MEMORY : LAB_INVALID_VALUE;
    if (arguments && lab_readable(c->attributes, (size_t)c->attribute_count * ATTRIBUTE) &&
        read_arguments(kernel, given, extra, arguments))
        error = together ? cudaLaunchCooperativeKernel(function, c->grid, c->block, arguments, c->shared, c->stream)
                         : cudaLaunchKernelExC(c, function, arguments);
    smp_free(arguments);
    return lab_broken() ? LAB_SUCCESS : error;
}

#define SHAPE unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared
#define CONFIG                                                                                                         \
    &(lab_config)                                                                                                      \
    {                                                                                                                  \
        {gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0                                                            \
    }
LAB_DRIVER(cuLaunchKernel, (const void *function, SHAPE, void *stream, void **given, void **extra),
           launch(function, CONFIG, given, extra, false))
LAB_DRIVER(cuLaunchCooperativeKernel, (const void *function, SHAPE, void *stream, void **given),
           launch(function, CONFIG, given, NULL, true))

/* CUlaunchConfig */
typedef struct driver_config {
    lab_dim3 grid, block;
    unsigned shared;
    void *stream, *attributes;
    unsigned attribute_count;
} driver_config;
LAB_DRIVER(cuLaunchKernelEx, (const driver_config *c, const void *function, void **given, void **extra),
           !c ? LAB_INVALID_VALUE
              : launch(function,
                       &(lab_config){c->grid, c->block, c->shared, c->stream, c->attributes, c->attribute_count}, given,
                       extra, false))
