/* Splitting a batch between processors and GPUs: the rules, and a machine that follows them. */
#include "suite.h"

#include "batch/runner.h"

#include <stdio.h>

/* Cost of a file: seconds of processors on either kind, of a GPU, and until its thread runs again each time that the
 * GPU has done something while all processors are busy, in all; how much longer it takes on a GPU while the processors
 * do as many files as there are processors. */
typedef struct cost {
    const char *path;
    uint64_t bytes;
    double cpu, beside_gpu, gpu, wakes, disturbed;
} cost;

static const cost camera_jpeg = {"a/1.jpg", 5 << 20, 0.43, 0.011, 0.0016, 0};
static const cost camera_png = {"a/1.png", 39 << 20, 0.74, 0.6, 0.005, 0};
static const cost small_png = {"b/1.png", 137 << 10, 0.0044, 0.0056, 0.0002, 0};
static const cost slow_gpu = {"a/2.jpg", 5 << 20, 0.43, 0.011, 0.2, 0};

/* As measured with 64 processors and 4 GPUs (docs/results/h200x4-folders.json): a JPEG waits for its GPU 21 times, each
 * time for a share of the scheduler's 4 ms where other threads have all processors. Beside 32 files on processors the
 * GPUs did 290 a second, alone 1,740. */
static const cost blurred_jpeg = {"c/1.jpg", 5 << 20, 0.6, 0.0134, 0.0014, 0.084, 0.18};
static const cost much_blurred_jpeg = {"c/2.jpg", 5 << 20, 1.45, 0.0134, 0.0043, 0.084, 0.18};
static const cost blurred_png = {"c/1.png", 39 << 20, 0.72, 0.58, 0.005, 0.05};
static const cost much_blurred_png = {"c/2.png", 39 << 20, 2.1, 0.56, 0.007, 0.05};
static const cost small_pictures = {"d/1.png", 137 << 10, 0.0052, 0.0058, 0.0005, 0};

/* A machine whose files in work share the processors evenly, each GPU taking one file at a time. */
typedef struct machine {
    smp_cpu_gpu_split split;
    int gpus;
    double gpus_open; /* seconds from the start */
    struct lane {
        smp_split_kind kind;
        int class_index;
        const cost *file; /* null: idle */
        double began, processor, gpu, late, needs;
        int done;
        bool served; /* by a GPU */
    } lanes[192];
    int lane_count;
    int made[SMP_SPLIT_KINDS];
} machine;

static void add_lanes(machine *m, smp_split_kind kind, int count)
{
    for (int i = 0; i < count; i++)
        m->lanes[m->lane_count++].kind = kind;
    if (kind == SMP_SPLIT_CPU)
        m->split.lanes[kind] += count;
}

static void finish(machine *m, struct lane *lane, double now)
{
    smp_split_end(&m->split, lane->kind, lane->class_index, lane->done++ ? SMP_SPLIT_MEASURED : SMP_SPLIT_GUESS,
                  now - lane->began, lane->needs);
    m->made[lane->kind]++;
    lane->file = NULL;
}

static void begin(machine *m, struct lane *lane, const cost *file, int class_index, double now, bool crowded)
{
    const bool gpu = lane->kind == SMP_SPLIT_GPU;
    smp_split_begin(&m->split, lane->kind, class_index);
    lane->file = file;
    lane->class_index = class_index;
    lane->began = now;
    lane->processor = lane->needs = gpu ? file->beside_gpu : file->cpu;
    lane->gpu = gpu ? file->gpu : 0;
    lane->late = gpu && crowded ? file->wakes : 0;
    if (gpu)
        lane->late += file->disturbed * m->split.classes[class_index].flying[SMP_SPLIT_CPU] / m->split.processors;
}

/* Gives the GPUs to those that have waited longest. */
static void serve(machine *m)
{
    for (int i = 0; i < m->lane_count; i++)
        m->lanes[i].served = false;
    for (int n = 0; n < m->gpus; n++) {
        struct lane *first = NULL;
        for (int i = 0; i < m->lane_count; i++) {
            struct lane *lane = &m->lanes[i];
            if (lane->file && lane->processor <= 0 && lane->gpu > 0 && !lane->served &&
                (!first || lane->began < first->began))
                first = lane;
        }
        if (!first)
            return;
        first->served = true;
    }
}

/* Files that one of the kinds takes from the front of a list. Seconds that all take. */
static double work(machine *m, const cost *files, int kinds, int count)
{
    enum { STEPS = 10000000 };
    const double tick = 0.0005;
    int begun = 0, ended = 0, busy = 0;
    for (int step = 0; step < STEPS; step++) {
        const double now = step * tick;
        const bool open = now >= m->gpus_open, crowded = busy > m->split.processors;
        if (open && !m->split.lanes[SMP_SPLIT_GPU])
            for (int i = 0; i < m->lane_count; i++)
                m->split.lanes[SMP_SPLIT_GPU] += m->lanes[i].kind == SMP_SPLIT_GPU;
        busy = 0;
        for (int i = 0; i < m->lane_count; i++) {
            struct lane *lane = &m->lanes[i];
            const cost *next = &files[begun % kinds];
            if (!lane->file && begun < count && (open || lane->kind == SMP_SPLIT_CPU)) {
                const int class_index = smp_split_class_of(&m->split, next->path, next->bytes);
                if (smp_split_suits(&m->split, lane->kind, class_index, (uint64_t)(count - begun))) {
                    begin(m, lane, next, class_index, now, crowded);
                    begun++;
                }
            }
            busy += lane->file && lane->processor > 0;
        }
        serve(m);
        const double share = busy > m->split.processors ? (double)m->split.processors / busy : 1;
        for (int i = 0; i < m->lane_count; i++) {
            struct lane *lane = &m->lanes[i];
            if (!lane->file)
                continue;
            if (lane->processor > 0)
                lane->processor -= share * tick;
            else if (lane->served)
                lane->gpu -= tick;
            else if (lane->gpu <= 0)
                lane->late -= tick;
            if (lane->processor <= 0 && lane->gpu <= 0 && lane->late <= 0) {
                finish(m, lane, now + tick);
                if (++ended == count)
                    return now + tick;
            }
        }
    }
    fail_msg("a file waits for ever: %d of %d begun, %d ended", begun, count, ended);
    return 0;
}

enum { PROCESSORS = 16 };

static double seconds(const cost *files, int kinds, int count, int cpu_lanes, int gpu_lanes, machine *m)
{
    *m = (machine){.split.processors = PROCESSORS, .gpus = 1};
    add_lanes(m, SMP_SPLIT_GPU, gpu_lanes);
    add_lanes(m, SMP_SPLIT_CPU, cpu_lanes);
    return work(m, files, kinds, count);
}

SMP_TEST(both_kinds_are_never_slower_than_the_better_one)
{
    const struct {
        const cost *file;
        int count;
    } jobs[] = {{&camera_jpeg, 1500}, {&camera_png, 200}, {&small_png, 3000}, {&slow_gpu, 800}};
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        machine m;
        const double cpu = seconds(jobs[i].file, 1, jobs[i].count, 25, 0, &m);
        const double gpu = seconds(jobs[i].file, 1, jobs[i].count, 0, 16, &m);
        const double both = seconds(jobs[i].file, 1, jobs[i].count, 25, 16, &m);
        const double better = cpu < gpu ? cpu : gpu;
        if (both > 1.06 * better)
            fail_msg("%s: %.2f s on processors, %.2f s on a GPU, %.2f s on both", jobs[i].file->path, cpu, gpu, both);
    }
}

/* Files a second of a host with 64 processors and 4 GPUs that open after 1.2 s. */
static double rate(const cost *file, int count, int cpu_lanes, int gpu_lanes, machine *m)
{
    *m = (machine){.split.processors = 64, .split.gpus_come = gpu_lanes > 0, .gpus = 4, .gpus_open = 1.2};
    add_lanes(m, SMP_SPLIT_GPU, gpu_lanes);
    add_lanes(m, SMP_SPLIT_CPU, cpu_lanes);
    return count / work(m, file, 1, count);
}

SMP_TEST(four_gpus_get_the_files_that_they_do_better)
{
    const struct {
        const cost *file;
        int count, gpu_lanes;
        double of_better; /* the least share of the better kind's rate: files begun before the GPUs open disturb them */
        double most_on_cpu; /* share of the files */
    } jobs[] = {
        {&blurred_jpeg, 4096, 32, 0.85, 0.1}, {&much_blurred_jpeg, 2048, 32, 0.85, 0.1},
        {&blurred_png, 512, 64, 1.15, 0.3},   {&much_blurred_png, 512, 64, 0.93, 0.2},
        {&small_pictures, 8192, 64, 0.99, 1},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        machine m;
        const double cpu = rate(jobs[i].file, jobs[i].count, 97, 0, &m);
        const double gpu = rate(jobs[i].file, jobs[i].count, 0, jobs[i].gpu_lanes, &m);
        const double both = rate(jobs[i].file, jobs[i].count, 97, jobs[i].gpu_lanes, &m);
        const double on_cpu = (double)m.made[SMP_SPLIT_CPU] / jobs[i].count;
        if (both < jobs[i].of_better * (cpu > gpu ? cpu : gpu) || on_cpu > jobs[i].most_on_cpu)
            fail_msg("%s: %.1f files/s on processors, %.1f on GPUs, %.1f on both, with %.2f of the files on processors",
                     jobs[i].file->path, cpu, gpu, both, on_cpu);
    }
}

SMP_TEST(small_pictures_go_to_the_processors)
{
    machine m;
    seconds(&small_png, 1, 3000, 25, 16, &m);
    assert_in_range(m.made[SMP_SPLIT_GPU], 1, 100);
}

SMP_TEST(processors_take_their_share_where_a_gpu_is_slow)
{
    machine m;
    const double cpu = seconds(&slow_gpu, 1, 800, 25, 0, &m), both = seconds(&slow_gpu, 1, 800, 25, 16, &m);
    assert_true(both < 0.95 * cpu);
}

SMP_TEST(each_kind_gets_its_files_of_a_mixed_folder)
{
    const cost files[] = {camera_jpeg, small_png};
    machine m;
    const double both = seconds(files, 2, 2000, 25, 16, &m), gpu = seconds(files, 2, 2000, 0, 16, &m),
                 cpu = seconds(files, 2, 2000, 25, 0, &m);
    assert_true(both < cpu && both < 1.1 * gpu);
}

SMP_TEST(without_the_other_kind_everything_suits)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {0, 8}};
    const int c = smp_split_class_of(&split, "x.png", 1000);
    smp_split_begin(&split, SMP_SPLIT_CPU, c);
    smp_split_end(&split, SMP_SPLIT_CPU, c, SMP_SPLIT_MEASURED, 0.1, 0.1);
    for (int i = 0; i < 3; i++) {
        smp_split_begin(&split, SMP_SPLIT_GPU, c);
        smp_split_end(&split, SMP_SPLIT_GPU, c, SMP_SPLIT_MEASURED, 1, 1);
    }
    assert_true(smp_split_suits(&split, SMP_SPLIT_GPU, c, 1)); /* the last processor has gone */
    split.lanes[SMP_SPLIT_CPU] = 1;
    assert_false(smp_split_suits(&split, SMP_SPLIT_GPU, c, 1));
}

SMP_TEST(a_kind_that_is_not_known_is_tried_by_two)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {4, 4}};
    const int c = smp_split_class_of(&split, "x.png", 1000);
    for (int i = 0; i < 3; i++) { /* nothing is known of either */
        assert_true(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100));
        smp_split_begin(&split, SMP_SPLIT_GPU, c);
    }
    smp_split_begin(&split, SMP_SPLIT_CPU, c);
    smp_split_end(&split, SMP_SPLIT_CPU, c, SMP_SPLIT_MEASURED, 0.1, 0.1);
    assert_false(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100));
    smp_split_end(&split, SMP_SPLIT_GPU, c, SMP_SPLIT_NOTHING, 0, 0); /* says nothing */
    smp_split_end(&split, SMP_SPLIT_GPU, c, SMP_SPLIT_NOTHING, 0, 0);
    assert_true(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100));
}

SMP_TEST(processors_leave_the_last_files_to_a_faster_gpu)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {4, 1}};
    const int c = smp_split_class_of(&split, "x.jpg", 5 << 20);
    for (smp_split_kind kind = SMP_SPLIT_CPU; kind < SMP_SPLIT_KINDS; kind++) {
        smp_split_begin(&split, kind, c);
        smp_split_end(&split, kind, c, SMP_SPLIT_MEASURED, kind == SMP_SPLIT_GPU ? 4 : 10,
                      kind == SMP_SPLIT_GPU ? 0.005 : 10);
    }
    assert_true(smp_split_suits(&split, SMP_SPLIT_CPU, c, 1000));
    assert_false(smp_split_suits(&split, SMP_SPLIT_CPU, c, 1)); /* 4 s + 4 s */
    assert_true(smp_split_suits(&split, SMP_SPLIT_GPU, c, 1));
    for (int i = 0; i < 4; i++)
        smp_split_begin(&split, SMP_SPLIT_CPU, c);
    assert_false(smp_split_suits(&split, SMP_SPLIT_CPU, c, 1000)); /* all processors are busy */
}

SMP_TEST(processors_do_not_disturb_files_that_wait_for_them)
{
    smp_cpu_gpu_split split = {.processors = 64, .lanes = {64, 16}};
    const int c = smp_split_class_of(&split, "x.jpg", 5 << 20);
    const struct {
        double wall, processor; /* of a file on the GPU */
        bool suits;
    } cases[] = {{0.02, 0.01, false}, {0.2, 0.01, true}, {0.2, 0.15, true}}; /* the last spares processors little */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        split.classes[c] = (smp_split_class){.key = split.classes[c].key};
        for (smp_split_kind kind = SMP_SPLIT_CPU; kind < SMP_SPLIT_KINDS; kind++) {
            smp_split_begin(&split, kind, c);
            smp_split_end(&split, kind, c, SMP_SPLIT_MEASURED, kind == SMP_SPLIT_GPU ? cases[i].wall : 0.4,
                          kind == SMP_SPLIT_GPU ? cases[i].processor : 0.4);
        }
        assert_int_equal(smp_split_suits(&split, SMP_SPLIT_CPU, c, 10000), cases[i].suits);
    }
}

SMP_TEST(a_first_file_that_shows_a_gpu_to_be_better_will_do)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {4, 4}};
    const int c = smp_split_class_of(&split, "x.jpg", 5 << 20);
    smp_split_begin(&split, SMP_SPLIT_CPU, c);
    smp_split_end(&split, SMP_SPLIT_CPU, c, SMP_SPLIT_GUESS, 0.4, 0.4);
    for (int i = 0; i < 3; i++)
        smp_split_begin(&split, SMP_SPLIT_GPU, c);
    assert_false(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100));
    smp_split_end(&split, SMP_SPLIT_GPU, c, SMP_SPLIT_GUESS, 0.1, 0.05);
    assert_true(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100));
}

SMP_TEST(a_class_is_an_extension_and_a_size)
{
    smp_cpu_gpu_split split = {.processors = 1};
    const int c = smp_split_class_of(&split, "a.b/x.PNG", 1000);
    assert_int_equal(smp_split_class_of(&split, "y.png", 600), c);
    assert_int_not_equal(smp_split_class_of(&split, "y.png", 2000), c);
    assert_int_not_equal(smp_split_class_of(&split, "y.jpg", 1000), c);
    assert_int_not_equal(smp_split_class_of(&split, "a.png/x", 1000), c);
    for (uint64_t i = 0; i < 200; i++) { /* there is an end */
        char name[20];
        snprintf(name, sizeof name, "x.%d", (int)i);
        assert_in_range(smp_split_class_of(&split, name, 1), 0, SMP_SPLIT_CLASSES - 1);
    }
}

SMP_TEST(processors_fill_up_to_their_number_while_gpus_open)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {6, 0}, .gpus_come = true};
    const int c = smp_split_class_of(&split, "x.jpg", 5 << 20);
    for (int i = 0; i < 4; i++) {
        assert_true(smp_split_suits(&split, SMP_SPLIT_CPU, c, 100));
        smp_split_begin(&split, SMP_SPLIT_CPU, c);
    }
    assert_false(smp_split_suits(&split, SMP_SPLIT_CPU, c, 100));
    split.gpus_come = false;
    assert_true(smp_split_suits(&split, SMP_SPLIT_CPU, c, 100));
}

SMP_TEST(files_that_take_long_are_tried_by_all_threads_of_gpus)
{
    smp_cpu_gpu_split split = {.processors = 4, .lanes = {4, 8}};
    const int c = smp_split_class_of(&split, "x.png", 5 << 20);
    for (int i = 0; i < 2; i++) {
        const double seconds = i ? 1 : 0.1;
        split.classes[c] = (smp_split_class){.key = split.classes[c].key};
        smp_split_begin(&split, SMP_SPLIT_CPU, c);
        smp_split_end(&split, SMP_SPLIT_CPU, c, SMP_SPLIT_MEASURED, seconds, seconds);
        for (int lane = 0; lane < 4; lane++)
            smp_split_begin(&split, SMP_SPLIT_GPU, c);
        assert_int_equal(smp_split_suits(&split, SMP_SPLIT_GPU, c, 100), i);
    }
}

SMP_TEST(no_file_is_left_by_both_kinds)
{
    static const double seconds[] = {0.01, 0.4, 0.5, 0.9, 1, 1.2, 1.6, 2.1, 10}; /* two processes may share a file */
    enum { VALUES = sizeof seconds / sizeof seconds[0], ALL = VALUES * VALUES * VALUES * VALUES };
    smp_cpu_gpu_split split = {.processors = 16, .gpus_come = true};
    const int c = smp_split_class_of(&split, "x.png", 5 << 20);
    for (int gpus = 0; gpus <= 16; gpus += 16) /* 0: those that there were are lost */
        for (int i = 0; i < ALL; i++) {
            const double cpu_wall = seconds[i % VALUES], gpu_wall = seconds[i / VALUES % VALUES],
                         cpu = seconds[i / VALUES / VALUES % VALUES], gpu = seconds[i / VALUES / VALUES / VALUES];
            split.lanes[SMP_SPLIT_CPU] = 25;
            split.lanes[SMP_SPLIT_GPU] = gpus;
            split.classes[c] = (smp_split_class){
                .key = split.classes[c].key, .done = {9, 9}, .wall = {cpu_wall, gpu_wall}, .processor = {cpu, gpu}};
            if (!smp_split_suits(&split, SMP_SPLIT_CPU, c, 1) &&
                !(gpus && smp_split_suits(&split, SMP_SPLIT_GPU, c, 1)))
                fail_msg("%d threads of GPUs: nobody takes a file of %g s (%g s of processors) on a processor, and of "
                         "%g s (%g s) on a GPU",
                         gpus, cpu_wall, cpu, gpu_wall, gpu);
        }
}
