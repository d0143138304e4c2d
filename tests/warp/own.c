/* SASS of the program's own kernels, where the build has it: every kernel can be executed. */
#include <dirent.h>
#include <string.h>

#include "suite.h"

#include "warp/own/own.h"

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

SMP_SUITE(own_sass)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_can_be_executed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
