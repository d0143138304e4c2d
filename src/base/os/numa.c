/* Memory nodes from sysfs: see numa.h. Formats: Documentation/ABI/stable/sysfs-devices-node (cpulist) and
 * testing/sysfs-bus-pci (numa_node) of the Linux kernel. */
#include "base/os/numa.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_TEXT = 4096 };

static bool read_line(const char *path, char line[LINE_TEXT])
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const bool got = fgets(line, LINE_TEXT, file) != NULL;
    fclose(file);
    return got;
}

int smp_numa_node_of_pci(const char *root, int domain, int bus, int device)
{
    char path[LINE_TEXT], line[LINE_TEXT];
    snprintf(path, sizeof path, "%s/devices/system/node/node1/cpulist", root);
    if (access(path, R_OK) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/bus/pci/devices/%04x:%02x:%02x.0/numa_node", root, (unsigned)domain, (unsigned)bus,
             (unsigned)device);
    return read_line(path, line) ? atoi(line) : -1; /* the kernel says -1 as well */
}

/* Adds the processors of a list such as "0-15,32-47" that are allowed; how many there are. */
static int take_list(const char *list, const cpu_set_t *allowed, cpu_set_t *to)
{
    int taken = 0;
    CPU_ZERO(to);
    for (const char *at = list; *at >= '0' && *at <= '9';) {
        char *end;
        const long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET((size_t)cpu, allowed)) {
                CPU_SET((size_t)cpu, to);
                taken++;
            }
        at = *end == ',' ? end + 1 : end;
    }
    return taken;
}

bool smp_numa_stay(const char *root, int node)
{
    char path[LINE_TEXT], line[LINE_TEXT];
    cpu_set_t allowed, there;
    if (node < 0)
        return false;
    snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", root, node);
    return read_line(path, line) && sched_getaffinity(getpid(), sizeof allowed, &allowed) == 0 &&
           take_list(line, &allowed, &there) > 0 && sched_setaffinity(0, sizeof there, &there) == 0;
}
