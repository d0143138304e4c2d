/* Limits of the control group, read from files as the kernel writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "suite.h"

#include "base/os/machine.h"

static char root[] = "/tmp/smempipe-groups-XXXXXX";

static void put(const char *path, const char *text)
{
    char full[200];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_groups(void **state)
{
    (void)state;
    char path[200];
    if (!mkdtemp(root))
        return -1;
    static const char *const folders[] = {"/a", "/a/b", "/old"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", root, folders[i]);
        if (mkdir(path, 0700))
            return -1;
    }
    put("/a/cpu.max", "150000 100000\n");
    put("/a/b/cpu.max", "max 100000\n");
    put("/a/memory.max", "1073741824\n");
    put("/a/b/memory.max", "4294967296\n");
    put("/old/cpu.cfs_quota_us", "200000\n");
    put("/old/cpu.cfs_period_us", "100000\n");
    put("/old/memory.limit_in_bytes", "9223372036854771712\n");
    return 0;
}

static int remove_groups(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

SMP_TEST(groups_above_bind_too)
{
    assert_true(smp_group_processors(root, "/a/b") == 1.5);
    assert_true(smp_group_memory(root, "/a/b") == 1073741824);
}

SMP_TEST(no_limit_is_none)
{
    assert_true(smp_group_processors(root, "/") == 0);
    assert_true(smp_group_memory(root, "/") == 0);
    assert_true(smp_group_memory(root, "/nowhere") == 0);
}

SMP_TEST(the_older_interface_is_read)
{
    assert_true(smp_group_processors(root, "/old") == 2);
    assert_true(smp_group_memory(root, "/old") == 0);
}

SMP_TEST(the_default_leaves_the_machine_a_quarter)
{
    assert_true(smp_machine_processors() >= 1);
    assert_true(smp_default_memory() > 0);
    assert_true(smp_default_memory() <= smp_machine_memory() / 4 * 3);
    assert_true(smp_default_memory() <= UINT64_C(16) << 30);
}

SMP_TESTS_AROUND(make_groups, remove_groups)
