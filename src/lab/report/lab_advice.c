/* Advises which line of a kernel to look at, what it costs and what to do: bank's search for a layout, on the accesses
 * that ran. */
#include <string.h>

#include "lab/report/bank_words.h"
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

const smp_warp_row *smp_lab_worst(const smp_warp_result *result)
{
    const smp_warp_row *worst = NULL;
    for (size_t i = 0; i < result->row_count; i++)
        if (result->rows[i].conflicts && (!worst || result->rows[i].conflicts > worst->conflicts))
            worst = &result->rows[i];
    return worst;
}

const smp_warp_row *smp_lab_dearest(const smp_warp_result *result)
{
    const smp_warp_row *dearest = NULL;
    for (size_t i = 0; i < result->row_count; i++)
        if (smp_lab_cost(&result->rows[i]) > (dearest ? smp_lab_cost(dearest) : 0))
            dearest = &result->rows[i];
    return dearest;
}

bool smp_lab_access(const smp_warp_row *row, smp_bank_access *access)
{
    if (row->space != SMP_WARP_SHARED || !row->worst_active || row->worst_wavefronts <= row->worst_ideal ||
        row->worst_op >= SMP_BANK_ASYNC)
        return false;
    *access = (smp_bank_access){.op = row->worst_op, .width = (int)row->width, .active = row->worst_active};
    memcpy(access->offset, row->worst_offset, sizeof access->offset);
    return smp_bank_cost_of(access, SMP_BANKS_CC5).conflicts > 0;
}

enum { BANK_ROW = 128 /* bytes of all banks */ };

/* Bytes from a lane's place to the next one's, where that is the same for all; else 0. */
static uint32_t stride_of(const smp_bank_access *access)
{
    uint32_t stride = 0;
    for (int l = 1; l < SMP_WARP; l++) {
        if (!(access->active >> l & 1) || !(access->active >> (l - 1) & 1))
            return 0;
        const uint32_t a = access->offset[l - 1], b = access->offset[l], apart = a > b ? a - b : b - a;
        if (l > 1 && apart != stride)
            return 0;
        stride = apart;
    }
    return stride;
}

/* A layout that frees the worst access of a row. */
static bool against_conflicts(const smp_warp_row *row, char *text, size_t size)
{
    if (!row->worst_active || row->worst_wavefronts <= row->worst_ideal || row->worst_op >= SMP_BANK_ASYNC)
        return false;
    smp_bank_access access = {.op = row->worst_op, .width = (int)row->width, .active = row->worst_active};
    memcpy(access.offset, row->worst_offset, sizeof access.offset);
    if (!smp_bank_advice_text(text, size, &access, (int)row->worst_ideal, row->array))
        return false;
    const uint32_t stride = stride_of(&access), used = (uint32_t)strlen(text);
    if (stride > row->width && stride < BANK_ROW && used < size)
        snprintf(text + used, size - used, "; where it holds structures of %u bytes, make each member an array instead",
                 stride);
    return true;
}

bool smp_lab_advice(const smp_warp_row *row, char *text, size_t size)
{
    if (row->space == SMP_WARP_SHARED)
        return row->conflicts && against_conflicts(row, text, size);
    enum { FEW = 8, FAR = 4 }; /* else rows that begin inside of a sector, say, which no other order of threads mends */
    if (row->sectors < FEW * row->instructions || row->sectors < FAR * row->sectors_ideal)
        return false;
    snprintf(text, size,
             "let neighbouring threads (threadIdx.x) access neighbouring addresses; where rows and columns must be "
             "exchanged, go through a tile in shared memory");
    return true;
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
