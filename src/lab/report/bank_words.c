/* Sentences about an access: see bank_words.h. */
#include "lab/report/bank_words.h"

#include <stdio.h>

#include "lab/counters/elements.h"

/* Adds to a text what fits. */
static size_t add(char *text, size_t size, size_t used, const char *before, int number)
{
    if (used >= size)
        return used;
    const int n = snprintf(text + used, size - used, "%s%d", before, number);
    return used + (size_t)(n > 0 ? n : 0);
}

bool smp_bank_turns_text(char *text, size_t size, const smp_bank_access *access)
{
    enum { NAMED = 4 }; /* lanes; more are counted */
    smp_bank_schedule s;
    int turns[SMP_BANKS] = {0}, worst = 0, most = 0, phase = 0;
    smp_bank_schedule_of(access, &s);
    for (int p = 0; p < s.phases; p++)
        for (int bank = 0; bank < SMP_BANKS; bank++) {
            int n = 0;
            for (int i = 0; i < s.count; i++)
                n += s.wavefronts[i].phase == p && s.wavefronts[i].cells[bank].lanes;
            if (n > most)
                most = n, worst = bank, phase = p;
        }
    if (most < 2 || !s.cost.conflicts) /* asynchronous copies take turns that their ideal has, too */
        return false;
    size_t used = 0;
    int n = 0;
    for (int i = 0; i < s.count && n < NAMED; i++) {
        const uint32_t lanes = s.wavefronts[i].cells[worst].lanes;
        if (s.wavefronts[i].phase != phase || !lanes)
            continue;
        turns[n++] = __builtin_ctz(lanes);
    }
    for (int i = 0; i < n; i++)
        used = add(text, size, used, !i ? "lanes " : i + 1 < n || most > n ? ", " : " and ", turns[i]);
    if (most > n)
        used = add(text, size, used, " and ", most - n);
    if (used < size)
        snprintf(text + used, size - used, "%s want different words of bank %d", most > n ? " more" : "", worst);
    return true;
}

double smp_bank_pad_share(const smp_bank_access *access)
{
    smp_bank_change change;
    return smp_advise_change(access, &change) ? change.pad_share : 0;
}

bool smp_bank_advice_text(char *text, size_t size, const smp_bank_access *access, int ideal, const char *name)
{
    smp_advice advice;
    if (!smp_advise_access(access, &advice))
        return false;
    if (!name || !name[0])
        name = "the array";
    const smp_layout *pad = advice.pad.pad ? &advice.pad : &advice.best_pad;
    const int pad_wavefronts = advice.pad.pad ? advice.pad_cost.wavefronts : advice.best_pad_cost.wavefronts;
    if (advice.pad.pad || (pad->pad && !advice.swizzle.mask))
        snprintf(text, size,
                 "pad %s by %lld element%s of %d bytes after each %lld (a row of %lld becomes one of %lld): %d "
                 "wavefront%s",
                 name, (long long)pad->pad, pad->pad == 1 ? "" : "s", access->width, (long long)pad->period,
                 (long long)pad->period, (long long)(pad->period + pad->pad), pad_wavefronts,
                 pad_wavefronts == 1 ? "" : "s");
    else if (advice.swizzle.mask)
        snprintf(text, size, "swizzle %s: element i at i ^ (i/%lld %% %lld): %d wavefronts", name,
                 (long long)advice.swizzle.period, (long long)advice.swizzle.mask + 1, advice.swizzle_cost.wavefronts);
    else if (advice.least > ideal)
        snprintf(text, size, "no pad helps: lanes update one address, one after the other; add up in registers first");
    else
        return false;
    return true;
}
