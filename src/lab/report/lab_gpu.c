/* Reports a GPU's counts of a program that the lab ran. */
#include "lab/report/lab.h"

void smp_lab_gpu_text(FILE *to, const smp_lab_gpu *gpu)
{
    fprintf(to, "\non the GPU: %zu instructions of %zu kernels counted as told here, %zu differ\n", gpu->same,
            gpu->kernels, gpu->differ);
    for (const char *at = gpu->differences; *at;) {
        const char *end = at;
        while (*end && *end != '\n')
            end++;
        fprintf(to, "  DIFFERS  %.*s\n", (int)(end - at), at);
        at = *end ? end + 1 : end;
    }
    if (gpu->repeated)
        fprintf(to, "  %zu in loops that wait for others: a GPU goes through them more or less often\n", gpu->repeated);
    if (gpu->untold)
        fprintf(to, "  %zu of mbarriers, bulk copies and products of four warps, whose cost is not told here\n",
                gpu->untold);
    if (gpu->left_out > gpu->in_graphs)
        fprintf(to, "  %zu kernels were not compared: their SASS was not counted whole\n",
                gpu->left_out - gpu->in_graphs);
    if (gpu->in_graphs)
        fprintf(to, "  %zu kernels were not compared: they are in graphs, and with these counted the program fails\n",
                gpu->in_graphs);
}
