/* Constant banks, from which SASS reads the launch's shape (bank 0), its parameters (bank 0, from param_base on),
 * __constant__ variables (bank 3), addresses of variables (bank 4) and numbers (bank 2). The layout of bank 0 is that
 * of compute capability 5.0 and newer, or of 10.0 and newer. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "lab/machine/cluster.h"

enum { BLOCK_SHAPE = 0, GRID_SHAPE = 12, LOCAL_WINDOW = 0x20, STACK = 0x28, SLACK = 16 };
enum {
    PARAM_BASE_100 = 0x380,
    LOCAL_WINDOW_100 = 0x2f8,
    BLOCK_SHAPE_100 = 0x360,
    GRID_SHAPE_100 = 0x370,
    STACK_100 = 0x37c
};
enum { PARAM_ADDRESS = 0x198, PARAM_BASE_90 = 0x210 }; /* where 9.0 has the generic address of the parameters */

/* Offsets from which 9.0 keeps clusters: whether there are some, their shape, its reciprocals, the grid's, and their
 * size. */
enum { IS_CLUSTER = 0x140, CLUSTER_SHAPE = 0x144, CLUSTER_PARTS = 0x150, CLUSTERS = 0x15c, CLUSTER_SIZE = 0x188 };

/* A number times the reciprocal, cut to an integer, is the quotient. */
static float reciprocal(uint32_t number)
{
    const float r = 1.f / (float)number;
    return number & (number - 1) ? nextafterf(r, 1) : r;
}

void warp_put_cluster(const warp_block *block)
{
    const warp_cluster *c = block->cluster;
    unsigned char *bytes = (unsigned char *)(uintptr_t)block->banks[0];
    if (block->code->param_base != PARAM_BASE_90)
        return;
    const uint32_t is_explicit = c && c->is_explicit, size = c ? c->size : 1;
    memcpy(bytes + IS_CLUSTER, &is_explicit, sizeof is_explicit);
    memcpy(bytes + CLUSTER_SIZE, &size, sizeof size);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t n = c ? c->shape[i] : 1, count = block->launch->grid[i] / n;
        const float part = reciprocal(n);
        memcpy(bytes + CLUSTER_SHAPE + 4 * i, &n, sizeof n);
        memcpy(bytes + CLUSTER_PARTS + 4 * i, &part, sizeof part);
        memcpy(bytes + CLUSTERS + 4 * i, &count, sizeof count);
    }
}

void warp_free_bank(warp_bank *bank)
{
    smp_free_all(bank->bytes, bank->parts);
    memset(bank, 0, sizeof *bank);
}

/* Bank 0 of a launch; null: no memory. */
static unsigned char *first_bank(const warp_block *block, uint32_t *size)
{
    const smp_warp_launch *launch = block->launch;
    const warp_code *code = block->code;
    const uint64_t local = WARP_LOCAL_WINDOW, parameters = WARP_PARAM_WINDOW;
    *size = code->param_base + code->param_bytes;
    unsigned char *bytes = smp_alloc((size_t)*size + SLACK);
    if (!bytes)
        return NULL;
    const bool newer = code->param_base >= PARAM_BASE_100;
    memcpy(bytes + (newer ? BLOCK_SHAPE_100 : BLOCK_SHAPE), launch->block, sizeof launch->block);
    memcpy(bytes + (newer ? GRID_SHAPE_100 : GRID_SHAPE), launch->grid, sizeof launch->grid);
    memcpy(bytes + (newer ? LOCAL_WINDOW_100 : LOCAL_WINDOW), &local, sizeof local);
    memcpy(bytes + (newer ? STACK_100 : STACK), &code->first_local, sizeof code->first_local);
    if (code->param_base == PARAM_BASE_90)
        memcpy(bytes + PARAM_ADDRESS, &parameters, sizeof parameters);
    if (code->param_bytes)
        memcpy(bytes + code->param_base, launch->params, code->param_bytes);
    return bytes;
}

smp_code warp_open_banks(warp_block *block, smp_error *err)
{
    for (uint32_t i = 0; i < WARP_BANKS; i++) {
        const warp_bank *bank = &block->code->banks[i];
        if (i && !bank->size)
            continue;
        block->bank_sizes[i] = bank->size;
        unsigned char *bytes = i ? smp_alloc((size_t)bank->size + SLACK) : first_bank(block, &block->bank_sizes[0]);
        SMP_NEED(bytes, "a constant bank", bank->size, err);
        block->banks[i] = bytes;
        if (i && bank->bytes)
            memcpy(bytes, bank->bytes, bank->size);
        for (size_t k = 0; k < bank->part_count; k++)
            memcpy(bytes + bank->parts[k].offset, bank->parts[k].memory, bank->parts[k].size);
    }
    warp_put_cluster(block);
    return SMP_OK;
}

void warp_close_banks(warp_block *block)
{
    for (uint32_t i = 0; i < WARP_BANKS; i++)
        smp_free((void *)(uintptr_t)block->banks[i]);
}

void warp_fill_bank_rows(const warp_block *block, warp_frame *frame)
{
    const warp_code *code = frame->code;
    for (size_t i = 0; i < code->bank_row_count; i++) {
        const warp_bank_row *b = &code->bank_rows[i];
        uint32_t word = 0;
        if (b->bank < WARP_BANKS && (uint64_t)b->offset + sizeof word <= block->bank_sizes[b->bank])
            memcpy(&word, block->banks[b->bank] + b->offset, sizeof word);
        for (int l = 0; l < WARP_LANES; l++)
            warp_words(frame, b->row)[l] = word;
    }
}
