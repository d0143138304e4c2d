/* --device auto: the CPU unless a GPU's start is worth it, always with a line that says why; and --device cuda, which
 * never becomes anything else. */
#include <string.h>

#include "suite.h"

#include "device/cuda/cuda.h"
#include "device/device.h"

SMP_TEST(small_work_never_pays_for_the_start)
{
    double cpu, gpu;
    /* a 24 megapixel photo through one stage, on one core */
    smp_device_times(&(smp_device_request){.work_bytes = 24e6 * 3 * 8, .transfer_bytes = 24e6 * 3 * 2}, 1, &cpu, &gpu);
    assert_true(cpu < gpu);
    smp_device_times(&(smp_device_request){.work_bytes = 0, .transfer_bytes = 0}, 1, &cpu, &gpu);
    assert_true(cpu == 0 && gpu > 0.3 && gpu < 0.4);
    smp_device_times(&(smp_device_request){.gpus = 4}, 1, &cpu, &gpu);
    assert_true(gpu > 0.8 && gpu < 1.1); /* the driver starts all of them */
}

SMP_TEST(much_work_goes_to_the_gpu_and_more_cores_delay_that)
{
    double cpu, gpu, more, same;
    /* a gigapixel scan through ten stages */
    smp_device_times(&(smp_device_request){.work_bytes = 1e9 * 8 * 10, .transfer_bytes = 1e9 * 2}, 8, &cpu, &gpu);
    assert_true(gpu < cpu);
    smp_device_times(&(smp_device_request){.work_bytes = 1e9 * 8 * 10, .transfer_bytes = 1e9 * 2}, 4, &more, &same);
    assert_true(more > cpu && same == gpu);
    /* one stage over data that has to travel: many cores have done it before it is there and back */
    smp_device_times(&(smp_device_request){.work_bytes = 1e9 * 8, .transfer_bytes = 1e9 * 8}, 64, &cpu, &gpu);
    assert_true(cpu < gpu);
}

SMP_TEST(a_folder_of_jpegs_goes_to_the_gpu_and_one_of_pngs_does_not)
{
    double cpu, gpu;
    const double pixels = 200 * 24e6;
    smp_device_request blur = {.work_bytes = pixels * 3 * 2, .transfer_bytes = pixels * 3 * 2};
    smp_device_times(&blur, 16, &cpu, &gpu);
    assert_true(cpu < gpu); /* what a GPU does not decode has to travel */
    blur.transfer_bytes = 0;
    blur.jpeg_pixels = 2 * pixels;
    smp_device_times(&blur, 16, &cpu, &gpu);
    assert_true(gpu < cpu);
    blur.transfer_bytes = blur.codec_bytes = pixels * 3 * 2;
    blur.jpeg_pixels = 0;
    smp_device_times(&blur, 64, &cpu, &gpu);
    assert_true(cpu < gpu); /* PNGs keep the processors busy */
}

/* 256 files on 32 processors and two H200: 46 files/s without a GPU, 56 with one while it works. */
SMP_TEST(a_folder_of_pngs_that_are_blurred_goes_to_the_gpu)
{
    double cpu, gpu;
    const double pixels = 256 * 24e6;
    const smp_device_request blur = {.work_bytes = pixels * 3 * 8,
                                     .transfer_bytes = pixels * 3 * 2,
                                     .codec_bytes = pixels * 3 * 2,
                                     .operations = pixels * 3 * 50,
                                     .gpus = 2};
    smp_device_times(&blur, 32, &cpu, &gpu);
    assert_true(gpu < 0.9 * cpu);
}

static smp_device *open_device(const smp_device_request *request, char note[160])
{
    smp_device *device = NULL;
    smp_error err = {.code = SMP_OK};
    if (smp_device_open(request, &device, note, 160, &err))
        fail_msg("%s", err.message);
    return device;
}

SMP_TEST(the_choice_comes_with_its_reason)
{
    char note[160];
    smp_device_request request = {.spec = "auto", .threads = 1};
    smp_device *device = open_device(&request, note);
    assert_string_equal(device->info.kind, "cpu");
    assert_non_null(strstr(note, "auto: cpu"));
    smp_device_close(device);

    request.work_bytes = 1e9;
    device = open_device(&request, note);
    assert_string_equal(device->info.kind, "cpu");
    assert_non_null(strstr(note, "pay in a batch of some 2 such files"));
    smp_device_close(device);

    request.transfer_bytes = 1e10; /* more than it saves */
    device = open_device(&request, note);
    assert_non_null(strstr(note, "no number of such files would pay"));
    smp_device_close(device);
    request.transfer_bytes = 0;

    request.work_bytes = 1e13;
    device = open_device(&request, note); /* whatever this machine has: the note tells which it is, and why */
    assert_non_null(strstr(note, device->host_memory ? "auto: cpu, no GPU can be used: " : "auto: cuda"));
    smp_device_close(device);

    request.isa = "base";
    device = open_device(&request, note);
    assert_string_equal(device->info.kind, "cpu");
    smp_device_close(device);

    request.spec = "cpu";
    device = open_device(&request, note);
    assert_string_equal(note, "");
    smp_device_close(device);
    request.spec = NULL; /* auto, without a wish for notes */
    smp_error err;
    assert_int_equal(smp_device_open(&request, &device, NULL, 0, &err), SMP_OK);
    smp_device_close(device);
}

SMP_TEST(cuda_never_falls_back)
{
    smp_device_request request = {.spec = "cuda", .threads = 1, .work_bytes = 1};
    smp_device *device;
    char note[160] = "x";
    smp_error err = {.code = SMP_OK};
    smp_code code = smp_device_open(&request, &device, note, sizeof note, &err);
    assert_string_equal(note, "");
    if (!code) {
        assert_string_equal(device->info.kind, "cuda");
        smp_device_close(device);
        return;
    }
    assert_null(device);
    assert_int_equal(smp_exit_status(code), 5);
    assert_true(err.message[0] && err.hint[0]);
}
