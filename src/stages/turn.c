/* What the stages that turn and mirror share: one pair of kernels, told by its parameters which way. */
#include <string.h>

#include "stages/turn.h"

const smp_variant smp_turn_variants[] = {
    {.name = "naive",
     .help = "pixel by pixel; one side of a transpose touches a cache line for every sample",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(transpose_naive), .cuda = "transpose_naive"}}},
    {.name = "tiled",
     .help = "square tiles that use whole cache lines on both sides",
     .launches = {{.from = SMP_IN, .to = SMP_OUT, .cpu = SMP_CPU(transpose_tiled), .cuda = "transpose_tiled"}},
     .band = SMP_TURN_TILE},
    {0},
};

void smp_turn_plan(int32_t how, const smp_shape *in, smp_node_plan *work)
{
    const smp_turn turn = {.how = how};
    if (how & SMP_TURN_SWAP) {
        work->out.width = in->height;
        work->out.height = in->width;
    }
    work->nothing = how == SMP_TURN_NONE;
    work->whole = smp_turn_moves_rows(how);
    work->exactness = SMP_MOVE;
    memcpy(work->kernel, &turn, sizeof turn);
    work->kernel_size = sizeof turn;
}
