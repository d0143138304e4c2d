/* Kernels by their names, and what they are given. */
#include <ctype.h>
#include <string.h>

#include "lab/machine/machine.h"

/* The same but for blanks. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static bool is_called(const smp_warp_kernel *kernel, const char *name)
{
    char other[4096];
    const char *symbol = kernel->code.symbol;
    if (same_name(kernel->code.name, name))
        return true;
    smp_warp_source_name(symbol, strlen(symbol), other, sizeof other);
    return !strcmp(other, name) || (smp_warp_full_name(symbol, false, other, sizeof other) && same_name(other, name)) ||
           (smp_warp_full_name(symbol, true, other, sizeof other) && same_name(other, name));
}

/* The names of an Itanium-mangled symbol are their length and letters; of a function's local variable the last one
 * counts, of a function the last before its template arguments and parameters. */
void smp_warp_source_name(const char *symbol, size_t length, char *name, size_t size)
{
    const char *found = symbol;
    size_t found_length = length;
    const bool mangled = length > 3 && symbol[0] == '_' && symbol[1] == 'Z';
    const bool local = mangled && symbol[2] == 'Z';
    size_t at = 2;
    if (local)
        for (size_t i = 3; i < length; i++)
            if (symbol[i - 1] == 'E' && isdigit((unsigned char)symbol[i]))
                at = i;
    while (mangled && at < length && strchr("NLKrV", symbol[at]))
        at++;
    while (mangled && at < length && isdigit((unsigned char)symbol[at])) {
        size_t letters = 0;
        for (; at < length && isdigit((unsigned char)symbol[at]) && letters < length; at++)
            letters = letters * 10 + (size_t)(symbol[at] - '0');
        if (!letters || letters > length - at)
            break;
        found = symbol + at;
        found_length = letters;
        at += letters;
        if (symbol[2] != 'N')
            break;
    }
    snprintf(name, size, "%.*s", (int)(found_length < size ? found_length : size - 1), found);
}

const smp_warp_kernel *smp_warp_kernel_find(const smp_warp_module *module, const char *name, bool *many)
{
    const smp_warp_kernel *found = NULL;
    *many = false;
    for (size_t i = 0; i < smp_warp_kernel_count(module); i++) {
        const smp_warp_kernel *kernel = smp_warp_kernel_at(module, i);
        if (!strcmp(kernel->code.symbol, name)) {
            *many = false;
            return kernel;
        }
        if (!is_called(kernel, name))
            continue;
        *many = *many || found;
        found = kernel;
    }
    return *many ? NULL : found;
}

const char *smp_warp_kernel_symbol(const smp_warp_kernel *kernel)
{
    return kernel->code.symbol;
}
const char *smp_warp_kernel_name(const smp_warp_kernel *kernel)
{
    return kernel->code.name;
}
size_t smp_warp_kernel_params(const smp_warp_kernel *kernel, const smp_warp_param **params)
{
    *params = kernel->code.params;
    return kernel->code.param_count;
}
uint32_t smp_warp_kernel_arch(const smp_warp_kernel *kernel)
{
    return kernel->code.architecture;
}

bool smp_warp_kernel_cluster(const smp_warp_kernel *kernel, uint32_t shape[3])
{
    memcpy(shape, kernel->code.cluster, sizeof kernel->code.cluster);
    return shape[0] != 0;
}

uint32_t smp_warp_kernel_shared(const smp_warp_kernel *kernel)
{
    return kernel->code.shared_bytes;
}
uint32_t smp_warp_kernel_param_bytes(const smp_warp_kernel *kernel)
{
    return kernel->code.param_bytes;
}
const smp_error *smp_warp_kernel_problem(const smp_warp_kernel *kernel)
{
    return kernel->code.problem.code ? &kernel->code.problem : NULL;
}
