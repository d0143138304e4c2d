/* Finds the driver's function for a stage's launch: names, modules (loaded at first use, shared by the devices of a
 * GPU), grid and shared memory. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cuda/cuda_internal.h"
#include "lib/many.h"
#include "stages/foreign.h"
#include "stages/launch.h"

/* The name in the kernel file: NAME_u8_f32 for u8 in and f32 out. Without an output picture: the input's format. */
static void kernel_name(char *name, size_t size, const char *kernel, const smp_io *io)
{
    static const char *const formats[SMP_FORMATS] = {"u8", "u16", "f32"};
    int out = io->out.data ? io->out.format : io->in.format;
    snprintf(name, size, "%s_%s_%s", kernel, formats[io->in.format], formats[out]);
}

/* Modules that any device of the process has loaded. Devices on one GPU share its context, and loading stops all that
 * its other threads ask of the driver. */
static struct {
    pthread_mutex_t lock;
    cuda_module *modules;
    size_t count, capacity;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

static cuda_module *find_loaded(const cuda_device *gpu, const void *file)
{
    for (size_t i = 0; i < loaded.count; i++)
        if (loaded.modules[i].file == file && loaded.modules[i].context == gpu->context &&
            loaded.modules[i].driver == gpu->driver)
            return &loaded.modules[i];
    return NULL;
}

/* Nothing stays behind when nobody uses a module. */
static void unlock_loaded(void)
{
    if (!loaded.count) {
        smp_free(loaded.modules);
        loaded.modules = NULL;
        loaded.capacity = 0;
    }
    pthread_mutex_unlock(&loaded.lock);
}

static smp_code share_module(cuda_device *gpu, const void *file, const void *image, CUmodule *out, smp_error *err)
{
    smp_code code = SMP_OK;
    pthread_mutex_lock(&loaded.lock);
    cuda_module *module = find_loaded(gpu, file);
    if (!module) {
        CUmodule fresh = NULL;
        if (!smp_grow(&loaded.modules, &loaded.capacity, loaded.count + 1, sizeof *loaded.modules)) {
            code = smp_fail_memory(err, "GPU modules", sizeof *loaded.modules);
            goto fail;
        }
        CUDA_TRY(gpu, cuModuleLoadData, &fresh, image);
        module = &loaded.modules[loaded.count++];
        *module = (cuda_module){file, gpu->driver, gpu->context, fresh, 0};
    }
    module->users++;
    *out = module->module;
fail:
    unlock_loaded();
    return code;
}

static void leave_module(const cuda_device *gpu, const void *file)
{
    pthread_mutex_lock(&loaded.lock);
    cuda_module *module = find_loaded(gpu, file);
    if (module && --module->users == 0) {
        (void)smp_cuModuleUnload(gpu->driver, module->module);
        *module = loaded.modules[--loaded.count];
    }
    unlock_loaded();
}

smp_code cuda_load_module(cuda_device *gpu, const void *file, const void *image, CUmodule *out, smp_error *err)
{
    for (size_t i = 0; i < gpu->module_count; i++)
        if (gpu->modules[i].file == file) {
            *out = gpu->modules[i].module;
            return SMP_OK;
        }
    SMP_NEED(smp_grow(&gpu->modules, &gpu->module_capacity, gpu->module_count + 1, sizeof *gpu->modules), "GPU modules",
             sizeof *gpu->modules, err);
    SMP_TRY(share_module(gpu, file, image, out, err));
    gpu->modules[gpu->module_count++] = (cuda_module){.file = file, .module = *out};
    return SMP_OK;
}

/* The function of a kernel by its whole name. */
static smp_code find_function(cuda_device *gpu, const char *name, cuda_function **out, smp_error *err)
{
    smp_code code = SMP_OK;
    cuda_function made = {.function = NULL};
    *out = NULL;
    snprintf(made.name, sizeof made.name, "%s", name);
    for (size_t i = 0; i < gpu->function_count; i++)
        if (strcmp(gpu->functions[i].name, made.name) == 0) {
            *out = &gpu->functions[i];
            return SMP_OK;
        }
    const smp_kernel_file *file = smp_kernel_file_of(made.name);
    const void *image = file && !gpu->driver->emulated ? smp_cuda_fatbin(file) : file;
    if (!image)
        return smp_fail(err, SMP_E_DEVICE, "this build has no GPU kernel %s", made.name);
    CUmodule module = NULL;
    code = cuda_load_module(gpu, file, image, &module, err);
    if (code)
        return code;
    SMP_NEED(smp_grow(&gpu->functions, &gpu->function_capacity, gpu->function_count + 1, sizeof *gpu->functions),
             "GPU functions", sizeof *gpu->functions, err);
    CUDA_TRY(gpu, cuModuleGetFunction, &made.function, module, made.name);
    gpu->functions[gpu->function_count] = made;
    *out = &gpu->functions[gpu->function_count++];
fail:
    return code;
}

smp_code cuda_opt_in(cuda_device *gpu, CUfunction function, unsigned shared, bool *done, smp_error *err)
{
    smp_code code = SMP_OK;
    int own = 0;
    if (*done || !shared)
        return SMP_OK;
    CUDA_TRY(gpu, cuFuncGetAttribute, &own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    CUDA_TRY(gpu, cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
             (int)gpu->base.info.shared_per_block - own);
    *done = true;
fail:
    return code;
}

smp_code cuda_prepare(cuda_device *gpu, const smp_launch *launch, const smp_io *io, const void *params,
                      const char **kernel, cuda_function **function, smp_grid *grid, smp_error *err)
{
    *grid = (smp_grid){.grid = {1, 1, 1},
                       .block = {1, 1, 1},
                       .units = (unsigned)gpu->base.info.units,
                       .shared_most = (unsigned)gpu->base.info.shared_per_block,
                       .blocks_most = (unsigned)gpu->blocks_most};
    *kernel = smp_launch_decide(launch, io, params, grid);
    if (!*kernel)
        return smp_fail(err, SMP_E_DEVICE, "this stage has no kernel for %s and this work", gpu->base.info.kind);
    *function = NULL;
    if (!**kernel)
        return SMP_OK;
    char name[sizeof(*function)->name];
    kernel_name(name, sizeof name, *kernel, io);
    SMP_TRY(find_function(gpu, name, function, err));
    if ((int64_t)grid->shared_bytes > gpu->base.info.shared_per_block) {
        smp_fail(err, SMP_E_DEVICE, "kernel %s needs %u bytes of shared memory a block; %s has %lld", (*function)->name,
                 grid->shared_bytes, gpu->base.info.name, (long long)gpu->base.info.shared_per_block);
        return smp_hint(err, "use --variant naive, or --device cpu");
    }
    return cuda_opt_in(gpu, (*function)->function, grid->shared_bytes, &(*function)->opted_in, err);
}

smp_code smp_cuda_launch_many(smp_device *device, const char *kernel, const smp_grid *grid, const void *items,
                              smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    cuda_function *function;
    smp_io io = {.out = {.rows = 0}};
    smp_many many = {items};
    void *params[] = {&io, &many};
    SMP_TRY(cuda_enter(gpu, err));
    SMP_TRY(find_function(gpu, kernel, &function, err));
    smp_code code = cuda_opt_in(gpu, function->function, grid->shared_bytes, &function->opted_in, err);
    if (!code)
        CUDA_TRY(gpu, cuLaunchKernel, function->function, grid->grid[0], grid->grid[1], grid->grid[2], grid->block[0],
                 grid->block[1], grid->block[2], grid->shared_bytes, gpu->stream, params, NULL);
fail:
    return code;
}

void cuda_kernels_close(cuda_device *gpu)
{
    for (size_t i = 0; i < gpu->module_count; i++)
        leave_module(gpu, gpu->modules[i].file);
    smp_free_all(gpu->modules, gpu->functions);
}

/* A warp gets registers in units of 256. */
static int64_t registers_of_block(const smp_cuda_launch_info *info, int threads)
{
    return (int64_t)((info->registers * 32 + 255) / 256 * 256) * ((threads + 31) / 32);
}

/* The emulator does not compile for a GPU: reports the compiler's numbers for the nearest architecture in this build.
 */
static void ask_compiler(const cuda_device *gpu, const cuda_function *function, int threads, smp_cuda_launch_info *info)
{
    smp_kernel_usage usage;
    const smp_kernel_file *file = smp_kernel_file_of(function->name);
    int arch = gpu->base.info.compute_major * 10 + gpu->base.info.compute_minor;
    if (!file || !smp_kernel_usage_find(file->usage, function->name, arch, &usage) || usage.registers <= 0)
        return;
    info->registers = usage.registers;
    info->static_shared = usage.static_shared;
    info->local_bytes = usage.stack;
    info->compiled_for = usage.arch;
    int64_t by_registers = gpu->registers_per_unit / registers_of_block(info, threads);
    int64_t shared = info->static_shared + (int64_t)info->grid.shared_bytes + gpu->shared_reserved;
    int64_t by_shared = shared > 0 ? gpu->base.info.shared_per_unit / shared : by_registers;
    if (by_registers < info->blocks_per_unit)
        info->blocks_per_unit = (int)by_registers;
    if (by_shared < info->blocks_per_unit)
        info->blocks_per_unit = (int)by_shared;
}

smp_code smp_cuda_launch_describe(smp_device *device, const smp_launch *launch, const smp_io *io, const void *params,
                                  smp_cuda_launch_info *info, smp_error *err)
{
    cuda_device *gpu = (cuda_device *)device;
    cuda_function *function;
    *info = (smp_cuda_launch_info){.limit = "threads"};
    if (launch->foreign) { /* its registers are known when it is loaded, which is when it runs */
        info->kernel = smp_launch_decide(launch, io, params, &info->grid);
        if (launch->foreign->copies) {
            info->kernel = ""; /* the driver copies */
            return SMP_OK;
        }
        const unsigned threads = info->grid.block[0] * info->grid.block[1] * info->grid.block[2];
        const int64_t shared = (int64_t)launch->foreign->entry->shared + launch->foreign->shared + gpu->shared_reserved;
        const int64_t by_shared = shared ? gpu->base.info.shared_per_unit / shared : INT32_MAX;
        info->blocks_per_unit = (int)((unsigned)gpu->threads_per_unit / threads);
        if (info->blocks_per_unit > gpu->blocks_per_unit) {
            info->blocks_per_unit = gpu->blocks_per_unit;
            info->limit = "blocks";
        }
        if (info->blocks_per_unit > by_shared) {
            info->blocks_per_unit = (int)by_shared;
            info->limit = "shared memory";
        }
        if (gpu->threads_per_unit > 0)
            info->occupancy = (double)info->blocks_per_unit * threads / gpu->threads_per_unit;
        return SMP_OK;
    }
    smp_code code = cuda_enter(gpu, err);
    code = code ? code : cuda_prepare(gpu, launch, io, params, &info->kernel, &function, &info->grid, err);
    if (code || !function)
        return code;
    CUDA_TRY(gpu, cuFuncGetAttribute, &info->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function->function);
    CUDA_TRY(gpu, cuFuncGetAttribute, &info->static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function->function);
    CUDA_TRY(gpu, cuFuncGetAttribute, &info->local_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function->function);
    int threads = (int)(info->grid.block[0] * info->grid.block[1] * info->grid.block[2]);
    CUDA_TRY(gpu, cuOccupancyMaxActiveBlocksPerMultiprocessor, &info->blocks_per_unit, function->function, threads,
             info->grid.shared_bytes);
    if (gpu->driver->emulated)
        ask_compiler(gpu, function, threads, info);
    if (gpu->threads_per_unit > 0)
        info->occupancy = (double)(info->blocks_per_unit * threads) / gpu->threads_per_unit;
    /* The first resource that one more block would exceed. */
    int next = info->blocks_per_unit + 1;
    int64_t shared = info->static_shared + (int64_t)info->grid.shared_bytes + gpu->shared_reserved;
    int64_t registers = registers_of_block(info, threads);
    if ((int64_t)next * threads > gpu->threads_per_unit)
        info->limit = "threads";
    else if (shared * next > gpu->base.info.shared_per_unit)
        info->limit = "shared memory";
    else if (registers * next > gpu->registers_per_unit)
        info->limit = "registers";
    else
        info->limit = "blocks";
fail:
    return code;
}
