/* See cpu_gpu_split.h. */
#include "batch/runner.h"

#include <string.h>

#include "base/checked.h"

enum { TRYING = 2, LATEST = 8 /* files in a mean */ };

/* Seconds of a file on a processor from which all threads of GPUs try at once: until two of them know more, processors
 * would begin files that they keep for longer than such a try takes. */
static const double LONG = 0.5;

static uint64_t key_of(const char *path, uint64_t bytes)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    uint64_t key = 0;
    if (dot && (!slash || dot > slash))
        for (int i = 1; i <= 6 && dot[i]; i++)
            key = key << 8 | (unsigned char)(dot[i] >= 'A' && dot[i] <= 'Z' ? dot[i] - 'A' + 'a' : dot[i]);
    unsigned octave = 0;
    for (; bytes; bytes >>= 1)
        octave++;
    return key << 8 | octave;
}

int smp_split_class_of(smp_cpu_gpu_split *split, const char *path, uint64_t bytes)
{
    const uint64_t key = key_of(path, bytes);
    for (int i = 0; i < split->class_count; i++)
        if (split->classes[i].key == key)
            return i;
    if (split->class_count == SMP_SPLIT_CLASSES)
        return SMP_SPLIT_CLASSES - 1;
    split->classes[split->class_count] = (smp_split_class){.key = key};
    return split->class_count++;
}

/* Processors that a file on a GPU should find free. Its thread wakes whenever the GPU has done something, and waits for
 * a processor each time where others have them all: so the seconds that such a file takes say little of how much of a
 * processor it needs. It counts as a whole one where the GPUs do more than all processors would, and where its own
 * share is as large as a file's can be while so many are in work. */
static double kept_free(const smp_cpu_gpu_split *split, const smp_split_class *c)
{
    const double most = 0.6; /* of that share; beyond it a file waits for hardly anything else */
    const double wall = c->wall[SMP_SPLIT_GPU], needs = c->processor[SMP_SPLIT_GPU],
                 alone = c->processor[SMP_SPLIT_CPU];
    const int flying = c->flying[SMP_SPLIT_CPU] + c->flying[SMP_SPLIT_GPU];
    if (!(wall > 0))
        return 1;
    if (needs < alone && split->lanes[SMP_SPLIT_GPU] * alone > split->processors * wall)
        return 1;
    const double possible = flying > split->processors ? (double)split->processors / flying : 1;
    return needs > most * possible * wall ? 1 : needs / wall;
}

/* Processors that files in work keep busy, or should find free. One of an unknown class counts as one. */
static double busy(const smp_cpu_gpu_split *split)
{
    double sum = 0;
    for (int i = 0; i < split->class_count; i++) {
        const smp_split_class *c = &split->classes[i];
        const double wall = c->wall[SMP_SPLIT_CPU];
        sum += c->flying[SMP_SPLIT_CPU] * (wall > 0 ? c->processor[SMP_SPLIT_CPU] / wall : 1);
        sum += c->flying[SMP_SPLIT_GPU] * kept_free(split, c);
    }
    return sum;
}

/* Whether the processors that the GPUs leave would add little to what the GPUs do, each file at several times the
 * price. They would cost more than that: whatever they have in work slows the threads that feed the GPUs (memory,
 * caches, the kernel's locks), which files on the GPUs show only as a longer wait. */
static bool would_disturb(const smp_cpu_gpu_split *split, const smp_split_class *c)
{
    const double little = 1.0 / 3, far_fewer = 4;
    const double free = split->processors - split->lanes[SMP_SPLIT_GPU] * kept_free(split, c);
    return free * c->wall[SMP_SPLIT_GPU] < little * split->lanes[SMP_SPLIT_GPU] * c->processor[SMP_SPLIT_CPU] &&
           c->processor[SMP_SPLIT_CPU] > far_fewer * c->processor[SMP_SPLIT_GPU];
}

/* Whether a file on that kind ends before the other kind would have done it after all that is left. */
static bool in_time(const smp_cpu_gpu_split *split, const smp_split_class *c, smp_split_kind kind, uint64_t left)
{
    const smp_split_kind other = kind == SMP_SPLIT_CPU ? SMP_SPLIT_GPU : SMP_SPLIT_CPU;
    return c->wall[kind] <= c->wall[other] * (1 + (double)left / split->lanes[other]);
}

bool smp_split_suits(const smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, uint64_t left)
{
    const smp_split_kind other = kind == SMP_SPLIT_CPU ? SMP_SPLIT_GPU : SMP_SPLIT_CPU;
    const smp_split_class *c = &split->classes[class_index];
    if (!split->lanes[other] && !(kind == SMP_SPLIT_CPU && split->gpus_come))
        return true;
    if (kind == SMP_SPLIT_CPU && busy(split) + 0.5 > split->processors)
        return false;
    if (!split->lanes[other] || !(c->wall[other] > 0))
        return true;
    const bool better = c->wall[kind] > 0 && c->processor[kind] <= c->processor[other];
    if (!c->done[kind] && !better)
        return c->flying[kind] < TRYING || (kind == SMP_SPLIT_GPU && c->wall[other] > LONG);
    if (kind == SMP_SPLIT_GPU)
        return better && in_time(split, c, kind, left);
    if (c->processor[SMP_SPLIT_CPU] < c->processor[SMP_SPLIT_GPU]) /* GPUs leave it to them */
        return true;
    if (c->done[SMP_SPLIT_GPU] && would_disturb(split, c) && in_time(split, c, SMP_SPLIT_GPU, left))
        return false;
    return in_time(split, c, kind, left);
}

void smp_split_begin(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index)
{
    split->classes[class_index].flying[kind]++;
}

void smp_split_end(smp_cpu_gpu_split *split, smp_split_kind kind, int class_index, smp_split_confidence confidence,
                   double wall, double processor)
{
    smp_split_class *c = &split->classes[class_index];
    c->flying[kind]--;
    if (confidence == SMP_SPLIT_NOTHING || (confidence == SMP_SPLIT_GUESS && c->done[kind]))
        return;
    c->done[kind] += confidence == SMP_SPLIT_MEASURED;
    const double share = c->done[kind] ? 1 / (double)smp_min_u64(c->done[kind], LATEST) : 1;
    c->wall[kind] += (wall - c->wall[kind]) * share;
    c->processor[kind] += (processor - c->processor[kind]) * share;
}
