/* See gpu.h. */
#include "lab/time/gpu.h"

#include <string.h>

enum { GPUS = 6 };

static const struct {
    const char *name, *title;
    int arch;
    bool measured;
} gpus[GPUS] = {{"h100", "H100", 90, true}, {"h200", "H200", 90, true},         {"a100", "A100", 80, false},
                {"l4", "L4", 89, false},    {"rtx4090", "RTX 4090", 89, false}, {"b200", "B200", 100, false}};

bool smp_time_gpu_find(const char *name, smp_time_gpu *gpu)
{
    for (int i = 0; i < GPUS; i++)
        if (!strcmp(name, gpus[i].name)) {
            const double *values;
            *gpu = (smp_time_gpu){
                .name = gpus[i].name, .title = gpus[i].title, .arch = gpus[i].arch, .measured = gpus[i].measured};
#define TIME_NUMBER(number, h100, h200, a100, l4, rtx4090, b200, source)                                               \
    values = (const double[GPUS]){h100, h200, a100, l4, rtx4090, b200};                                                \
    gpu->number = values[i];
#include "lab/time/gpus.def"
#undef TIME_NUMBER
            return true;
        }
    return false;
}

bool smp_time_gpu_of(const char *device, int sms, smp_time_gpu *gpu)
{
    /* other boards of the same chips and SMs, with other memory */
    static const char *const others[] = {"NVL", "PCIe", "PCIE", "40GB", "H100 64GB", "H100 96GB", "GH200", "MIG"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(device, others[i]))
            return false;
    for (int i = 0; i < GPUS; i++) {
        const char *at = strstr(device, gpus[i].title);
        const char after = at ? at[strlen(gpus[i].title)] : 0;
        if (at && (at == device || at[-1] == ' ') && (!after || after == ' ' || after == '-') &&
            smp_time_gpu_find(gpus[i].name, gpu) && (int)gpu->sms == sms)
            return true;
    }
    return false;
}

bool smp_time_gpu_of_arch(int arch, smp_time_gpu *gpu)
{
    for (int i = 0; i < GPUS; i++)
        if (gpus[i].arch == arch)
            return smp_time_gpu_find(gpus[i].name, gpu);
    return false;
}

double smp_time_gpu_copy_gbs(const smp_time_gpu *gpu)
{
    return gpu->dram_gbs * gpu->dram_share * (1 - gpu->dram_turn); /* half of a copy's bytes are written */
}

const char *smp_time_gpu_names(void)
{
    return "h100, h200, a100, l4, rtx4090, b200";
}
