/* Chooses the blocks of a grid that run, if not all shall. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/warp.h"

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

smp_code smp_warp_choose_blocks(const char *text, uint64_t blocks, uint64_t **list, uint64_t *count, smp_error *err)
{
    char *end;
    *list = NULL;
    *count = 0;
    if (!text || !strcmp(text, "all"))
        return SMP_OK;
    const bool number = isdigit((unsigned char)text[0]);
    uint64_t wanted = number ? strtoull(text, &end, 10) : 3;
    if (number && (*end || !wanted))
        return smp_fail(err, SMP_E_USAGE, "--blocks %s is not a valid number of blocks", text),
               smp_hint(err, "all; first,middle,last; or a number");
    wanted = wanted < blocks ? wanted : blocks;
    uint64_t *chosen = *list = smp_alloc_array((size_t)wanted, sizeof *chosen);
    SMP_NEED(chosen, "--blocks", wanted * sizeof *chosen, err);
    if (number) {
        for (uint64_t i = 0; i < wanted; i++)
            chosen[i] = wanted > 1 ? (uint64_t)((double)i * (double)(blocks - 1) / (double)(wanted - 1)) : 0;
        *count = wanted;
        return SMP_OK;
    }
    for (const char *at = text; *at;) {
        const size_t size = strcspn(at, ",");
        uint64_t block;
        if (size == 5 && !memcmp(at, "first", 5))
            block = 0;
        else if (size == 6 && !memcmp(at, "middle", 6))
            block = blocks / 2;
        else if (size == 4 && !memcmp(at, "last", 4))
            block = blocks - 1;
        else {
            smp_fail(err, SMP_E_USAGE, "--blocks: '%.*s' is not a valid block", (int)size, at);
            return smp_hint(err, "all; first,middle,last; or a number");
        }
        bool had = false;
        for (uint64_t i = 0; i < *count; i++)
            had = had || chosen[i] == block;
        if (!had && *count < wanted)
            chosen[(*count)++] = block;
        at += size + (at[size] == ',');
    }
    qsort(chosen, (size_t)*count, sizeof *chosen, by_number);
    return SMP_OK;
}
