/* template on the CPU.
 *   naive  place by place: the definition.
 *   tiled  32 places side by side, in double; bytes in integers (template_u8.c). */
#include "reduce/template.h"

SMP_INLINE float *scores_of(const smp_io *io, const smp_template *p, int64_t y)
{
    return (float *)io->result + y * p->across;
}

SMP_CPU_KERNEL(template_scores_naive)
{
    const smp_template *p = params;
    for (int64_t y = y0; y < y1 && y < p->down; y++)
        for (int64_t x = 0; x < p->across; x++)
            scores_of(io, p, y)[x] = smp_template_at(p, io, x, y);
}

SMP_INLINE void add_lanes(double (*restrict sums)[SMP_TEMPLATE_LANES], const float *restrict v, double t)
{
    for (int k = 0; k < SMP_TEMPLATE_LANES; k++) {
        const double i = (double)v[k];
        sums[0][k] = sums[0][k] + i;
        sums[1][k] = sums[1][k] + i * i;
        sums[2][k] = sums[2][k] + i * t;
    }
}

/* Places x .. x + n - 1 of row y. */
static void lanes_of(const smp_io *io, const smp_template *p, int64_t x, int64_t y, int64_t n)
{
    const smp_view *in = &io->in, *by = &io->second;
    double sums[3][SMP_TEMPLATE_LANES] = {{0}};
    smp_template_sums all = smp_template_none();
    for (int64_t dy = 0; dy < p->height; dy++) {
        const void *row = smp_row(in, y + dy), *small = smp_row(by, dy);
        for (int64_t dx = 0; dx < p->width; dx++)
            for (int32_t c = 0; c < p->colours; c++) {
                const double t = (double)smp_load(small, dx * by->channels + c, by->format);
                float v[SMP_TEMPLATE_LANES] = {0};
                for (int64_t k = 0; k < n; k++)
                    v[k] = smp_load(row, (x + dx + k) * in->channels + c, in->format);
                smp_template_add(&all, 0., t);
                add_lanes(sums, v, t);
            }
    }
    for (int64_t k = 0; k < n; k++) {
        all.i = sums[0][k];
        all.ii = sums[1][k];
        all.it = sums[2][k];
        scores_of(io, p, y)[x + k] = smp_template_score(p, &all);
    }
}

SMP_CPU_KERNEL(template_scores_tiled)
{
    const smp_template *p = params;
    y1 = y1 < p->down ? y1 : p->down;
    if (y0 >= y1)
        return;
    if (SMP_PASTE(template_bytes, SMP_ISA)(io, p, scratch, y0, y1))
        return;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < p->across; x += SMP_TEMPLATE_LANES)
            lanes_of(io, p, x, y, p->across - x < SMP_TEMPLATE_LANES ? p->across - x : SMP_TEMPLATE_LANES);
}

SMP_CPU_KERNEL(template_naive)
{
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = 0; x < io->out.width; x++)
            ((float *)smp_row(&io->out, y))[x] = smp_template_pixel(params, io, x, y);
}
