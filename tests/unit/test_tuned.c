/* The file of what was tuned: what was kept comes back, and what somebody made of the file breaks nothing. */
#include "tune_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "exec/step.h"
#include "exec/tuned.h"
#include "io/output.h"

static const char *tuned_path(void)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/smempipe/tuned.json", folder);
    return path;
}

static void write_file(const char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/smempipe", folder);
    mkdir(path, 0700);
    FILE *file = fopen(tuned_path(), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static smp_tuned load(char note[400])
{
    smp_tuned tuned;
    smp_error err = {0};
    if (smp_tuned_load(&tuned, note, 400, &err))
        fail_msg("%s", err.message);
    return tuned;
}

static void commit(const smp_tuned *tuned)
{
    smp_error err = {0};
    smp_output *output = NULL;
    if (smp_tuned_begin(tuned, &output, &err) || smp_tuned_commit(tuned, output, &err))
        fail_msg("%s", err.message);
}

static gpu_job blur_job(void)
{
    static const gpu_case c = {.lines = {"gaussian 1.5px", "histogram"},
                               .in = {.kind = SMP_IMAGE, .width = 90, .height = 61, .channels = 3}};
    return gpu_job_make(&c);
}

/* Writes what is tuned for the first step of the job and for its strips. */
static void keep_some(const gpu_job *job, const smp_device *device, const smp_tuning *tuning)
{
    char note[400];
    smp_error err = {0};
    smp_tuned tuned = load(note);
    char *own = smp_tuned_device_key(device), *work = smp_tuned_step_key(job->plan, &job->plan->steps[1]),
         *whole = smp_tuned_plan_key(job->plan);
    const smp_tuned_entry step = {.stage = job->plan->steps[1].stage, .tuning = *tuning, .before = 2, .after = 1},
                          strips = {.strip_rows = 40, .before = 4, .after = 3};
    assert_int_equal(smp_tuned_set(&tuned, own, work, &step, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, own, whole, &strips, &err), SMP_OK);
    commit(&tuned);
    smp_tuned_free(&tuned);
    smp_free(own);
    smp_free(work);
    smp_free(whole);
}

static void what_is_kept_comes_back_into_plans(void **state)
{
    (void)state;
    char note[400];
    unlink(tuned_path());
    gpu_job job = blur_job();
    const smp_variant *variant = smp_step_default(&job.plan->steps[1]);
    keep_some(&job, gpu_simt(), &(smp_tuning){.variant = variant, .knobs = {12}});
    smp_tuned tuned = load(note);
    assert_string_equal(note, "");
    assert_int_equal(tuned.count, 2);
    assert_int_equal(smp_tuned_apply(&tuned, gpu_reference(), job.plan), 0); /* another device */
    assert_null(job.plan->steps[1].work.tuning.variant);
    assert_int_equal(smp_tuned_apply(&tuned, gpu_simt(), job.plan), 2);
    assert_ptr_equal(job.plan->steps[1].work.tuning.variant, variant);
    assert_int_equal(job.plan->steps[1].work.tuning.knobs[0], 12);
    assert_null(job.plan->steps[2].work.tuning.variant);
    assert_int_equal(smp_strip_rows(job.plan, gpu_simt(), 0) / job.plan->granule,
                     (40 + job.plan->granule - 1) / job.plan->granule);
    assert_ptr_equal(smp_step_variant(&job.plan->steps[1], "naive"), smp_step_variants(&job.plan->steps[1]));
    assert_int_equal(smp_launch_knob(&job.plan->steps[1].work.tuning, smp_step_variants(&job.plan->steps[1]),
                                     &smp_step_variants(&job.plan->steps[1])->launches[0]),
                     0);
    gpu_job_check(&job, NULL, 0);
    smp_tuned_free(&tuned);
    gpu_job_free(&job);
}

static char *key_of(const char *statement)
{
    const gpu_case c = {.lines = {statement}, .in = {.kind = SMP_IMAGE, .width = 90, .height = 61, .channels = 3}};
    gpu_job job = gpu_job_make(&c);
    char *key = smp_tuned_step_key(job.plan, &job.plan->steps[1]);
    assert_non_null(key);
    gpu_job_free(&job);
    return key;
}

static void words_that_choose_other_kernels_are_tuned_apart(void **state)
{
    (void)state;
    char *plain = key_of("gaussian 1.5px"), *same = key_of("gaussian 1.4px edge=clamp");
    char *wrap = key_of("gaussian 1.5px edge=wrap");
    assert_string_equal(plain, same);
    assert_string_not_equal(plain, wrap);
    assert_non_null(strstr(wrap, "edge=wrap"));
    smp_free(plain);
    smp_free(same);
    smp_free(wrap);
}

static void nothing_faster_takes_the_entry_away(void **state)
{
    (void)state;
    smp_tuned tuned = {.entries = NULL};
    smp_error err = {0};
    const smp_stage *stage = smp_stage_at(0);
    const smp_tuned_entry some = {.stage = stage, .tuning = {.variant = stage->variants}}, none = {.stage = stage};
    assert_int_equal(smp_tuned_set(&tuned, "d", "w", &some, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, "d", "other", &some, &err), SMP_OK);
    assert_int_equal(smp_tuned_set(&tuned, "d", "w", &none, &err), SMP_OK);
    assert_int_equal(tuned.count, 1);
    assert_string_equal(tuned.entries[0].work, "other");
    smp_tuned_free(&tuned);
}

/* The file as it was written, its size in *size. */
static char *good_file(size_t *size)
{
    gpu_job job = blur_job();
    unlink(tuned_path());
    keep_some(&job, gpu_simt(), &(smp_tuning){.variant = smp_step_default(&job.plan->steps[1]), .knobs = {12}});
    gpu_job_free(&job);
    FILE *file = fopen(tuned_path(), "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    *size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static void a_damaged_file_is_as_good_as_none(void **state)
{
    (void)state;
    size_t size;
    char *text = good_file(&size), note[400];
    while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
        size--;
    for (size_t cut = 0; cut < size; cut++) { /* every beginning of it */
        write_file(text, cut);
        smp_tuned tuned = load(note);
        assert_int_equal(tuned.count, 0);
        assert_non_null(strstr(note, "tuned.json"));
        smp_tuned_free(&tuned);
    }
    for (size_t at = 0; at < size; at++) /* any byte another: nothing that crashes, and no value out of its range */
        for (int turn = 0; turn < 3; turn++) {
            char old = text[at];
            text[at] = turn == 0 ? '9' : turn == 1 ? '"' : (char)0xff;
            write_file(text, size);
            smp_tuned tuned = load(note);
            for (size_t i = 0; i < tuned.count; i++)
                if (tuned.entries[i].tuning.variant)
                    assert_in_range(tuned.entries[i].tuning.knobs[0], 0, 512);
            smp_tuned_free(&tuned);
            text[at] = old;
        }
    free(text);
}

static void replace(char *text, const char *what, const char *with)
{
    char *at = strstr(text, what);
    assert_non_null(at);
    char *rest = strdup(at + strlen(what));
    strcpy(at, with);
    strcat(at, rest);
    free(rest);
}

static void what_means_nothing_here_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *what, *with;
        size_t left;
        const char *note;
    } rows[] = {
        {"\"" SMP_VERSION "\"", "\"0.0.9\"", 0, "0.0.9"},         /* of another version */
        {"smempipe tuned 1", "smempipe tuned 99", 0, "not what"}, /* of another layout */
        {"\"stage\": \"gaussian\"", "\"stage\": \"gausian\"", 1, "1 of its entries"},
        {"\"variant\": \"fused\"", "\"variant\": \"fastest\"", 1, "1 of its entries"},
        {"\"band\": 12", "\"band\": 100000000", 1, "1 of its entries"},
        {"\"band\": 12", "\"band\": 12.5", 1, "1 of its entries"},
        {"\"band\": 12", "\"width\": 12", 1, "1 of its entries"},
        {"\"threads\": 0", "\"threads\": -1", 1, "1 of its entries"},
        {"\"strip_rows\": 40", "\"strip_rows\": 0", 1, "1 of its entries"},
        {"\"strip_rows\": 40", "\"strip_rows\": 1e300", 1, "1 of its entries"},
        {"\"entries\": [", "\"entries\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, "nested too deep"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size;
        char *text = good_file(&size), note[400];
        replace(text, rows[i].what, rows[i].with);
        write_file(text, strlen(text));
        smp_tuned tuned = load(note);
        if (tuned.count != rows[i].left || !strstr(note, rows[i].note))
            fail_msg("%s: %zu entries left; \"%s\"", rows[i].with, tuned.count, note);
        smp_tuned_free(&tuned);
        free(text);
    }
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    char note[400], path[128];
    smp_error err = {0};
    smp_output *output = NULL;
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    setenv("XDG_CACHE_HOME", path, 1); /* a file where the folder should be */
    smp_tuned tuned = load(note);
    assert_string_equal(note, "");
    assert_int_equal(smp_tuned_begin(&tuned, &output, &err), SMP_E_WRITE);
    assert_non_null(strstr(err.hint, "XDG_CACHE_HOME"));
    assert_null(output);
    smp_tuned_free(&tuned);
    setenv("XDG_CACHE_HOME", folder, 1);
}

static smp_code use_what_is_kept(smp_plan *plan, smp_error *err)
{
    char note[400];
    smp_tuned tuned;
    smp_output *output = NULL;
    smp_code code = smp_tuned_load(&tuned, note, sizeof note, err);
    smp_tuned_apply(&tuned, gpu_simt(), plan);
    if (!code)
        code = smp_tuned_begin(&tuned, &output, err);
    if (!code)
        code = smp_tuned_commit(&tuned, output, err);
    smp_tuned_free(&tuned);
    return code;
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    size_t size;
    free(good_file(&size));
    gpu_job job = blur_job();
    smp_error err = {0};
    uint64_t live = smp_alloc_live(), nth = 0;
    smp_code code;
    do {
        smp_alloc_fail_at(++nth);
        code = use_what_is_kept(job.plan, &err);
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        assert_int_equal(smp_alloc_live(), live);
    } while (code);
    assert_true(nth > 10);
    gpu_job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_comes_back_into_plans),
        cmocka_unit_test(words_that_choose_other_kernels_are_tuned_apart),
        cmocka_unit_test(nothing_faster_takes_the_entry_away),
        cmocka_unit_test(a_damaged_file_is_as_good_as_none),
        cmocka_unit_test(what_means_nothing_here_is_left_out),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
