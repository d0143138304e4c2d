/* Processors and memory that this process may use: see machine.h. */
#include "base/os/machine.h"

#include "base/os/ranks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_TEXT = 4352, LINE_TEXT = 4096 };

/* Reads the first line of the file ROOT GROUP/NAME, without its end; false: there is no such file. */
static bool read_line(const char *root, const char *group, const char *name, char line[LINE_TEXT])
{
    char path[PATH_TEXT];
    if ((size_t)snprintf(path, sizeof path, "%s%s/%s", root, group, name) >= sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const bool got = fgets(line, LINE_TEXT, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

/* The smallest limit of a group and all groups above it, since each of them applies; 0: none has one. */
static double least(const char *root, const char *group, double (*limit)(const char *, const char *))
{
    char path[LINE_TEXT];
    double found = 0;
    if ((size_t)snprintf(path, sizeof path, "%s", strcmp(group, "/") ? group : "") >= sizeof path)
        return 0;
    for (;;) {
        const double here = limit(root, path);
        if (here > 0 && (found == 0 || here < found))
            found = here;
        char *slash = strrchr(path, '/');
        if (!slash)
            return found;
        *slash = '\0';
    }
}

static double quota(const char *root, const char *group)
{
    char line[LINE_TEXT];
    double used = 0, period = 0;
    if (read_line(root, group, "cpu.max", line)) /* "max 100000" or "150000 100000" */
        return sscanf(line, "%lf %lf", &used, &period) == 2 && period > 0 ? used / period : 0;
    if (!read_line(root, group, "cpu.cfs_quota_us", line) || sscanf(line, "%lf", &used) != 1 || used <= 0 ||
        !read_line(root, group, "cpu.cfs_period_us", line) || sscanf(line, "%lf", &period) != 1 || period <= 0)
        return 0;
    return used / period;
}

static double most_memory(const char *root, const char *group)
{
    char line[LINE_TEXT];
    double bytes = 0;
    if (!read_line(root, group, "memory.max", line) && !read_line(root, group, "memory.limit_in_bytes", line))
        return 0;
    return sscanf(line, "%lf", &bytes) == 1 && bytes < 9e18 ? bytes : 0; /* in version 1 a huge limit means none */
}

double smp_group_processors(const char *root, const char *group)
{
    return least(root, group, quota);
}

uint64_t smp_group_memory(const char *root, const char *group)
{
    return (uint64_t)least(root, group, most_memory);
}

/* The group in /proc/self/cgroup: "0::/path" (version 2), or "4:cpu,cpuacct:/path" for `controller` (version 1). */
static bool own_group(const char *controller, char root[64], char group[LINE_TEXT])
{
    char line[LINE_TEXT];
    bool found = false;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        names++;
        const bool unified = !*names;
        char *rest = NULL;
        for (char *name = strtok_r(names, ",", &rest); name && !found; name = strtok_r(NULL, ",", &rest))
            found = !strcmp(name, controller);
        if (unified || found) {
            snprintf(root, 64, "/sys/fs/cgroup%s%s", unified ? "" : "/", unified ? "" : controller);
            snprintf(group, LINE_TEXT, "%s", path);
            found = true;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* A whole number of at least 1 that the environment says; 0: none. Of "4,2" (OMP_NUM_THREADS) the first. */
static long told(const char *name)
{
    const char *text = getenv(name);
    char *end;
    const long value = text ? strtol(text, &end, 10) : 0;
    return text && end > text && (!*end || *end == ',') && value >= 1 && value < 1 << 20 ? value : 0;
}

/* Processors granted by a scheduler that binds no process (Slurm, PBS, Grid Engine). Unbound ranks on one host share
 * its processors. OMP_NUM_THREADS is a user's limit for all programs. */
static long granted_processors(long usable)
{
    static const char *const names[] = {"SLURM_CPUS_PER_TASK", "PBS_NP", "NCPUS", "NSLOTS", "OMP_NUM_THREADS"};
    const long neighbours = (long)smp_rank_neighbours(), on_node = told("SLURM_CPUS_ON_NODE");
    long least = usable;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const long value = told(names[i]);
        least = value && value < least ? value : least;
    }
    if (on_node && !told("SLURM_CPUS_PER_TASK") && on_node / neighbours < least)
        least = on_node / neighbours;
    if (neighbours > 1 && usable >= sysconf(_SC_NPROCESSORS_ONLN) && usable / neighbours < least)
        least = usable / neighbours;
    return least > 0 ? least : 1;
}

/* Bytes that Slurm grants: so many MB a node, which its ranks share, or a processor. 0: it says nothing. */
static uint64_t granted_memory(void)
{
    const long node = told("SLURM_MEM_PER_NODE"), each = told("SLURM_MEM_PER_CPU");
    const long neighbours = (long)smp_rank_neighbours(), per_task = told("SLURM_CPUS_PER_TASK");
    if (node)
        return ((uint64_t)node << 20) / (uint64_t)neighbours;
    if (!each)
        return 0;
    const long processors = per_task ? per_task : told("SLURM_CPUS_ON_NODE") / neighbours;
    return ((uint64_t)each << 20) * (uint64_t)(processors > 0 ? processors : 1);
}

int smp_machine_processors(void)
{
    cpu_set_t usable;
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (!sched_getaffinity(0, sizeof usable, &usable) && CPU_COUNT(&usable) > 0)
        count = CPU_COUNT(&usable);
    char root[64], group[LINE_TEXT];
    const double paid = own_group("cpu", root, group) ? smp_group_processors(root, group) : 0;
    if (paid > 0 && paid < (double)count)
        count = (long)paid + (paid > (double)(long)paid);
    const long told = granted_processors(count);
    if (told < count)
        count = told;
    return count > 0 ? (int)count : 1;
}

uint64_t smp_machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
    struct rlimit limit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < most)
        most = limit.rlim_cur;
    char root[64], group[LINE_TEXT];
    const uint64_t granted = own_group("memory", root, group) ? smp_group_memory(root, group) : 0;
    if (granted && granted < most)
        most = granted;
    const uint64_t told = granted_memory();
    return told && told < most ? told : most;
}

uint64_t smp_default_memory(void)
{
    const uint64_t most = UINT64_C(16) << 30, here = smp_machine_memory() / 4 * 3;
    return here < most ? here : most;
}
