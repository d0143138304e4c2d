/* Who does which file: see deal.h. */
#include "batch/deal.h"

#include <string.h>

#include "base/checked.h"

enum { TRYING = 2, LATEST = 8 /* files in a mean */ };

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

/* Processors that files in work keep busy. One of an unknown class counts as one processor. */
static double busy(const smp_deal *deal)
{
    double sum = 0;
    for (int i = 0; i < deal->class_count; i++) {
        const smp_deal_class *c = &deal->classes[i];
        for (int kind = 0; kind < SMP_DEAL_KINDS; kind++)
            sum += c->flying[kind] * (c->wall[kind] > 0 ? c->processor[kind] / c->wall[kind] : 1);
    }
    return sum;
}

/* Whether files on the GPUs wait for processors more than for the GPUs, and need far fewer of them than the same files
 * without: more work for processors would then cost more than it brings. */
static bool would_disturb(const smp_deal_class *c)
{
    const double most_share = 0.3, far_fewer = 4;
    return c->processor[SMP_DEAL_GPU] > most_share * c->wall[SMP_DEAL_GPU] &&
           c->processor[SMP_DEAL_CPU] > far_fewer * c->processor[SMP_DEAL_GPU];
}

bool smp_deal_suits(const smp_deal *deal, smp_deal_kind kind, int class_index, uint64_t left)
{
    const smp_deal_kind other = kind == SMP_DEAL_CPU ? SMP_DEAL_GPU : SMP_DEAL_CPU;
    const smp_deal_class *c = &deal->classes[class_index];
    if (!deal->lanes[other])
        return true;
    if (kind == SMP_DEAL_CPU && busy(deal) + 0.5 > deal->processors)
        return false;
    if (!(c->wall[other] > 0))
        return true;
    const bool better = c->wall[kind] > 0 && c->processor[kind] <= c->processor[other];
    if (!c->done[kind] && !better)
        return c->flying[kind] < TRYING;
    if (kind == SMP_DEAL_GPU && !better)
        return false;
    if (kind == SMP_DEAL_CPU && c->done[SMP_DEAL_GPU] && would_disturb(c))
        return false;
    return c->wall[kind] <= c->wall[other] * (1 + (double)left / deal->lanes[other]);
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
