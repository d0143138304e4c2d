/* The state of a GPU: nothing is known of devices that are none, and nothing fails. With SMP_TEST_DEVICE=cuda the real
 * one must say its clocks and driver. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "device/cpu.h"
#include "device/cuda/cuda.h"
#include "device/cuda/cuda_state.h"
#include "device/simt/simt.h"

SMP_TEST(nothing_is_known_of_other_devices)
{
    smp_device *devices[2];
    smp_error err;
    assert_int_equal(smp_cpu_open(1, NULL, &devices[0], &err), SMP_OK);
    assert_int_equal(smp_cuda_open(smp_driver_simt(), 0, &devices[1], &err), SMP_OK);
    for (int i = 0; i < 2; i++) {
        smp_gpu_state now = {1, 1, true, true};
        char text[40] = "unset";
        assert_false(smp_gpu_state_now(devices[i], &now));
        assert_true(!now.sm_clock && !now.memory_clock && !now.slowed && !now.power_capped);
        smp_gpu_driver_text(devices[i], text, sizeof text);
        assert_string_equal(text, "");
        smp_device_close(devices[i]);
    }
}

/* The emulator passing for a GPU: NVML is asked where it is installed, and knows no such device. */
SMP_TEST(a_device_that_nvml_does_not_know_has_no_state)
{
    smp_driver driver = *smp_driver_simt();
    smp_device *device;
    smp_gpu_state now;
    smp_error err;
    driver.name = "cuda";
    assert_int_equal(smp_cuda_open(&driver, 0, &device, &err), SMP_OK);
    assert_false(smp_gpu_state_now(device, &now));
    smp_device_close(device);
}

SMP_TEST(a_gpu_says_its_clocks_and_driver)
{
    const char *spec = getenv("SMP_TEST_DEVICE");
    smp_device_request request = {.spec = spec};
    smp_device *device;
    smp_gpu_state now;
    char text[96];
    smp_error err;
    if (!spec || strncmp(spec, "cuda", 4))
        skip();
    assert_int_equal(smp_device_open(&request, &device, NULL, 0, &err), SMP_OK);
    assert_true(smp_gpu_state_now(device, &now));
    assert_in_range(now.sm_clock, 100, 5000);
    assert_in_range(now.memory_clock, 100, 30000);
    smp_gpu_driver_text(device, text, sizeof text);
    assert_non_null(strstr(text, "(CUDA "));
    smp_device_close(device);
}
