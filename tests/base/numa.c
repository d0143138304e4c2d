/* Memory nodes: what a made sysfs says of devices and processors is followed. */
#include "suite.h"

#include "media_fixture.h"

#include <pthread.h>
#include <sched.h>

#include "base/os/numa.h"

static int remove_tree(void **context)
{
    char command[100];
    (void)context;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put_line(const char *folders, const char *name, const char *line)
{
    char command[400];
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", folder, folders);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/%s", folders, name);
    store(in_folder(command), line, strlen(line));
}

SMP_TEST_AROUND(a_device_is_next_to_the_node_that_sysfs_names, make_folder, remove_tree)
{
    put_line("bus/pci/devices/0001:c1:00.0", "numa_node", "1\n");
    put_line("bus/pci/devices/0001:c2:00.0", "numa_node", "-1\n");
    put_line("devices/system/node/node0", "cpulist", "0-1\n");
    assert_int_equal(smp_numa_node_of_pci(folder, 1, 0xc1, 0), -1); /* the host has one node */
    put_line("devices/system/node/node1", "cpulist", "2-3\n");
    assert_int_equal(smp_numa_node_of_pci(folder, 1, 0xc1, 0), 1);
    assert_int_equal(smp_numa_node_of_pci(folder, 1, 0xc2, 0), -1);
    assert_int_equal(smp_numa_node_of_pci(folder, 0, 0xc1, 0), -1);
}

static int last_of(const cpu_set_t *set)
{
    int last = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        last = CPU_ISSET((size_t)i, set) ? i : last;
    return last;
}

static void *stay_twice(void *context)
{
    cpu_set_t now;
    const int last = *(int *)context;
    assert_true(smp_numa_stay(folder, 1));
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    assert_true(CPU_ISSET((size_t)last, &now));
    assert_false(smp_numa_stay(folder, 2)); /* processors that nobody has */
    assert_false(smp_numa_stay(folder, 3));
    assert_false(smp_numa_stay(folder, -1));
    assert_true(smp_numa_stay(folder, 0)); /* another node, though the thread was on one already */
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_COUNT(&now) >= 1);
    return NULL;
}

SMP_TEST_AROUND(a_thread_stays_on_the_processors_of_its_node, make_folder, remove_tree)
{
    cpu_set_t before, after;
    pthread_t thread;
    char line[40];
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int last = last_of(&before);
    put_line("devices/system/node/node0", "cpulist", "0-1022\n");
    snprintf(line, sizeof line, "1020-1021,%d\n", last);
    put_line("devices/system/node/node1", "cpulist", line);
    put_line("devices/system/node/node2", "cpulist", "1021-1022\n");
    assert_int_equal(pthread_create(&thread, NULL, stay_twice, &last), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
}
