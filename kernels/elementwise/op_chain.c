/* op_chain on the CPU.
 *   naive  sample by sample, operation by operation: the definition.
 *   tiled  bytes through a table that each call makes; all else in blocks in the first-level cache, one vectorised loop
 *          an operation. Memory bandwidth is the bound for bytes, arithmetic for long chains on floats. */
#include "elementwise/op_chain.h"

#include "lib/elementwise.h"

SMP_CPU_KERNEL(op_chain_naive)
{
    const int channels = io->in.channels;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t i = 0; i < io->in.width * channels; i++) {
            const float v = smp_load(smp_row(&io->in, y), i, io->in.format);
            smp_put(io, smp_row(&io->out, y), i,
                    smp_op_chain_sample(params, v, io->in.alpha && i % channels == channels - 1));
        }
}

#define OP(NAME, KINDS, GPU)                                                                                           \
    static void NAME##_all(const smp_sample_op *op, float *restrict v, int64_t n)                                      \
    {                                                                                                                  \
        smp_##NAME p;                                                                                                  \
        memcpy(&p, op->params, sizeof p);                                                                              \
        SMP_KINDS_##KINDS(p, for (int64_t i = 0; i < n; i++) v[i] = smp_##NAME##_sample(v[i], 0, &p));                 \
    }
#include "elementwise/op_list.def"
#undef OP

static void op_chain_block(const smp_io *io, const void *params, float *restrict to, const float *restrict from,
                           int64_t pixels)
{
    static void (*const all[])(const smp_sample_op *op, float *restrict v, int64_t n) = {
#define OP(NAME, KINDS, GPU) [SMP_OP_##NAME] = NAME##_all,
#include "elementwise/op_list.def"
#undef OP
    };
    const smp_op_chain *chain = params;
    const int64_t channels = io->in.channels, n = pixels * channels;
    float kept[256 * SMP_MAX_CHANNELS];
    memcpy(to, from, (size_t)n * sizeof *to);
    for (int k = 0; k < chain->count; k++) {
        const int keeps = io->in.alpha && !chain->op[k].with_alpha;
        for (int64_t i = 0; keeps && i < pixels; i++)
            kept[i] = to[(i + 1) * channels - 1];
        all[chain->op[k].kind](&chain->op[k], to, n);
        for (int64_t i = 0; keeps && i < pixels; i++)
            to[(i + 1) * channels - 1] = kept[i];
    }
}

SMP_CPU_KERNEL(op_chain_tiled)
{
    if (!smp_byte_rows(io, params, y0, y1, 0, 1, op_chain_block))
        smp_point_rows(io, params, y0, y1, op_chain_block);
}
