/* Calling NPP, cuBLAS and CUB: see gpu_libs.h. Types and prototypes are those of CUDA 12.6 to 13 (nppdefs.h,
 * nppi_*.h, cublas_api.h; docs.nvidia.com/cuda/npp, docs.nvidia.com/cuda/cublas), as far as they are used. */
#include "gpu_libs.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"
#include "gpu_guard.h"

/* ------------------------------------------------------------------------------------------------ their types */

typedef struct npp_size { /* NppiSize, NppiPoint */
    int width, height;
} npp_size;

typedef struct npp_context { /* NppStreamContext */
    void *stream;
    int device, units, threads_per_unit, threads_per_block;
    size_t shared_per_block;
    int compute_major, compute_minor;
    unsigned stream_flags;
    int reserved;
} npp_context;

enum { NPP_MASK_3X3 = 200, NPP_MASK_5X5 = 201, NPP_MASK_15X15 = 800, NPP_REPLICATE = 2, NPP_NORM_L2 = 2 };
enum { NPP_HORIZONTAL_AXIS, NPP_VERTICAL_AXIS, NPP_BOTH_AXES }; /* horizontal: top and bottom change places */
enum { CUBLAS_N, CUBLAS_T };

typedef int npp_transpose_fn(const void *in, int in_step, void *out, int out_step, npp_size size, npp_context context);
typedef int npp_mirror_fn(const void *in, int in_step, void *out, int out_step, npp_size size, int axis,
                          npp_context context);
typedef int npp_gauss_fn(const void *in, int in_step, npp_size whole, npp_size offset, void *out, int out_step,
                         npp_size size, int mask, int border, npp_context context);
typedef int npp_gauss_advanced_fn(const void *in, int in_step, npp_size whole, npp_size offset, void *out, int out_step,
                                  npp_size size, int taps, const float *kernel, int border, npp_context context);
typedef int npp_filter_fn(const void *in, int in_step, npp_size whole, npp_size offset, void *out, int out_step,
                          npp_size size, const float *kernel, npp_size kernel_size, npp_size anchor, int border,
                          npp_context context);
typedef int npp_sobel_fn(const uint8_t *in, int in_step, npp_size whole, npp_size offset, int16_t *x, int x_step,
                         int16_t *y, int y_step, int16_t *magnitude, int magnitude_step, float *angle, int angle_step,
                         npp_size size, int mask, int norm, int border, npp_context context);
typedef int npp_histogram_size_fn(npp_size size, int levels, size_t *bytes, npp_context context);
typedef int npp_histogram_fn(const uint8_t *in, int in_step, npp_size size, int32_t *counts, int levels, int32_t lower,
                             int32_t upper, uint8_t *scratch, npp_context context);
typedef int npp_mean_size_fn(npp_size size, size_t *bytes, npp_context context);
typedef int npp_mean_fn(const void *in, int in_step, npp_size size, uint8_t *scratch, double *mean, double *deviation,
                        npp_context context);
typedef const int *npp_version_fn(void); /* major, minor, build */

typedef int cublas_create_fn(void **handle);
typedef int cublas_destroy_fn(void *handle);
typedef int cublas_stream_fn(void *handle, void *stream);
typedef int cublas_version_fn(void *handle, int *version);
typedef int cublas_sgemm_fn(void *handle, int a_op, int b_op, int m, int n, int k, const float *alpha, const float *a,
                            int lda, const float *b, int ldb, const float *beta, float *c, int ldc);
typedef int cublas_sgeam_fn(void *handle, int a_op, int b_op, int m, int n, const float *alpha, const float *a, int lda,
                            const float *beta, const float *b, int ldb, float *c, int ldc);

/* ------------------------------------------------------------------------------------------------ opening */

typedef enum library_id { NPPC, NPPIDEI, NPPIG, NPPIF, NPPIST, CUBLAS, LIBRARIES } library_id;
static const char *const library_names[LIBRARIES] = {"libnppc",  "libnppidei", "libnppig",
                                                     "libnppif", "libnppist",  "libcublas"};

struct gpu_libs {
    void *opened[LIBRARIES];
    bool tried[LIBRARIES];
    npp_context context;
    void *cublas; /* handle */
    void *cub_library;
    const gpu_cub *cub;
    bool cub_tried;
    char cub_path[512], cub_why[256];
};

static void *try_open(const char *folder, size_t length, const char *name)
{
    static const char *const endings[] = {".so.13", ".so.12", ".so"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[600];
        snprintf(path, sizeof path, "%.*s%s%s%s", (int)length, folder, length ? "/" : "", name, endings[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static void *open_library(const char *name)
{
    static const char usual[] = "/usr/local/cuda/lib64";
    void *library = NULL;
    for (const char *at = getenv("SMP_PEER_LIBS"); at && *at && !library;) {
        size_t length = strcspn(at, ":");
        library = length ? try_open(at, length, name) : NULL;
        at += length + (at[length] == ':');
    }
    if (!library)
        library = try_open("", 0, name);
    return library ? library : try_open(usual, strlen(usual), name);
}

/* A function of a library; null, and the call's why, when either is missing. */
static void *find(gpu_call *call, library_id which, const char *name)
{
    gpu_libs *libs = call->libs;
    if (which >= NPPIDEI && which <= NPPIST && !libs->tried[NPPC]) { /* the others need it, and may lie elsewhere */
        libs->tried[NPPC] = true;
        libs->opened[NPPC] = open_library(library_names[NPPC]);
    }
    if (!libs->tried[which])
        libs->opened[which] = open_library(library_names[which]);
    libs->tried[which] = true;
    void *function = libs->opened[which] ? dlsym(libs->opened[which], name) : NULL;
    if (!libs->opened[which])
        snprintf(call->why, sizeof call->why, "%s is not there", library_names[which]);
    else if (!function)
        snprintf(call->why, sizeof call->why, "%s has no %s", library_names[which], name);
    return function;
}

static int attribute(const smp_device *device, int which)
{
    int value = 0;
    smp_cuda_handles handles = smp_cuda_handles_of((smp_device *)(uintptr_t)device);
    (void)smp_cuDeviceGetAttribute(handles.driver, &value, (CUdevice_attribute)which, handles.device);
    return value;
}

gpu_libs *gpu_libs_open(const smp_device *device, void *stream, const char *cub)
{
    gpu_libs *libs = smp_alloc(sizeof *libs);
    if (!libs)
        return NULL;
    libs->context = (npp_context){
        .stream = stream,
        .device = device->info.index,
        .units = device->info.units,
        .threads_per_unit = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .threads_per_block = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .shared_per_block = (size_t)attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .compute_major = device->info.compute_major,
        .compute_minor = device->info.compute_minor,
        .stream_flags = CU_STREAM_NON_BLOCKING,
    };
    if (cub) {
        snprintf(libs->cub_path, sizeof libs->cub_path, "%s", cub);
        return libs;
    }
    ssize_t length = readlink("/proc/self/exe", libs->cub_path, sizeof libs->cub_path - 32);
    length = length < 0 ? 0 : length;
    libs->cub_path[length] = '\0';
    char *slash = strrchr(libs->cub_path, '/');
    snprintf(slash ? slash + 1 : libs->cub_path, 32, "libgpu_cub.so");
    return libs;
}

void gpu_libs_close(gpu_libs *libs)
{
    if (!libs)
        return;
    if (libs->cublas) {
        cublas_destroy_fn *destroy;
        void *found = dlsym(libs->opened[CUBLAS], "cublasDestroy_v2");
        memcpy(&destroy, &found, sizeof destroy);
        if (destroy)
            (void)destroy(libs->cublas);
    }
    smp_free(libs); /* the libraries stay: their own clean-up runs at exit */
}

const gpu_cub *gpu_libs_cub(gpu_libs *libs, const char **why)
{
    if (!libs->cub_tried) {
        libs->cub_tried = true;
        libs->cub_library = dlopen(libs->cub_path, RTLD_NOW | RTLD_LOCAL);
        if (!libs->cub_library) {
            const char *said = dlerror();
            snprintf(libs->cub_why, sizeof libs->cub_why, "%s", said ? said : "cannot be opened");
        } else {
            const gpu_cub *(*table)(void) = NULL;
            void *found = dlsym(libs->cub_library, "gpu_cub_table");
            memcpy(&table, &found, sizeof table);
            libs->cub = table ? table() : NULL;
            if (!libs->cub || libs->cub->interface != GPU_CUB_INTERFACE) {
                libs->cub = NULL;
                snprintf(libs->cub_why, sizeof libs->cub_why, "libgpu_cub.so is of another build");
            }
        }
    }
    if (why)
        *why = libs->cub_why;
    return libs->cub;
}

/* ------------------------------------------------------------------------------------------------ common */

/* Calls the function that prepare found, as one of this type. */
#define AS(type, call) ((type *)(uintptr_t)(call)->function)

static bool fine(gpu_call *call, const char *what, int status)
{
    if (status < 0 || (status > 0 && strncmp(what, "npp", 3) != 0)) /* NPP: positive ones are warnings */
        snprintf(call->why, sizeof call->why, "%s: error %d", what, status);
    return !call->why[0];
}

static npp_size size_of(const smp_view *view)
{
    return (npp_size){(int)view->width, (int)view->height};
}

static const npp_size origin = {0, 0};

/* Finds NAME_8u_C3R_Ctx. */
static bool find_npp(gpu_call *call, library_id which, const char *name)
{
    static const char *const formats[SMP_FORMATS] = {"8u", "16u", "32f"};
    char full[96];
    snprintf(full, sizeof full, "%s_%s_C%dR_Ctx", name, formats[call->in.format], call->in.channels);
    call->function = find(call, which, full);
    return call->function != NULL;
}

static bool fits(gpu_call *call, size_t bytes)
{
    call->taken = bytes;
    if (bytes > call->scratch_size)
        snprintf(call->why, sizeof call->why, "it wants %zu bytes of scratch memory", bytes);
    return bytes <= call->scratch_size;
}

/* ------------------------------------------------------------------------------------------------ NPP: pictures */

static bool prepare_transpose(void *call_)
{
    gpu_call *call = call_;
    return find_npp(call, NPPIDEI, "nppiTranspose");
}

static bool run_transpose(void *call_)
{
    gpu_call *call = call_;
    return fine(call, "nppiTranspose",
                AS(npp_transpose_fn, call)(call->in.data, (int)call->in.stride, call->out.data, (int)call->out.stride,
                                           size_of(&call->in), call->libs->context));
}

static bool prepare_mirror(void *call_)
{
    gpu_call *call = call_;
    return find_npp(call, NPPIG, "nppiMirror");
}

static bool run_mirror(void *call_)
{
    gpu_call *call = call_;
    const char *line = call->row->lines[0];
    const int axis = strstr(line, "rotate")       ? NPP_BOTH_AXES
                     : strstr(line, "horizontal") ? NPP_VERTICAL_AXIS
                                                  : NPP_HORIZONTAL_AXIS;
    return fine(call, "nppiMirror",
                AS(npp_mirror_fn, call)(call->in.data, (int)call->in.stride, call->out.data, (int)call->out.stride,
                                        size_of(&call->in), axis, call->libs->context));
}

static bool prepare_gauss(void *call_)
{
    gpu_call *call = call_;
    return find_npp(call, NPPIF, "nppiFilterGaussBorder");
}

static bool run_gauss(void *call_)
{
    gpu_call *call = call_;
    return fine(call, "nppiFilterGaussBorder",
                AS(npp_gauss_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), origin, call->out.data,
                                       (int)call->out.stride, size_of(&call->in),
                                       call->row->taps == 5 ? NPP_MASK_5X5 : NPP_MASK_15X15, NPP_REPLICATE,
                                       call->libs->context));
}

static bool prepare_gauss_advanced(void *call_)
{
    gpu_call *call = call_;
    return find_npp(call, NPPIF, "nppiFilterGaussAdvancedBorder");
}

static bool run_gauss_advanced(void *call_)
{
    gpu_call *call = call_;
    return fine(call, "nppiFilterGaussAdvancedBorder",
                AS(npp_gauss_advanced_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), origin,
                                                call->out.data, (int)call->out.stride, size_of(&call->in),
                                                call->row->taps, call->weights, NPP_REPLICATE, call->libs->context));
}

static bool prepare_filter(void *call_)
{
    gpu_call *call = call_;
    return find_npp(call, NPPIF, call->in.format == SMP_F32 ? "nppiFilterBorder" : "nppiFilterBorder32f");
}

static bool run_filter(void *call_)
{
    gpu_call *call = call_;
    const int taps = call->row->taps;
    const npp_size size = {taps, taps}, anchor = {taps / 2, taps / 2};
    return fine(call, "nppiFilterBorder",
                AS(npp_filter_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), origin, call->out.data,
                                        (int)call->out.stride, size_of(&call->in), call->weights, size, anchor,
                                        NPP_REPLICATE, call->libs->context));
}

static bool prepare_sobel(void *call_)
{
    gpu_call *call = call_;
    call->function = find(call, NPPIF, "nppiGradientVectorSobelBorder_8u16s_C1R_Ctx");
    return call->function && fits(call, (size_t)call->in.width * 2 * (size_t)call->in.height);
}

static bool run_sobel(void *call_)
{
    gpu_call *call = call_;
    return fine(call, "nppiGradientVectorSobelBorder",
                AS(npp_sobel_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), origin, NULL, 0, NULL,
                                       0, call->scratch, (int)call->in.width * 2, NULL, 0, size_of(&call->in),
                                       NPP_MASK_3X3, NPP_NORM_L2, NPP_REPLICATE, call->libs->context));
}

/* ------------------------------------------------------------------------------------------------ NPP: reductions */

static bool prepare_npp_histogram(void *call_)
{
    gpu_call *call = call_;
    size_t bytes = 0;
    call->function = find(call, NPPIST, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    if (!call->function ||
        !fine(call, "nppiHistogramEvenGetBufferSize",
              AS(npp_histogram_size_fn, call)(size_of(&call->in), call->row->bins + 1, &bytes, call->libs->context)))
        return false;
    call->function = find(call, NPPIST, "nppiHistogramEven_8u_C1R_Ctx");
    return call->function && fits(call, bytes);
}

static bool run_npp_histogram(void *call_)
{
    gpu_call *call = call_;
    return fine(call, "nppiHistogramEven",
                AS(npp_histogram_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), call->results,
                                           call->row->bins + 1, 0, 256, call->scratch, call->libs->context));
}

static bool prepare_mean(void *call_)
{
    gpu_call *call = call_;
    size_t bytes = 0;
    if (!find_npp(call, NPPIST, "nppiMeanStdDevGetBufferHostSize") ||
        !fine(call, "nppiMeanStdDevGetBufferHostSize",
              AS(npp_mean_size_fn, call)(size_of(&call->in), &bytes, call->libs->context)))
        return false;
    return find_npp(call, NPPIST, "nppiMean_StdDev") && fits(call, bytes);
}

static bool run_mean(void *call_)
{
    gpu_call *call = call_;
    double *mean = call->results;
    return fine(call, "nppiMean_StdDev",
                AS(npp_mean_fn, call)(call->in.data, (int)call->in.stride, size_of(&call->in), call->scratch, mean,
                                      mean + 1, call->libs->context));
}

/* ------------------------------------------------------------------------------------------------ CUB */

static bool cub_fine(gpu_call *call, const char *what, int error)
{
    if (error)
        snprintf(call->why, sizeof call->why, "%s: %s", what, call->libs->cub->error_text(error));
    return !error;
}

static bool have_cub(gpu_call *call)
{
    const char *why;
    if (gpu_libs_cub(call->libs, &why) &&
        call->in.stride != call->in.width * call->in.channels * smp_sample_size(call->in.format))
        why = "its rows must lie end to end";
    else if (call->libs->cub)
        return true;
    snprintf(call->why, sizeof call->why, "%.*s", (int)sizeof call->why - 1, why);
    return false;
}

static int64_t pixels_of(const gpu_call *call)
{
    return call->in.width * call->in.height;
}

static int cub_histogram(gpu_call *call, void *temp)
{
    return call->libs->cub->histogram(temp, &call->taken, call->in.data, call->in.format, call->in.channels,
                                      call->row->bins, call->results, pixels_of(call), call->libs->context.stream);
}

static bool prepare_cub_histogram(void *call_)
{
    gpu_call *call = call_;
    return have_cub(call) && cub_fine(call, "HistogramEven", cub_histogram(call, NULL)) && fits(call, call->taken);
}

static bool run_cub_histogram(void *call_)
{
    gpu_call *call = call_;
    return cub_fine(call, "HistogramEven", cub_histogram(call, call->scratch));
}

static int cub_sum(gpu_call *call, void *temp)
{
    return call->libs->cub->sum(temp, &call->taken, call->in.data, call->in.format, call->results,
                                pixels_of(call) * call->in.channels, call->libs->context.stream);
}

static bool prepare_sum(void *call_)
{
    gpu_call *call = call_;
    return have_cub(call) && cub_fine(call, "Sum", cub_sum(call, NULL)) && fits(call, call->taken);
}

static bool run_sum(void *call_)
{
    gpu_call *call = call_;
    return cub_fine(call, "Sum", cub_sum(call, call->scratch));
}

/* ------------------------------------------------------------------------------------------------ cuBLAS */

static bool have_cublas(gpu_call *call)
{
    gpu_libs *libs = call->libs;
    if (libs->cublas)
        return true;
    void *create = find(call, CUBLAS, "cublasCreate_v2"), *stream = find(call, CUBLAS, "cublasSetStream_v2");
    if (!create || !stream || !fine(call, "cublasCreate", ((cublas_create_fn *)(uintptr_t)create)(&libs->cublas)))
        return false;
    return fine(call, "cublasSetStream", ((cublas_stream_fn *)(uintptr_t)stream)(libs->cublas, libs->context.stream));
}

/* Rows are its columns: what lies in memory as A is A' to it. */
static bool prepare_sgemm(void *call_)
{
    gpu_call *call = call_;
    call->function = have_cublas(call) ? find(call, CUBLAS, "cublasSgemm_v2") : NULL;
    return call->function != NULL;
}

static bool run_sgemm(void *call_)
{
    gpu_call *call = call_;
    const float one = 1, zero = 0;
    const int n = (int)call->in.width, lda = (int)(call->in.stride / 4), ldc = (int)(call->out.stride / 4);
    return fine(call, "cublasSgemm",
                AS(cublas_sgemm_fn, call)(call->libs->cublas, CUBLAS_N, CUBLAS_N, n, n, n, &one, call->in.data, lda,
                                          call->in.data, lda, &zero, call->out.data, ldc));
}

static bool prepare_sgeam(void *call_)
{
    gpu_call *call = call_;
    call->function = have_cublas(call) ? find(call, CUBLAS, "cublasSgeam") : NULL;
    return call->function != NULL;
}

static bool run_sgeam(void *call_)
{
    gpu_call *call = call_;
    const float one = 1, zero = 0;
    const int lda = (int)(call->in.stride / 4), ldc = (int)(call->out.stride / 4);
    return fine(call, "cublasSgeam",
                AS(cublas_sgeam_fn, call)(call->libs->cublas, CUBLAS_T, CUBLAS_N, (int)call->in.height,
                                          (int)call->in.width, &one, call->in.data, lda, &zero, call->out.data, ldc,
                                          call->out.data, ldc));
}

/* ------------------------------------------------------------------------------------------------ the table */

static const gpu_peer peers[] = {
    {"NPP transpose", true, prepare_transpose, run_transpose},
    {"NPP mirror", true, prepare_mirror, run_mirror},
    {"NPP gauss", true, prepare_gauss, run_gauss},
    {"NPP gauss advanced", true, prepare_gauss_advanced, run_gauss_advanced},
    {"NPP filter", true, prepare_filter, run_filter},
    {"NPP sobel vectors", false, prepare_sobel, run_sobel},
    {"NPP histogram", false, prepare_npp_histogram, run_npp_histogram},
    {"NPP mean and deviation", false, prepare_mean, run_mean},
    {"CUB histogram", false, prepare_cub_histogram, run_cub_histogram},
    {"CUB sum", false, prepare_sum, run_sum},
    {"cuBLAS sgemm", true, prepare_sgemm, run_sgemm},
    {"cuBLAS sgeam", true, prepare_sgeam, run_sgeam},
};

const gpu_peer *gpu_peer_find(const char *name)
{
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++)
        if (!strcmp(peers[i].name, name))
            return &peers[i];
    return NULL;
}

static bool guarded(bool (*work)(void *call), gpu_call *call)
{
    bool thrown;
    call->why[0] = '\0';
    const bool done = gpu_guarded(work, call, &thrown);
    if (thrown)
        snprintf(call->why, sizeof call->why, "the library threw an exception");
    return done;
}

bool gpu_peer_prepare(const gpu_peer *peer, gpu_call *call)
{
    return guarded(peer->prepare, call);
}

bool gpu_peer_run(const gpu_peer *peer, gpu_call *call)
{
    return guarded(peer->run, call);
}

size_t gpu_peer_weights(const gpu_row *row, float *weights)
{
    const size_t taps = (size_t)row->taps;
    const char *list = strchr(row->lines[0], '[');
    if (list && taps * taps <= GPU_WEIGHTS) { /* a kernel that is written out, row by row */
        size_t count = 0;
        for (char *end; count < taps * taps; count++) {
            list += strspn(list, "[; ");
            weights[count] = strtof(list, &end);
            if (end == list)
                break;
            list = end;
        }
        return count;
    }
    if (!taps || list || taps > GPU_WEIGHTS)
        return 0;
    double sum = 0, sigma = (double)taps / 8;
    for (size_t i = 0; i < taps; i++) {
        double x = (double)i - (double)(taps / 2);
        weights[i] = (float)exp(-x * x / (2 * sigma * sigma));
        sum += (double)weights[i];
    }
    for (size_t i = 0; i < taps; i++)
        weights[i] = (float)((double)weights[i] / sum);
    return taps;
}

void gpu_libs_versions(gpu_libs *libs, char *npp, char *cublas, char *cub, size_t size)
{
    npp[0] = cublas[0] = cub[0] = '\0';
    void *found = libs->opened[NPPC] ? dlsym(libs->opened[NPPC], "nppGetLibVersion") : NULL;
    const int *version = found ? ((npp_version_fn *)(uintptr_t)found)() : NULL;
    if (version)
        snprintf(npp, size, "%d.%d.%d", version[0], version[1], version[2]);
    int number = 0;
    found = libs->cublas ? dlsym(libs->opened[CUBLAS], "cublasGetVersion_v2") : NULL;
    if (found && ((cublas_version_fn *)(uintptr_t)found)(libs->cublas, &number) == 0)
        snprintf(cublas, size, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    if (libs->cub)
        snprintf(cub, size, "%d.%d.%d", libs->cub->version / 100000, libs->cub->version / 100 % 1000,
                 libs->cub->version % 100);
}
