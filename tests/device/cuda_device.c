/* The CUDA device on the emulator: kernels give the CPU's bytes in every order and format, copies keep what lies
 * between rows, memory is reused and given back, and every driver call and every allocation that fails ends in a clean
 * error. */
#include "suite.h"

#include "kernel_case.h"

#include "base/os/release_hook.h"
#include "device/cuda/cuda.h"
#include "device/kernel_table.h"
#include "device/simt/simt.h"
#include "elementwise/invert.h"
#include "stages/shared/launch_shapes.h"

extern const smp_stage smp_stage_invert;

static smp_device *open_simt(void)
{
    smp_device *device;
    smp_error err;
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &device, &err), SMP_OK);
    return device;
}

/* ------------------------------------------------------------------------------------------------ kernels */

static smp_code launch_on(smp_device *device, const smp_variant *variant, const picture *in, picture *out,
                          smp_cost *cost, smp_error *err)
{
    void *from = NULL, *to = NULL;
    size_t in_size = (size_t)(in->view.stride * in->view.rows), out_size = (size_t)(out->view.stride * out->view.rows);
    const smp_view *v = &in->view, *w = &out->view;
    int64_t in_row = v->width * v->channels * smp_sample_size(v->format);
    int64_t out_row = w->width * w->channels * smp_sample_size(w->format);
    const smp_invert invert = {.white = v->white};
    smp_node_plan plan = {.kernel.size = sizeof invert};
    memcpy(plan.kernel.bytes, &invert, sizeof invert);
    smp_io io = {.in = *v, .out = *w};
    smp_code code = device->ops->alloc(device, in_size, &from, err);
    if (!code)
        code = device->ops->alloc(device, out_size, &to, err);
    if (!code)
        code = device->ops->zero(device, to, out_size, err);
    if (!code)
        code = device->ops->copy_in(device, from, v->stride, v->data, v->stride, in_row, v->rows, err);
    io.in.data = from;
    io.out.data = to;
    if (!code)
        code = device->ops->launch(device, variant, &variant->launches[0], &io, &plan, cost, err);
    if (!code)
        code = device->ops->copy_out(device, w->data, w->stride, to, w->stride, out_row, w->rows, err);
    if (!code)
        code = device->ops->sync(device, err);
    if (from)
        device->ops->free(device, from);
    if (to)
        device->ops->free(device, to);
    return code;
}

static void check_invert(smp_device *device)
{
    static const smp_format pairs[][2] = {{SMP_U8, SMP_U8},   {SMP_U16, SMP_U16}, {SMP_F32, SMP_F32}, {SMP_U8, SMP_F32},
                                          {SMP_U16, SMP_F32}, {SMP_F32, SMP_U8},  {SMP_F32, SMP_U16}};
    static const int64_t sizes[][2] = {{1, 1}, {1, 300}, {300, 1}, {61, 45}, {257, 31}};
    int order = 0;
    for (size_t f = 0; f < 7; f++)
        for (size_t s = 0; s < 5; s++)
            for (int channels = 1; channels <= 4; channels++) {
                kernel_case c = {.stage = &smp_stage_invert, .out_storage = pairs[f][1], .in_storage = pairs[f][0]};
                c.in =
                    case_shape(sizes[s][0], sizes[s][1], channels, pairs[f][0] == SMP_F32 ? pairs[f][1] : pairs[f][0]);
                picture in = picture_make(&c.in, pairs[f][0]), want;
                picture_fill(&in, (unsigned)(f * 100 + s), CASE_CODES);
                kernel_case_naive(&c, &in, NULL, &want);
                for (const smp_variant *variant = smp_stage_invert.variants; variant->name; variant++) {
                    picture out = picture_make(&c.in, pairs[f][1]);
                    smp_error err;
                    smp_simt_set_order(order++ % 5);
                    assert_int_equal(launch_on(device, variant, &in, &out, NULL, &err), SMP_OK);
                    for (int64_t y = 0; y < in.view.rows; y++)
                        assert_memory_equal(
                            smp_row(&out.view, y), smp_row(&want.view, y),
                            (size_t)(out.view.width * out.view.channels * smp_sample_size(out.view.format)));
                    picture_free(&out);
                }
                picture_free(&in);
                picture_free(&want);
            }
    smp_simt_set_order(0);
}

SMP_TEST(invert_gives_the_cpus_bytes_in_every_format_size_and_order)
{
    smp_device *device = open_simt();
    check_invert(device);
    smp_device_close(device);
}

SMP_TEST(a_gpu_gives_the_same_bytes_where_there_is_one)
{
    smp_driver *driver;
    smp_device *device;
    smp_error err;
    if (smp_driver_cuda(&driver, &err) || smp_cuda_built(&err)) {
        print_message("no GPU: %s\n", err.message);
        skip();
    }
    assert_int_equal(smp_cuda_open(driver, 0, &device, &err), SMP_OK);
    check_invert(device);
    smp_cost cost = {0};
    smp_shape shape = case_shape(4096, 4096, 3, SMP_U8);
    picture in = picture_make(&shape, SMP_U8), out = picture_make(&shape, SMP_U8);
    for (const smp_variant *variant = smp_stage_invert.variants; variant->name; variant++) {
        for (int i = 0; i < 4; i++) { /* the last one's time: the first loads the kernel */
            cost.seconds = 0;
            assert_int_equal(launch_on(device, variant, &in, &out, &cost, &err), SMP_OK);
        }
        assert_true(cost.seconds > 0 && cost.seconds < 100); /* under a checking tool it is slow */
        print_message("%s: invert %s of 50 MB: %.1f us, %.0f GB/s of %.0f\n", device->info.name, variant->name,
                      cost.seconds * 1e6, 2 * 4096.0 * 4096 * 3 / cost.seconds * 1e-9, device->info.peak_gbs);
    }
    picture_free(&in);
    picture_free(&out);
    smp_device_close(device);
}

static bool is_fatbin(const void *image)
{
    static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    return image && memcmp(image, magic, sizeof magic) == 0;
}

/* The emulator, given what a GPU's driver is given. */
static CUresult load_fatbin(CUmodule *module, const void *image)
{
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        if (smp_cuda_fatbin(file) == image)
            return smp_driver_simt()->call.cuModuleLoadData(module, file);
    return CUDA_ERROR_INVALID_IMAGE;
}

SMP_TEST(kernels_come_from_the_library_of_fatbins)
{
    smp_driver driver = {.call = smp_driver_simt()->call, .name = "cuda"};
    smp_device *device;
    smp_error err;
    driver.call.cuModuleLoadData = load_fatbin;
    if (smp_cuda_built(&err)) {
        assert_int_equal(smp_cuda_open(&driver, 0, &device, &err), SMP_E_DEVICE);
        assert_string_equal(err.message, "this build has no GPU kernels");
        skip();
    }
    assert_int_equal(smp_cuda_open(&driver, 0, &device, &err), SMP_OK);
    for (const smp_kernel_file *file = smp_kernel_files; file->name; file++)
        if (file->usage /* else left out: SMP_CUDA_SHARE */ && !is_fatbin(smp_cuda_fatbin(file)))
            fail_msg("%s has no fatbin", file->name);
    check_invert(device);
    smp_device_close(device);
}

SMP_TEST(launches_are_timed)
{
    smp_device *device = open_simt();
    smp_shape shape = case_shape(200, 100, 3, SMP_U8);
    picture in = picture_make(&shape, SMP_U8), out = picture_make(&shape, SMP_U8);
    smp_cost cost = {0};
    smp_error err;
    picture_fill(&in, 1, CASE_CODES);
    for (int i = 0; i < 300; i++) /* more than may be outstanding at once */
        assert_int_equal(launch_on(device, &smp_stage_invert.variants[1], &in, &out, &cost, &err), SMP_OK);
    assert_true(cost.seconds > 0 && cost.seconds < 100);
    picture_free(&in);
    picture_free(&out);
    smp_device_close(device);
}

static struct { /* calls, of the emulator's functions behind them */
    CUresult (*add)(void *memory, size_t size, unsigned flags);
    CUresult (*take)(void *memory);
    int added, taken;
} pins;

static CUresult count_added(void *memory, size_t size, unsigned flags)
{
    pins.added++;
    return pins.add(memory, size, flags);
}

static CUresult count_taken(void *memory)
{
    pins.taken++;
    return pins.take(memory);
}

SMP_TEST(memory_of_others_is_pinned_once_and_until_it_goes)
{
    static unsigned char memory[1 << 16];
    smp_driver *driver = smp_driver_simt();
    smp_device *devices[] = {open_simt(), open_simt()}; /* of one GPU */
    pins.add = driver->call.cuMemHostRegister;
    pins.take = driver->call.cuMemHostUnregister;
    driver->call.cuMemHostRegister = count_added;
    driver->call.cuMemHostUnregister = count_taken;
    for (int i = 0; i < 4; i++)
        assert_true(devices[i & 1]->ops->pin(devices[i & 1], memory, sizeof memory / 2));
    assert_int_equal(pins.added, 1);
    assert_true(devices[1]->ops->pin(devices[1], memory, sizeof memory)); /* more of it */
    assert_int_equal(pins.added, 2);
    assert_int_equal(pins.taken, 1);
    smp_release_hook_call(memory + 1); /* another's */
    assert_int_equal(pins.taken, 1);
    smp_release_hook_call(memory);
    assert_int_equal(pins.taken, 2);
    assert_true(devices[0]->ops->pin(devices[0], memory, sizeof memory));
    smp_device_close(devices[0]);
    assert_int_equal(pins.taken, 2); /* the other may be at work */
    smp_device_close(devices[1]);
    assert_int_equal(pins.taken, 3);
    assert_int_equal(pins.added, 3);
    smp_release_hook_call(memory);
    assert_int_equal(pins.taken, 3);
    driver->call.cuMemHostRegister = pins.add;
    driver->call.cuMemHostUnregister = pins.take;
}

SMP_TEST(sent_rows_arrive_with_any_strides)
{
    enum { ROW = 100, ROWS = 7, STRIDE = 128, WIDER = 192 };
    static const int64_t strides[][2] = {{STRIDE, STRIDE}, {WIDER, STRIDE}, {STRIDE, WIDER}, {ROW, ROW}};
    smp_device *device = open_simt();
    smp_error err;
    void *there;
    smp_mark *mark = NULL;
    unsigned char *host = device->ops->pinned_alloc(device, WIDER * ROWS);
    unsigned char want[ROW];
    assert_non_null(host);
    assert_int_equal(device->ops->alloc(device, WIDER * ROWS, &there, &err), SMP_OK);
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        const int64_t here_stride = strides[s][0], there_stride = strides[s][1];
        for (int y = 0; y < ROWS; y++)
            memset(host + y * here_stride, y + 1, ROW);
        smp_rows_sent rows = {true, there, host, there_stride, here_stride, ROW, ROWS};
        assert_int_equal(device->ops->send(device, &rows, NULL, &mark, &err), SMP_OK);
        assert_int_equal(device->ops->reach(device, mark, &err), SMP_OK);
        memset(host, 0xee, WIDER * ROWS);
        rows = (smp_rows_sent){false, host, there, here_stride, there_stride, ROW, ROWS};
        assert_int_equal(device->ops->send(device, &rows, NULL, &mark, &err), SMP_OK);
        assert_int_equal(device->ops->reach(device, mark, &err), SMP_OK);
        for (int y = 0; y < ROWS; y++)
            assert_memory_equal(host + y * here_stride, memset(want, y + 1, ROW), ROW);
        assert_int_equal(host[(ROWS - 1) * here_stride + ROW], 0xee); /* nothing behind the last row */
    }
    device->ops->unmark(device, mark);
    device->ops->pinned_free(device, host);
    assert_ptr_equal(device->ops->pinned_alloc(device, WIDER * ROWS + 1), host); /* kept */
    device->ops->free(device, there);
    smp_device_close(device);
}

SMP_TEST(a_stage_without_a_kernel_says_so)
{
    smp_device *device = open_simt();
    smp_shape shape = case_shape(4, 4, 1, SMP_U8);
    picture in = picture_make(&shape, SMP_U8), out = picture_make(&shape, SMP_U8);
    picture_fill(&in, 1, CASE_CODES);
    smp_variant variant = {.name = "none"};
    smp_error err;
    assert_int_equal(launch_on(device, &variant, &in, &out, NULL, &err), SMP_E_DEVICE);
    variant.launches[0].cuda = "there_is_no_such_kernel";
    assert_int_equal(launch_on(device, &variant, &in, &out, NULL, &err), SMP_E_DEVICE);
    assert_non_null(strstr(err.message, "there_is_no_such_kernel_u8_u8"));
    picture_free(&in);
    picture_free(&out);
    smp_device_close(device);
}

SMP_TEST(explain_is_told_what_a_launch_takes)
{
    smp_device *device = open_simt();
    smp_shape shape = case_shape(1000, 500, 1, SMP_U8);
    picture in = picture_make(&shape, SMP_U8);
    smp_io io = {.in = in.view, .out = in.view};
    smp_cuda_launch_info info;
    smp_error err;
    assert_int_equal(
        smp_cuda_launch_describe(device, &smp_stage_invert.variants[0].launches[0], &io, NULL, &info, &err), SMP_OK);
    assert_int_equal(info.grid.block[0], 256);
    assert_int_equal(info.grid.grid[0], 4);
    assert_int_equal(info.grid.grid[1], 500);
    /* 2048 threads and 65536 registers an SM, of which a warp takes 256 at a time; 0: a build without nvcc knows none.
     */
    const int of_block = (info.registers * 32 + 255) / 256 * 256 * 8, fit = of_block ? 65536 / of_block : 8;
    assert_int_equal(info.blocks_per_unit, fit < 8 ? fit : 8);
    assert_true(info.occupancy == info.blocks_per_unit / 8.0);
    assert_string_equal(info.limit, fit < 8 ? "registers" : "threads");
    picture_free(&in);
    smp_device_close(device);
}

SMP_TEST(narrow_pictures_put_their_threads_on_several_rows)
{
    smp_io io = {.out = {.width = 1, .channels = 2, .rows = 1000000, .height = 1000000}};
    smp_grid grid = {.units = 0}; /* geometries read what it says of the device */
    smp_geometry_samples(&io, NULL, &grid);
    assert_int_equal(grid.block[0], 2);
    assert_int_equal(grid.block[1], 128);
    assert_int_equal(grid.grid[0], 1);
    assert_int_equal(grid.grid[1], 7813);
}

/* ------------------------------------------------------------------------------------------------ memory */

SMP_TEST(copies_keep_rows_apart_whatever_their_size)
{
    /* rows of bytes: small, and wider than a pinned buffer (4 MiB), and many */
    static const int64_t cases[][2] = {{1, 1}, {100, 7}, {5000000, 3}, {1000, 9000}, {4194304, 2}};
    smp_device *device = open_simt();
    smp_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t row = cases[i][0], rows = cases[i][1], stride = row + 64, device_stride = row + 32;
        unsigned char *from = smp_alloc_raw((size_t)(stride * rows)), *to = smp_alloc((size_t)(stride * rows));
        void *memory;
        for (int64_t k = 0; k < stride * rows; k++)
            from[k] = (unsigned char)(k * 7919 >> 3);
        memset(to, 0xee, (size_t)(stride * rows));
        assert_int_equal(device->ops->alloc(device, (size_t)(device_stride * rows), &memory, &err), SMP_OK);
        assert_int_equal(device->ops->copy_in(device, memory, device_stride, from, stride, row, rows, &err), SMP_OK);
        assert_int_equal(device->ops->copy_out(device, to, stride, memory, device_stride, row, rows, &err), SMP_OK);
        for (int64_t y = 0; y < rows; y++) {
            assert_memory_equal(to + y * stride, from + y * stride, (size_t)row);
            for (int64_t k = row; k < stride; k++)
                assert_int_equal(to[y * stride + k], 0xee);
        }
        device->ops->free(device, memory);
        smp_free(from);
        smp_free(to);
    }
    smp_device_close(device);
}

SMP_TEST(freed_memory_is_used_again_and_all_of_it_given_back)
{
    uint64_t before = smp_alloc_live();
    smp_device *device = open_simt();
    smp_error err;
    void *a, *b, *again;
    assert_int_equal(device->ops->alloc(device, 1000, &a, &err), SMP_OK);
    assert_int_equal(device->ops->alloc(device, 1000, &b, &err), SMP_OK);
    assert_ptr_not_equal(a, b);
    device->ops->free(device, a);
    assert_int_equal(device->ops->alloc(device, 1000, &again, &err), SMP_OK);
    assert_ptr_equal(a, again);
    smp_device_close(device); /* with memory borrowed out */
    assert_int_equal(smp_alloc_live(), before);
}

/* ------------------------------------------------------------------------------------------------ failures */

/* Uses a device as a run does, in small. */
static smp_code small_job(const picture *in, picture *out, smp_error *err)
{
    smp_device *device;
    smp_cost cost = {0};
    smp_code code = smp_cuda_open(smp_driver_simt(), 0, &device, err);
    if (code)
        return code;
    code = launch_on(device, &smp_stage_invert.variants[1], in, out, &cost, err);
    if (!code)
        code = launch_on(device, &smp_stage_invert.variants[0], in, out, &cost, err);
    smp_device_close(device);
    return code;
}

SMP_TEST(every_driver_call_may_fail)
{
    static const struct {
        CUresult result;
        bool sticky;
    } failures[] = {
        {CUDA_ERROR_OUT_OF_MEMORY, false},  {CUDA_ERROR_OUT_OF_MEMORY, true},  {CUDA_ERROR_NO_DEVICE, false},
        {CUDA_ERROR_ILLEGAL_ADDRESS, true}, {CUDA_ERROR_LAUNCH_TIMEOUT, true}, {CUDA_ERROR_UNKNOWN, false},
    };
    smp_driver *driver = smp_driver_simt();
    smp_shape shape = case_shape(33, 21, 3, SMP_U8);
    picture in = picture_make(&shape, SMP_U8), out = picture_make(&shape, SMP_U8);
    picture_fill(&in, 3, CASE_CODES);
    uint64_t before = smp_alloc_live();
    for (size_t f = 0; f < sizeof failures / sizeof failures[0]; f++) {
        uint64_t failed = 0;
        for (uint64_t nth = 1;; nth++) {
            smp_error err = {.code = SMP_OK};
            smp_driver_fail_at(driver, nth, failures[f].result, failures[f].sticky);
            smp_code code = small_job(&in, &out, &err);
            bool reached = driver->calls >= nth;
            smp_driver_fail_at(driver, 0, CUDA_SUCCESS, false);
            assert_int_equal(smp_alloc_live(), before);
            if (!reached) { /* there are no more calls */
                assert_int_equal(code, SMP_OK);
                break;
            }
            if (code) {
                failed++;
                assert_int_equal(code, err.code);
                assert_int_equal(code,
                                 failures[f].result == CUDA_ERROR_OUT_OF_MEMORY ? SMP_E_DEVICE_MEMORY : SMP_E_DEVICE);
                assert_true(err.message[0] && err.hint[0]);
                assert_int_equal(smp_exit_status(code), 5);
            }
        }
        assert_true(failed > 30); /* the rest are calls of closing, which report nothing */
    }
    smp_error err;
    assert_int_equal(small_job(&in, &out, &err), SMP_OK); /* nothing lingers */
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(every_allocation_may_fail)
{
    smp_shape shape = case_shape(33, 21, 3, SMP_U8);
    picture in = picture_make(&shape, SMP_U8), out = picture_make(&shape, SMP_U8);
    picture_fill(&in, 3, CASE_CODES);
    uint64_t before = smp_alloc_live();
    int failed = 0;
    for (uint64_t nth = 1;; nth++) {
        smp_error err = {.code = SMP_OK};
        uint64_t made = smp_alloc_count();
        smp_alloc_fail_at(nth);
        smp_code code = small_job(&in, &out, &err);
        bool reached = smp_alloc_count() - made >= nth;
        smp_alloc_fail_at(0);
        assert_int_equal(smp_alloc_live(), before);
        if (!reached) {
            assert_int_equal(code, SMP_OK);
            break;
        }
        assert_true(code == SMP_E_MEMORY || code == SMP_E_DEVICE_MEMORY || code == SMP_OK);
        failed += code != SMP_OK;
    }
    assert_true(failed > 10);
    picture_free(&in);
    picture_free(&out);
}

SMP_TEST(names_of_devices_are_understood_or_refused)
{
    static const struct {
        const char *spec;
        smp_code code;
    } cases[] = {{"cuda:x", SMP_E_USAGE}, {"cuda:", SMP_E_USAGE}, {"cuda:-1", SMP_E_USAGE}, {"cudaX", SMP_E_USAGE},
                 {"gpu", SMP_E_USAGE},    {"simt", SMP_OK},       {"cuda:99", SMP_E_DEVICE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_device_request request = {.spec = cases[i].spec, .threads = 1};
        smp_device *device;
        smp_error err;
        assert_int_equal(smp_device_open(&request, &device, NULL, 0, &err), cases[i].code);
        if (cases[i].code) {
            assert_null(device);
            assert_true(err.hint[0]);
        } else {
            assert_string_equal(device->info.kind, "simt");
            assert_false(device->host_memory);
            smp_device_close(device);
        }
    }
    smp_simt_set_threads(0);
}
