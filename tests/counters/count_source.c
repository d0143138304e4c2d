/* Sources of counts: the model through the common interface, how sources are compared, and what is said when a measured
 * source cannot be had. */
#include "suite.h"

#include "simt_fixture.h"

#include "lab/counters/source.h"

/* count_source.cu has one kernel: a 32x32 tile (mode 1: padded to 33) stored by rows, read by columns.
 */
extern const smp_kernel_file count_source_kernels[];

typedef struct column {
    smp_device *device;
    smp_io io;
    smp_node_plan plan;
    int calls;
} column;

static smp_code launch_column(void *context, smp_error *err)
{
    column *work = context;
    smp_launch launch = {.cuda = "column_of_tile", .geometry = simt_geometry};
    smp_variant variant = {.name = "test"};
    work->calls++;
    simt_grid = (smp_grid){{2, 1, 1}, {32, 32, 1}, 0};
    return work->device->ops->launch(work->device, &variant, &launch, &work->io, &work->plan, NULL, err);
}

static void open_column(column *work, int mode)
{
    smp_error err;
    *work = (column){.plan = {.kernel.size = sizeof(simt_case)}};
    simt_case params = {.mode = mode};
    memcpy(work->plan.kernel.bytes, &params, sizeof params);
    smp_kernel_files_extra(count_source_kernels);
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &work->device, &err), SMP_OK);
    work->io.out = (smp_view){.width = 1024, .height = 1, .rows = 1, .channels = 1, .format = SMP_F32};
    assert_int_equal(work->device->ops->alloc(work->device, 4096, &work->io.out.data, &err), SMP_OK);
    work->io.in = work->io.out;
}

static void close_column(column *work)
{
    work->device->ops->free(work->device, work->io.out.data);
    work->device->ops->close(work->device);
    smp_kernel_files_extra(NULL);
}

/* Two blocks of 32 warps: 64 stores of one wavefront, 64 loads of 32. */
SMP_TEST(the_model_counts_a_column_of_a_tile)
{
    column work;
    smp_count_source *source;
    smp_counts counts;
    smp_error err;
    open_column(&work, 0);
    assert_int_equal(smp_count_open(SMP_COUNT_MODEL, work.device, &source, &err), SMP_OK);
    assert_int_equal(smp_count_measure(source, launch_column, &work, &counts, &err), SMP_OK);
    assert_int_equal(counts.kind, SMP_COUNT_MODEL);
    assert_int_equal(counts.ops[SMP_SHARED_STORE].instructions, 64);
    assert_int_equal(counts.ops[SMP_SHARED_STORE].wavefronts, 64);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].instructions, 64);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].wavefronts, 64 * 32);
    assert_int_equal(counts.ops[SMP_SHARED_LOAD].ideal, 64);
    assert_int_equal(counts.total.wavefronts, 64 + 64 * 32);
    assert_int_equal(counts.faults, 0);
    smp_count_close(source);
    close_column(&work);
}

SMP_TEST(padding_takes_the_conflicts_away)
{
    column work;
    smp_count_source *source;
    smp_counts counts;
    smp_error err;
    open_column(&work, 1);
    assert_int_equal(smp_count_open(SMP_COUNT_MODEL, work.device, &source, &err), SMP_OK);
    assert_int_equal(smp_count_measure(source, launch_column, &work, &counts, &err), SMP_OK);
    assert_int_equal(counts.total.wavefronts, counts.total.ideal);
    assert_int_equal(work.calls, 1);
    smp_count_close(source);
    close_column(&work);
}

SMP_TEST(measured_counts_need_a_gpu)
{
    column work;
    smp_error err;
    open_column(&work, 0);
    for (int kind = SMP_COUNT_SASS; kind <= SMP_COUNT_HW; kind++) {
        smp_count_source *source;
        assert_int_equal(smp_count_open((smp_count_kind)kind, work.device, &source, &err), SMP_E_DEVICE);
        assert_null(source);
        assert_non_null(strstr(err.message, "on a GPU, not on simt"));
        assert_true(err.hint[0] != 0);
    }
    close_column(&work);
}

SMP_TEST(sources_agree_on_wavefronts_and_ideal_of_each_operation)
{
    char text[200];
    smp_counts model = {.kind = SMP_COUNT_MODEL}, sass = {.kind = SMP_COUNT_SASS};
    model.ops[SMP_SHARED_STORE] = (smp_shared_count){10, 20, 10};
    sass.ops[SMP_SHARED_STORE] = (smp_shared_count){9, 20, 10}; /* two accesses were joined: no difference */
    assert_true(smp_counts_agree(&model, &sass, text, sizeof text));
    assert_string_equal(text, "");
    sass.ops[SMP_SHARED_STORE].wavefronts = 21;
    assert_false(smp_counts_agree(&model, &sass, text, sizeof text));
    assert_string_equal(text, "store: model has 20 wavefronts, 10 ideal; sass has 21, 10 ideal");
}
