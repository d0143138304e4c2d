/* Parameters that compilers for Python add to those of a source: Triton two addresses of scratch memory at the end,
 * Numba the owner, sizes and strides of each array. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "commands/lab/kernel.h"

enum { MOST_DIMENSIONS = 8, MOST_SCRATCH = 2 };

typedef struct array_word {
    const char *at;
    size_t size;
    uint64_t dims[MOST_DIMENSIONS];
    int rank; /* 0: no array */
} array_word;

/* The next word; false: there is none. */
static bool next_word(const char **args, array_word *w)
{
    *args += strspn(*args, " \t,");
    *w = (array_word){.at = *args, .size = strcspn(*args, " \t")};
    *args += w->size;
    const char *open = memchr(w->at, '[', w->size), *end = w->at + w->size;
    for (char *at; open && open < end && *open != ']' && w->rank < MOST_DIMENSIONS; open = at) {
        w->dims[w->rank++] = strtoull(open + 1, &at, 10);
        if (at == open + 1)
            break; /* which reading the array refuses */
    }
    return w->size > 0;
}

static size_t words_of(const char *args, bool numba)
{
    array_word w;
    size_t count = 0;
    while (next_word(&args, &w))
        count += numba && w.rank ? 5 + 2 * (size_t)w.rank : 1;
    return count;
}

/* An array as Numba passes it: owner, parent, elements, bytes of one, address, sizes, strides. */
static char *numba_words(const char *args)
{
    char *text = smp_strdup("");
    const char *at = args;
    array_word w;
    for (size_t n = 0; text && next_word(&at, &w); n++) {
        smp_kernel_array element = {.element = 1};
        smp_kernel_array_word(args, n, &element);
        uint64_t elements = 1, stride = element.element ? element.element : 1;
        for (int i = 0; i < w.rank; i++)
            elements *= w.dims[i];
        char *more = w.rank ? smp_asprintf("%s0 0 %llu %u %.*s ", text, (unsigned long long)elements, element.element,
                                           (int)w.size, w.at)
                            : smp_asprintf("%s%.*s ", text, (int)w.size, w.at);
        for (int i = 0; i < 2 * w.rank && more; i++) {
            uint64_t value = i < w.rank ? w.dims[i] : stride;
            for (int k = i - w.rank + 1; i >= w.rank && k < w.rank; k++)
                value *= w.dims[k];
            char *longer = smp_asprintf("%s%llu ", more, (unsigned long long)value);
            smp_free(more);
            more = longer;
        }
        smp_free(text);
        text = more;
    }
    return text;
}

/* Whether the PTX is of a source in Python that LLVM compiled, as Triton's is. */
static bool is_triton(const char *ptx)
{
    const char *made = strstr(ptx, "LLVM NVPTX"), *entry = strstr(ptx, ".entry");
    const char *file = strstr(ptx, ".py\"");
    return made && entry && made < entry && file;
}

smp_code smp_kernel_hidden_args(const char *ptx, const smp_warp_kernel *kernel, char **args, char note[200],
                                smp_error *err)
{
    const smp_warp_param *params;
    const size_t count = smp_warp_kernel_params(kernel, &params), given = words_of(*args, false);
    bool addresses = true;
    char *more = *args;
    note[0] = 0;
    for (size_t i = given; i < count; i++)
        addresses = addresses && params[i].size == 8;
    if (given == count)
        return SMP_OK;
    if (strstr(smp_warp_kernel_symbol(kernel), "5ArrayI") && words_of(*args, true) == count) {
        more = numba_words(*args);
        snprintf(note, 200, "Numba's sizes and strides of each array are filled in");
    } else if (given < count && count - given <= MOST_SCRATCH && addresses && ptx && is_triton(ptx)) {
        more = smp_asprintf("%s%s", *args, count - given == 1 ? " 0" : " 0 0");
        snprintf(note, 200, "the last %zu parameters, Triton's scratch memory, are 0", count - given);
    }
    SMP_NEED(more, "arguments", strlen(*args), err);
    if (more != *args)
        smp_free(*args);
    *args = more;
    return SMP_OK;
}
