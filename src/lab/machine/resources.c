/* Resources that a kernel takes of an SM: registers, as a cubin tells them, and how many of its blocks an SM holds at a
 * time. The limits are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and
 * the units in which registers and shared memory are given those of NVIDIA's occupancy calculator. */
#include <string.h>

#include "lab/machine/elf.h"
#include "lab/machine/warp.h"

/* Attributes of .nv.info whose payload is a symbol and a number. */
enum { WITH_PAYLOAD = 4, REGISTER_COUNT = 0x2f, HEAD = 4 };

bool smp_warp_registers(const void *cubin, size_t size, const char *symbol, uint32_t *registers)
{
    smp_elf e;
    Elf64_Shdr s;
    Elf64_Sym of;
    if (!smp_elf_open(cubin, size, &e))
        return false;
    for (size_t i = 0; i < e.head.e_shnum; i++) {
        if (!smp_elf_section(&e, i, &s) || strcmp(smp_elf_text(&e, &e.names, s.sh_name), ".nv.info") != 0)
            continue;
        const unsigned char *at = smp_elf_bytes(&e, &s), *end = at ? at + s.sh_size : NULL;
        while (at && end - at >= HEAD) {
            const uint8_t format = at[0], attribute = at[1];
            uint16_t bytes;
            uint32_t words[2];
            memcpy(&bytes, at + 2, sizeof bytes);
            at += HEAD;
            if (format != WITH_PAYLOAD)
                continue;
            if (end - at < bytes)
                return false;
            if (attribute == REGISTER_COUNT && bytes >= sizeof words) {
                memcpy(words, at, sizeof words);
                if (!strcmp(smp_elf_symbol(&e, words[0], &of), symbol)) {
                    *registers = words[1];
                    return true;
                }
            }
            at += bytes;
        }
    }
    return false;
}

typedef struct sm {
    int arch;
    uint32_t warps, blocks, shared, shared_unit, reserved; /* shared memory in bytes; reserved: of each block */
} sm;

static const sm sms[] = {
    {70, 64, 32, 96 << 10, 256, 0},     {75, 32, 16, 64 << 10, 256, 0},      {80, 64, 32, 164 << 10, 128, 1024},
    {86, 48, 16, 100 << 10, 128, 1024}, {87, 48, 16, 164 << 10, 128, 1024},  {89, 48, 24, 100 << 10, 128, 1024},
    {90, 64, 32, 228 << 10, 128, 1024}, {100, 64, 32, 228 << 10, 128, 1024}, {120, 48, 24, 100 << 10, 128, 1024},
};

enum { REGISTERS = 65536, REGISTER_UNIT = 256, WARP_UNIT = 4 };

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Warps whose registers an SM has: they are given to warps in units, and to its four parts alike. */
static uint32_t warps_of(uint32_t registers)
{
    const uint32_t of_warp = round_up((registers ? registers : 1) * SMP_WARP, REGISTER_UNIT);
    return REGISTERS / of_warp / WARP_UNIT * WARP_UNIT;
}

uint32_t smp_warp_threads_of(uint32_t registers)
{
    const uint32_t threads = warps_of(registers) * SMP_WARP;
    return threads < SMP_WARP_MAX_THREADS ? threads : SMP_WARP_MAX_THREADS;
}

bool smp_warp_fit_of(int arch, uint32_t registers, uint32_t shared, uint32_t threads, smp_warp_fit *out)
{
    const sm *s = NULL;
    *out = (smp_warp_fit){.arch = 0};
    for (size_t i = 0; i < sizeof sms / sizeof sms[0]; i++)
        if (sms[i].arch <= arch)
            s = &sms[i];
    if (!s || !threads || threads > SMP_WARP_MAX_THREADS || shared > SMP_WARP_MAX_SHARED)
        return false;
    const uint32_t warps = (threads + SMP_WARP - 1) / SMP_WARP;
    const uint32_t by_registers = warps_of(registers) / warps;
    const uint32_t by_shared = s->shared / round_up(shared + s->reserved + !(shared + s->reserved), s->shared_unit);
    const uint32_t by_warps = s->warps / warps;
    uint32_t blocks = s->blocks;
    *out = (smp_warp_fit){.arch = arch, .registers = registers, .limit = "blocks"};
    if (by_warps <= blocks) {
        blocks = by_warps;
        out->limit = "warps";
    }
    if (by_shared < blocks) {
        blocks = by_shared;
        out->limit = "shared memory";
    }
    if (by_registers < blocks) {
        blocks = by_registers;
        out->limit = "registers";
    }
    out->blocks = blocks;
    out->occupancy = (double)(blocks * warps) / s->warps;
    return true;
}
