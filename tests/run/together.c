/* Plans of many pictures in a few launches of the emulated GPU: the bytes of each alone on the CPU, whatever beside it
 * lies, and clean ends whichever call of the driver fails. */
#include "suite.h"

#include "jpeg_case.h"
#include "media_fixture.h"

#include "device/cuda/cuda.h"
#include "device/simt/simt.h"
#include "pipe/program.h"
#include "run/run.h"
#include "run/together.h"

enum { PICTURES = 4 };

static const smp_together_need usual = {.memory = 4 << 20, .sent = 1 << 20, .back = 1 << 16};

/* One of many: its coded rows and its plan, and what the CPU makes of it alone. */
typedef struct one {
    picture rows, want;
    smp_media media;
    smp_plan *plan;
} one;

static smp_program *program;

static smp_plan *plan_of(const one *o)
{
    smp_error err = {0};
    smp_plan *plan = NULL;
    const smp_plan_request ask = {.program = program,
                                  .input = o->media.shape,
                                  .scan = o->media.scan.shape,
                                  .across = o->media.scan.across,
                                  .down = o->media.scan.down,
                                  .output = "memory"};
    if (smp_plan_make(&ask, NULL, &plan, &err))
        fail_msg("%s", err.message);
    return plan;
}

static one make_one(const jpeg_sort *s)
{
    one o = {.plan = NULL};
    size_t size;
    smp_error err = {0};
    smp_device *cpu;
    smp_reader *reader;
    smp_run_report report;
    smp_read_options how = smp_read_defaults();
    uint8_t *file = jpeg_make(s, &size);
    how.want.scan_from = 1;
    assert_ok(smp_reader_open_memory(file, size, &how, &reader, &err));
    o.media = *smp_reader_media(reader);
    o.rows = new_picture(o.media.scan.shape.width, o.media.scan.shape.height, 1, false, SMP_U8);
    assert_ok(smp_reader_rows(reader, o.rows.data, (int64_t)o.rows.row, o.rows.shape.height, &err));
    smp_reader_close(reader);
    free(file);
    smp_plan *plan = plan_of(&o);
    const smp_shape *out = &plan->sinks[0].shape;
    o.want = new_picture(out->width, out->height, out->channels, false, SMP_U8);
    const smp_view from = picture_view(&o.rows), to = picture_view(&o.want);
    assert_ok(smp_device_open(&(smp_device_request){.spec = "cpu", .threads = 1}, &cpu, NULL, 0, &err));
    assert_ok(smp_run_memory(plan, cpu, NULL, 0, &from, &to, &report, &err));
    smp_run_report_free(&report);
    smp_device_close(cpu);
    smp_plan_free(plan);
    return o;
}

static one all[PICTURES];

static int make_all(void **state)
{
    static const jpeg_sort sorts[PICTURES] = {
        {.width = 70, .height = 50, .channels = 3, .across = 2, .down = 2, .quality = 90, .restart = 3, .noise = true},
        {.width = 33, .height = 61, .channels = 1, .across = 1, .down = 1, .quality = 50},
        {.width = 1, .height = 1, .channels = 3, .across = 1, .down = 1, .quality = 95},
        {.width = 48, .height = 32, .channels = 3, .across = 2, .down = 1, .quality = 30, .noise = true}};
    static const char *const lines[] = {"resize 24x20! filter=bilinear arithmetic=fixed", "flip horizontal",
                                        "jitter contrast=1.5 brightness=0.8"};
    smp_diags diags = {0};
    smp_error err = {0};
    (void)state;
    if (smp_program_parse_lines(lines, 3, NULL, 0, NULL, NULL, &diags, &program, &err))
        return -1;
    smp_diags_free(&diags);
    for (int i = 0; i < PICTURES; i++)
        all[i] = make_one(&sorts[i]);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (int i = 0; i < PICTURES; i++) {
        free_picture(&all[i].rows);
        free_picture(&all[i].want);
    }
    smp_program_free(program);
    return 0;
}

/* Stands between the runner and the device: memory of the device has a guard band behind it. */
static struct {
    const smp_device_ops *real;
    smp_code copied; /* what copies to the host end with; SMP_OK: the device's own */
    int waits;       /* for all queued work */
    bool lies;       /* pictures say that they need no memory */
    bool touched;    /* a guard band */
    struct {
        char *band;
        void *memory;
    } guards[8];
    int count;
} spy;

enum { BAND = 1 << 16 };

static smp_code alloc_guarded(smp_device *device, size_t size, void **out, smp_error *err)
{
    const smp_code code = spy.real->alloc(device, size + BAND, out, err);
    if (code)
        return code;
    spy.guards[spy.count].memory = *out;
    spy.guards[spy.count].band = (char *)*out + size;
    return spy.real->zero(device, spy.guards[spy.count++].band, BAND, err);
}

static void free_guarded(smp_device *device, void *memory)
{
    static const char untouched[BAND];
    static char band[BAND];
    for (int i = 0; i < spy.count; i++)
        if (spy.guards[i].memory == memory) {
            assert_int_equal(spy.real->copy_out(device, band, BAND, spy.guards[i].band, BAND, BAND, 1, NULL), SMP_OK);
            spy.touched |= memcmp(band, untouched, BAND) != 0;
        }
    spy.real->free(device, memory);
}

static smp_code copy_out_or_fail(smp_device *device, void *to, int64_t to_stride, const void *from, int64_t from_stride,
                                 int64_t row_bytes, int64_t rows, smp_error *err)
{
    return spy.copied ? smp_fail(err, spy.copied, "no copy")
                      : spy.real->copy_out(device, to, to_stride, from, from_stride, row_bytes, rows, err);
}

static smp_code count_sync(smp_device *device, smp_error *err)
{
    spy.waits++;
    return spy.real->sync(device, err);
}

static void spy_on(smp_device *device)
{
    static smp_device_ops ops;
    spy.real = device->ops;
    ops = *device->ops;
    ops.alloc = alloc_guarded;
    ops.free = free_guarded;
    ops.copy_out = copy_out_or_fail;
    ops.sync = count_sync;
    device->ops = &ops;
}

/* Runs them; made: what each place holds. */
static smp_code run_all(smp_together_picture *pictures, picture *made, smp_error *err)
{
    smp_together_picture *list[PICTURES];
    smp_device *device = NULL;
    smp_together *runner = NULL;
    void *places = NULL;
    const int64_t size = (int64_t)made[0].size * 3; /* of three channels, the largest */
    smp_code code = smp_cuda_open(smp_driver_simt(), 0, &device, err);
    if (!code && (spy.copied || spy.lies))
        spy_on(device);
    smp_together_need first = usual;
    if (spy.lies)
        first.memory = 1;
    if (!code)
        code = smp_together_open(device, &first, NULL, 0, &runner, err);
    if (!code)
        code = device->ops->alloc(device, (size_t)size * PICTURES, &places, err);
    for (int i = 0; i < PICTURES; i++) {
        list[i] = &pictures[i];
        pictures[i].plan = plan_of(&all[i]);
        pictures[i].place = (char *)places + i * size;
        pictures[i].tensor = (smp_tensor){.channels = all[i].want.shape.channels, .size = 1};
        if (!pictures[i].rows)
            pictures[i].rows = all[i].rows.data;
        if (!code && !smp_together_serves(&device->info, pictures[i].plan, &usual, &pictures[i].need))
            fail_msg("picture %d is not served", i);
        if (spy.lies)
            pictures[i].need.memory = 0;
    }
    if (!code)
        code = smp_together_run(runner, list, PICTURES, err);
    const int waits = spy.waits;
    for (int i = 0; i < PICTURES; i++) {
        const int64_t bytes = (int64_t)made[i].size;
        if (!code)
            code = device->ops->copy_out(device, made[i].data, bytes, pictures[i].place, bytes, bytes, 1, err);
        smp_plan_free(pictures[i].plan);
    }
    smp_together_close(runner);
    if (places)
        device->ops->free(device, places);
    smp_device_close(device);
    spy.waits = waits;
    return code;
}

static void make_room(picture *made)
{
    for (int i = 0; i < PICTURES; i++) {
        made[i] =
            new_picture(all[i].want.shape.width, all[i].want.shape.height, all[i].want.shape.channels, false, SMP_U8);
        memset(made[i].data, 0x5a, made[i].size);
    }
}

static void expect_right(const smp_together_picture *pictures, picture *made)
{
    for (int i = 0; i < PICTURES; i++) {
        if (!pictures[i].doubtful && memcmp(made[i].data, all[i].want.data, made[i].size) != 0)
            fail_msg("picture %d has other bytes than the CPU's", i);
        free_picture(&made[i]);
    }
}

SMP_TEST(each_has_the_bytes_that_it_has_alone)
{
    smp_together_picture pictures[PICTURES] = {{.rows = NULL}};
    picture made[PICTURES];
    smp_error err = {0};
    make_room(made);
    assert_ok(run_all(pictures, made, &err));
    for (int i = 0; i < PICTURES; i++)
        assert_false(pictures[i].doubtful);
    expect_right(pictures, made);
}

/* Whatever a decoder sends: it is in doubt, or another picture, and those beside it are right. */
SMP_TEST(one_that_lies_spoils_no_other)
{
    enum { ROUNDS = 20, HEAD = 24 };
    int doubted = 0;
    uint8_t *lies = malloc(all[0].rows.size);
    for (int round = 0; round < ROUNDS; round++) {
        smp_together_picture pictures[PICTURES] = {{.rows = lies}};
        picture made[PICTURES];
        smp_error err = {0};
        memcpy(lies, all[0].rows.data, all[0].rows.size);
        for (int k = 0; k < 8; k++)
            lies[jpeg_random() % (k < 3 ? HEAD : all[0].rows.size)] = (uint8_t)(jpeg_random() >> 9);
        make_room(made);
        assert_ok(run_all(pictures, made, &err));
        doubted += pictures[0].doubtful;
        pictures[0].doubtful = true; /* what it is now nobody knows */
        for (int i = 1; i < PICTURES; i++)
            assert_false(pictures[i].doubtful);
        expect_right(pictures, made);
    }
    free(lies);
    assert_true(doubted > ROUNDS / 2);
}

SMP_TEST(every_failing_call_ends_cleanly)
{
    static const CUresult results[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_ILLEGAL_ADDRESS};
    const uint64_t live = smp_alloc_live();
    for (int sticky = 0; sticky < 2; sticky++) {
        bool reached = true;
        int failed = 0;
        for (uint64_t nth = 1; reached; nth += 1 + nth / 8) {
            smp_together_picture pictures[PICTURES] = {{.rows = NULL}};
            picture made[PICTURES];
            smp_error err = {0};
            make_room(made);
            smp_driver_fail_at(smp_driver_simt(), nth, results[sticky], sticky);
            const smp_code code = run_all(pictures, made, &err);
            reached = smp_driver_simt()->calls >= nth;
            smp_driver_fail_at(smp_driver_simt(), 0, CUDA_SUCCESS, false);
            failed += code != SMP_OK;
            assert_true(!code || (err.code == code && err.message[0]));
            for (int i = 0; code && i < PICTURES; i++)
                pictures[i].doubtful = true;
            expect_right(pictures, made);
            assert_int_equal(smp_alloc_live(), live);
        }
        assert_true(failed > 5);
    }
}

SMP_TEST(a_failure_waits_for_what_was_queued)
{
    smp_together_picture pictures[PICTURES] = {{.rows = NULL}};
    picture made[PICTURES];
    smp_error err = {0};
    make_room(made);
    memset(&spy, 0, sizeof spy);
    spy.copied = SMP_E_DEVICE;
    assert_int_equal(run_all(pictures, made, &err), SMP_E_DEVICE);
    assert_int_equal(spy.waits, 1);
    memset(&spy, 0, sizeof spy);
    for (int i = 0; i < PICTURES; i++)
        free_picture(&made[i]);
}

SMP_TEST(one_that_needs_more_than_it_said_writes_nowhere)
{
    smp_together_picture pictures[PICTURES] = {{.rows = NULL}};
    picture made[PICTURES];
    smp_error err = {0};
    make_room(made);
    memset(&spy, 0, sizeof spy);
    spy.lies = true;
    assert_ok(run_all(pictures, made, &err));
    assert_false(spy.touched);
    memset(&spy, 0, sizeof spy);
    for (int i = 0; i < PICTURES; i++)
        assert_true(pictures[i].doubtful);
    expect_right(pictures, made);
}

SMP_TESTS_AROUND(make_all, free_all)
