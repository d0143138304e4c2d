/* Who does which file: see deal.h. */
#include "batch/deal.h"

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

int smp_deal_class_of(smp_deal *deal, const char *path, uint64_t bytes)
{
    const uint64_t key = key_of(path, bytes);
    for (int i = 0; i < deal->class_count; i++)
        if (deal->classes[i].key == key)
            return i;
    if (deal->class_count == SMP_DEAL_CLASSES)
        return SMP_DEAL_CLASSES - 1;
    deal->classes[deal->class_count] = (smp_deal_class){.key = key};
    return deal->class_count++;
}

/* Processors that a file on a GPU should find free. Its thread wakes whenever the GPU has done something, and waits for
 * a processor each time where others have them all: so the seconds that such a file takes say little of how much of a
 * processor it needs. It counts as a whole one where the GPUs do more than all processors would, and where its own
 * share is as large as a file's can be while so many are in work. */
static double kept_free(const smp_deal *deal, const smp_deal_class *c)
{
    const double most = 0.6; /* of that share; beyond it a file waits for hardly anything else */
    const double wall = c->wall[SMP_DEAL_GPU], needs = c->processor[SMP_DEAL_GPU], alone = c->processor[SMP_DEAL_CPU];
    const int flying = c->flying[SMP_DEAL_CPU] + c->flying[SMP_DEAL_GPU];
    if (!(wall > 0))
        return 1;
    if (needs < alone && deal->lanes[SMP_DEAL_GPU] * alone > deal->processors * wall)
        return 1;
    const double possible = flying > deal->processors ? (double)deal->processors / flying : 1;
    return needs > most * possible * wall ? 1 : needs / wall;
}

/* Processors that files in work keep busy, or should find free. One of an unknown class counts as one. */
static double busy(const smp_deal *deal)
{
    double sum = 0;
    for (int i = 0; i < deal->class_count; i++) {
        const smp_deal_class *c = &deal->classes[i];
        const double wall = c->wall[SMP_DEAL_CPU];
        sum += c->flying[SMP_DEAL_CPU] * (wall > 0 ? c->processor[SMP_DEAL_CPU] / wall : 1);
        sum += c->flying[SMP_DEAL_GPU] * kept_free(deal, c);
    }
    return sum;
}

/* Whether the processors that the GPUs leave would add little to what the GPUs do, each file at several times the
 * price. They would cost more than that: whatever they have in work slows the threads that feed the GPUs (memory,
 * caches, the kernel's locks), which files on the GPUs show only as a longer wait. */
static bool would_disturb(const smp_deal *deal, const smp_deal_class *c)
{
    const double little = 1.0 / 3, far_fewer = 4;
    const double free = deal->processors - deal->lanes[SMP_DEAL_GPU] * kept_free(deal, c);
    return free * c->wall[SMP_DEAL_GPU] < little * deal->lanes[SMP_DEAL_GPU] * c->processor[SMP_DEAL_CPU] &&
           c->processor[SMP_DEAL_CPU] > far_fewer * c->processor[SMP_DEAL_GPU];
}

/* Whether a file on that kind ends before the other kind would have done it after all that is left. */
static bool in_time(const smp_deal *deal, const smp_deal_class *c, smp_deal_kind kind, uint64_t left)
{
    const smp_deal_kind other = kind == SMP_DEAL_CPU ? SMP_DEAL_GPU : SMP_DEAL_CPU;
    return c->wall[kind] <= c->wall[other] * (1 + (double)left / deal->lanes[other]);
}

bool smp_deal_suits(const smp_deal *deal, smp_deal_kind kind, int class_index, uint64_t left)
{
    const smp_deal_kind other = kind == SMP_DEAL_CPU ? SMP_DEAL_GPU : SMP_DEAL_CPU;
    const smp_deal_class *c = &deal->classes[class_index];
    if (!deal->lanes[other] && !(kind == SMP_DEAL_CPU && deal->gpus_come))
        return true;
    if (kind == SMP_DEAL_CPU && busy(deal) + 0.5 > deal->processors)
        return false;
    if (!deal->lanes[other] || !(c->wall[other] > 0))
        return true;
    const bool better = c->wall[kind] > 0 && c->processor[kind] <= c->processor[other];
    if (!c->done[kind] && !better)
        return c->flying[kind] < TRYING || (kind == SMP_DEAL_GPU && c->wall[other] > LONG);
    if (kind == SMP_DEAL_GPU)
        return better && in_time(deal, c, kind, left);
    if (c->processor[SMP_DEAL_CPU] < c->processor[SMP_DEAL_GPU]) /* GPUs leave it to them */
        return true;
    if (c->done[SMP_DEAL_GPU] && would_disturb(deal, c) && in_time(deal, c, SMP_DEAL_GPU, left))
        return false;
    return in_time(deal, c, kind, left);
}

void smp_deal_begin(smp_deal *deal, smp_deal_kind kind, int class_index)
{
    deal->classes[class_index].flying[kind]++;
}

void smp_deal_end(smp_deal *deal, smp_deal_kind kind, int class_index, smp_deal_worth worth, double wall,
                  double processor)
{
    smp_deal_class *c = &deal->classes[class_index];
    c->flying[kind]--;
    if (worth == SMP_DEAL_NOTHING || (worth == SMP_DEAL_GUESS && c->done[kind]))
        return;
    c->done[kind] += worth == SMP_DEAL_MEASURED;
    const double share = c->done[kind] ? 1 / (double)smp_min_u64(c->done[kind], LATEST) : 1;
    c->wall[kind] += (wall - c->wall[kind]) * share;
    c->processor[kind] += (processor - c->processor[kind]) * share;
}
