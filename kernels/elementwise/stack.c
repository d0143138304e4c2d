/* stack on the CPU.
 *   naive  sample by sample.
 *   tiled  a block of samples of all pictures at a time: sums, or keys that stay in cache while bits are tried. */
#include "elementwise/stack.h"
#include "lib/elementwise.h"

static void each_sample(const smp_io *io, const smp_stack *p, int64_t y)
{
    for (int64_t i = 0; i < io->out.width * io->out.channels; i++)
        smp_put(io, smp_row(&io->out, y), i, smp_stack_sample(io, p, y, i, io->in.format));
}

SMP_CPU_KERNEL(stack_naive)
{
    for (int64_t y = y0; y < y1; y++)
        each_sample(io, params, y);
}

/* m samples of n pictures; `from` is where the first one's are. */
typedef struct block {
    const char *from;
    int64_t stride, n, m;
    int format;
} block;

/* One after the other: the sum of each, or its extreme. */
static void walk_block(const block *b, int32_t how, float *made)
{
    const uint32_t turn = how == SMP_STACK_MOST ? UINT32_MAX : 0;
    const int sums = how == SMP_STACK_MEAN || how == SMP_STACK_SUM;
    double sum[SMP_STACK_BLOCK] = {0};
    uint32_t least[SMP_STACK_BLOCK];
    float one[SMP_STACK_BLOCK];
    memset(least, 0xFF, sizeof least);
    for (int64_t j = 0; j < b->n; j++) {
        smp_load_row(one, b->from + j * b->stride, b->format, b->m);
        for (int64_t i = 0; sums && i < b->m; i++)
            sum[i] += (double)one[i];
        for (int64_t i = 0; !sums && i < b->m; i++) {
            const uint32_t key = smp_stack_key(one[i]) ^ turn;
            least[i] = key < least[i] ? key : least[i];
        }
    }
    for (int64_t i = 0; i < b->m; i++)
        made[i] = sums ? smp_stack_mean(sum[i], b->n, how) : smp_stack_value(least[i] ^ turn);
}

/* As smp_stack_ranked. */
static void ranked_block(const uint32_t *keys, const block *b, int64_t rank, uint32_t *found)
{
    uint32_t below[SMP_STACK_BLOCK];
    memset(found, 0, SMP_STACK_BLOCK * sizeof *found);
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        memset(below, 0, sizeof below);
        for (int64_t j = 0; j < b->n; j++)
            for (int64_t i = 0; i < b->m; i++)
                below[i] += keys[j * SMP_STACK_BLOCK + i] < (found[i] | bit);
        for (int64_t i = 0; i < b->m; i++)
            found[i] |= below[i] <= rank ? bit : 0;
    }
}

static void middle_block(const block *b, uint32_t *keys, float *made)
{
    uint32_t low[SMP_STACK_BLOCK], high[SMP_STACK_BLOCK];
    for (int64_t j = 0; j < b->n; j++) {
        smp_load_row(made, b->from + j * b->stride, b->format, b->m);
        for (int64_t i = 0; i < b->m; i++)
            keys[j * SMP_STACK_BLOCK + i] = smp_stack_key(made[i]);
    }
    ranked_block(keys, b, (b->n - 1) / 2, low);
    if (b->n % 2 == 0)
        ranked_block(keys, b, b->n / 2, high);
    for (int64_t i = 0; i < b->m; i++)
        made[i] = smp_stack_middle(low[i], b->n % 2 ? low[i] : high[i]);
}

SMP_CPU_KERNEL(stack_tiled)
{
    const smp_stack *p = params;
    const int64_t across = io->out.width * io->out.channels, to = smp_sample_size(io->out.format);
    float made[SMP_STACK_BLOCK];
    for (int64_t y = y0; y < y1; y++) {
        if (across < SMP_STACK_NARROW) {
            each_sample(io, p, y);
            continue;
        }
        for (int64_t i = 0; i < across; i += SMP_STACK_BLOCK) {
            const block b = {(const char *)smp_row(&io->in, y * p->count) + i * smp_sample_size(io->in.format),
                             io->in.stride, smp_stack_rows(io, p, y),
                             across - i < SMP_STACK_BLOCK ? across - i : SMP_STACK_BLOCK, io->in.format};
            if (p->how == SMP_STACK_MEDIAN)
                middle_block(&b, scratch, made);
            else
                walk_block(&b, p->how, made);
            smp_store_row((char *)smp_row(&io->out, y) + i * to, io->out.format, made, b.m, io->clipped);
        }
    }
}
