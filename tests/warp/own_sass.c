/* SASS of the program's own kernels, where the build has it: every kernel can be executed, and the model counts it. */
#include <dirent.h>
#include <string.h>

#include "suite.h"

#include "gpu_case.h"

#include "device/simt/simt.h"
#include "lab/program_kernels/own.h"

/* The kernels of a file that the machine cannot execute, each with its first problem; printed. */
static long problems_of(const char *name, long *kernels)
{
    smp_own_file file;
    smp_error err = {0};
    smp_warp_memory *memory;
    smp_warp_module *module;
    long wrong = 0;
    if (smp_own_file_read(name, &file, &err))
        fail_msg("%s", err.message);
    assert_int_equal(smp_warp_memory_open(&memory, &err), SMP_OK);
    if (smp_warp_load_sass(name, file.text, file.text_size, file.cubin, file.cubin_size, NULL, memory, &module, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < smp_warp_kernel_count(module); i++) {
        const smp_error *problem = smp_warp_kernel_problem(smp_warp_kernel_at(module, i));
        *kernels += 1;
        if (!problem)
            continue;
        wrong++;
        print_error("%s: %s (%s)\n", name, problem->message, problem->where);
    }
    smp_warp_module_free(module);
    smp_warp_memory_close(memory);
    smp_own_file_free(&file);
    return wrong;
}

static void every_kernel_can_be_executed(void **state)
{
    (void)state;
    long files = 0, kernels = 0, wrong = 0;
    if (!smp_own_folder())
        skip();
    DIR *folder = opendir(smp_own_folder());
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[256];
        const size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".gz") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length - 3, entry->d_name);
        wrong += problems_of(name, &kernels);
        files++;
    }
    closedir(folder);
    print_message("SASS of %ld kernels in %ld files: %ld cannot be executed\n", kernels, files, wrong);
    assert_true(files > 0 && kernels > files);
    assert_int_equal(wrong, 0);
}

/* ------------------------------------------------------------------------------------------------ counts */

static bool has_sass(const char *file)
{
    smp_own_file packed;
    const bool has = smp_own_folder() && !smp_own_file_read(file, &packed, NULL);
    if (has)
        smp_own_file_free(&packed);
    return has;
}

/* One launch of a variant, counted by its SASS or as the host's compiler made it. */
static smp_trace count(const char *line, const char *variant, int64_t width, int64_t height, bool sass)
{
    const gpu_case c = {.lines = {line}, .in = case_shape(width, height, 3, SMP_U8), .seed = 3};
    smp_trace trace = {.sass = sass, .counts_only = true};
    smp_run_report report = {0};
    picture out;
    enum { H100_UNITS = 132 }; /* by which kernels choose their grids */
    gpu_simt_reset();
    gpu_job job = gpu_job_make(&c);
    smp_device *device = gpu_simt();
    const int units = device->info.units;
    device->info.units = H100_UNITS;
    smp_simt_set_trace(&trace);
    gpu_run(&job, device, variant, 0, &out, &report);
    smp_simt_set_trace(NULL);
    device->info.units = units;
    gpu_compare(&job, variant, 0, &out, &report);
    picture_free(&out);
    smp_run_report_free(&report);
    gpu_job_free(&job);
    assert_int_equal(trace.count, 1);
    assert_int_equal(trace.problem.code, SMP_OK);
    assert_int_equal(smp_trace_architecture(&trace) != 0, sass);
    return trace;
}

/* On an H100 the banded kernel made 185,759 wavefronts in 70,489 instructions where the host's compiler's code makes
 * 190,775 in 72,997. */
static void tensor_core_blurs_count_as_on_an_h100(void **state)
{
    (void)state;
    if (!has_sass("gaussian_mma_u8"))
        skip();
    smp_trace sass = count("gaussian 2px", "mma", 451, 300, true);
    smp_trace host = count("gaussian 2px", "mma", 451, 300, false);
    const smp_shared_count a = smp_trace_total(&sass), b = smp_trace_total(&host);
    print_message("%llu wavefronts in %llu instructions; as the host's compiler makes it %llu in %llu\n",
                  (unsigned long long)a.wavefronts, (unsigned long long)a.instructions,
                  (unsigned long long)b.wavefronts, (unsigned long long)b.instructions);
    assert_int_equal(b.wavefronts - a.wavefronts, 190775 - 185759);
    assert_int_equal(b.instructions - a.instructions, 72997 - 70489);
    smp_trace_free(&sass);
    smp_trace_free(&host);
}

/* Sites carry source lines, and add up to the launch. */
static void sites_of_sass_have_lines(void **state)
{
    (void)state;
    if (!has_sass("transpose_swizzled_rgb"))
        skip();
    smp_trace trace = count("rotate 90", "swizzled", 97, 65, true);
    const smp_trace_launch *launch = &trace.launches[0];
    smp_shared_count sum = {0, 0, 0};
    assert_int_equal(launch->architecture, smp_own_architecture());
    assert_true(launch->site_count > 0);
    for (size_t i = 0; i < launch->site_count; i++) {
        char where[96];
        assert_true(smp_trace_where(&launch->sites[i], where, sizeof where));
        assert_non_null(strchr(where, ':'));
        sum.instructions += launch->sites[i].count.instructions;
        sum.wavefronts += launch->sites[i].count.wavefronts;
        assert_true(launch->sites[i].example.active != 0);
    }
    assert_int_equal(sum.instructions, smp_trace_total(&trace).instructions);
    assert_int_equal(sum.wavefronts, smp_trace_total(&trace).wavefronts);
    assert_true(sum.instructions > 0);
    assert_int_equal(trace.notes[0], 0);
    smp_trace_free(&trace);
}

static void what_has_no_sass_is_told(void **state)
{
    smp_error err = {0};
    (void)state;
    assert_null(smp_own_kernel("no_such_file", "no_such_kernel", &err));
    assert_int_equal(err.code, SMP_E_READ);
    if (!has_sass("transpose_swizzled_rgb"))
        return;
    assert_null(smp_own_kernel("transpose_swizzled_rgb", "another_kernel", &err));
    assert_string_equal(err.message, "there is no SASS of it in transpose_swizzled_rgb.gz");
}

/* Memory of others is a buffer until it is released. */
static void adopted_memory_is_let_go(void **state)
{
    (void)state;
    static uint32_t words[64];
    smp_warp_memory *memory;
    smp_error err;
    uint64_t start, size;
    assert_int_equal(smp_warp_memory_open(&memory, &err), SMP_OK);
    void *own = smp_warp_buffer(memory, 16, "own");
    assert_true(smp_warp_memory_adopt(memory, words, sizeof words, NULL));
    assert_true(smp_warp_buffer_of(memory, (uint64_t)(uintptr_t)&words[63], &start, &size));
    assert_int_equal(size, sizeof words);
    smp_warp_memory_release(memory);
    assert_false(smp_warp_buffer_of(memory, (uint64_t)(uintptr_t)&words[63], &start, &size));
    assert_true(smp_warp_buffer_of(memory, (uint64_t)(uintptr_t)own, &start, &size));
    smp_warp_memory_close(memory);
}

SMP_SUITE(own_sass)
{
    smp_own_count_launches(true);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_can_be_executed), cmocka_unit_test(tensor_core_blurs_count_as_on_an_h100),
        cmocka_unit_test(sites_of_sass_have_lines),     cmocka_unit_test(what_has_no_sass_is_told),
        cmocka_unit_test(adopted_memory_is_let_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
