/* Advises which line of a kernel to look at, what it costs and what to do. */
#include <string.h>

#include "lab/report/lab.h"

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

double smp_lab_cost(const smp_warp_row *row)
{
    const bool global = row->space == SMP_WARP_GLOBAL;
    const double sectors =
        global && row->sectors > row->sectors_ideal ? (double)(row->sectors - row->sectors_ideal) : 0;
    return (double)row->conflicts + sectors / 2;
}

const smp_warp_row *smp_lab_dearest(const smp_warp_result *result, unsigned spaces)
{
    const smp_warp_row *dearest = NULL;
    for (size_t i = 0; i < result->row_count; i++)
        if ((spaces >> result->rows[i].space & 1) &&
            smp_lab_cost(&result->rows[i]) > (dearest ? smp_lab_cost(dearest) : 0))
            dearest = &result->rows[i];
    return dearest;
}

bool smp_lab_access(const smp_warp_row *row, bool any, smp_bank_access *access)
{
    if (row->space != SMP_WARP_SHARED || !row->worst_active || row->worst_op >= SMP_BANK_ASYNC)
        return false;
    *access = (smp_bank_access){.op = row->worst_op, .width = (int)row->width, .active = row->worst_active};
    memcpy(access->offset, row->worst_offset, sizeof access->offset);
    return any || smp_bank_cost_of(access).conflicts > 0;
}

/* Against lanes that lie apart in global memory: counted with all accesses of this stride side by side, as a layout is
 * one for loads and stores. */
static bool against_strides(const smp_warp_result *result, const smp_warp_row *row, char *text, size_t size)
{
    enum { STRUCTURE = 64, VECTOR = 16 /* bytes, at most */, OPS = SMP_WARP_COPY + 1 };
    uint64_t all = 0, gone = 0, strided[OPS] = {0}, bytes[OPS] = {0}, between[OPS] = {0};
    for (size_t i = 0; i < result->row_count; i++) {
        const smp_warp_row *r = &result->rows[i];
        all += r->space == SMP_WARP_GLOBAL ? r->sectors : 0;
        if (r->space != SMP_WARP_GLOBAL || r->stride != row->stride || r->by_data)
            continue;
        const uint64_t lies = r->most_lanes * r->stride * result->launches;
        strided[r->op] += r->strided;
        bytes[r->op] += r->lanes * r->width;
        between[r->op] = lies > between[r->op] ? lies : between[r->op];
    }
    const bool vector =
        row->stride <= VECTOR && !(row->stride & (row->stride - 1)) && bytes[row->op] >= between[row->op];
    for (int op = 0; op < OPS; op++)
        gone += !vector || bytes[op] >= between[op] ? strided[op] : 0;
    if (!row->stride || row->by_data || gone * 100 < all || !gone) /* less than 1 % is not worth a change */
        return false;
    char what[200];
    if (row->stride > STRUCTURE)
        snprintf(what, sizeof what,
                 "let neighbouring threads (threadIdx.x) access neighbouring addresses; where rows and columns must be "
                 "exchanged, go through a tile in shared memory");
    else if (vector)
        snprintf(what, sizeof what, "let a thread access its %u bytes at once, as a vector (aligned to %u bytes)",
                 row->stride, row->stride);
    else
        snprintf(what, sizeof what,
                 "threads lie %u bytes apart: let what they access at a time lie side by side, as "
                 "members of structures do in an array each",
                 row->stride);
    snprintf(text, size, "%s: the kernel's %llu sectors become %llu", what, (unsigned long long)all,
             (unsigned long long)(all - gone));
    return true;
}

bool smp_lab_advice(const smp_warp_result *result, const smp_warp_row *row, char *text, size_t size)
{
    if (row->space == SMP_WARP_SHARED) {
        for (size_t i = 0; i < result->array_count && row->conflicts; i++)
            if (result->arrays[i].tip[0] && !strcmp(result->arrays[i].name, row->array)) {
                snprintf(text, size, "%s", result->arrays[i].tip);
                return true;
            }
        return false;
    }
    return against_strides(result, row, text, size);
}

void smp_lab_verdict(const smp_warp_row *row, char *text, size_t size)
{
    if (row->space == SMP_WARP_SHARED)
        snprintf(text, size, "a %.3g-way conflict: %llu of its %llu wavefronts are conflicts",
                 ratio(row->wavefronts, row->ideal), (unsigned long long)row->conflicts,
                 (unsigned long long)row->wavefronts);
    else
        snprintf(text, size, "each instruction moves %.3g sectors where %.3g would do",
                 ratio(row->sectors, row->instructions), ratio(row->sectors_ideal, row->instructions));
}
