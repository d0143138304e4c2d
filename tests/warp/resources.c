/* Resources that kernels take of an SM: registers of a cubin are tested with the programs; here limits, worked out by
 * hand. */
#include <string.h>

#include "suite.h"

#include "lab/machine/warp.h"

SMP_TEST(blocks_of_an_sm)
{
    static const struct {
        int arch;
        uint32_t registers, shared, threads, blocks;
        double occupancy;
        const char *limit;
    } cases[] = {
        {90, 32, 0, 256, 8, 1, "warps"},
        {90, 64, 0, 256, 4, 0.5, "registers"},
        {90, 65, 0, 256, 3, 0.375, "registers"}, /* 72 registers: 28 warps */
        {90, 255, 0, 1024, 0, 0, "registers"},   /* no block fits */
        {90, 32, 0, 32, 32, 0.5, "blocks"},
        {90, 32, 100 << 10, 128, 2, 0.125, "shared memory"}, /* 101 KB each of 228 */
        {80, 32, 40 << 10, 256, 4, 0.5, "shared memory"},    /* 41 KB each of 164 */
        {86, 40, 0, 256, 6, 1, "warps"},
        {89, 32, 0, 64, 24, 1, "warps"},
        {89, 32, 0, 32, 24, 0.5, "blocks"},
        {120, 32, 48 << 10, 512, 2, 32.0 / 48, "shared memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_warp_fit fit;
        assert_true(smp_warp_fit_of(cases[i].arch, cases[i].registers, cases[i].shared, cases[i].threads, &fit));
        if (fit.blocks != cases[i].blocks || strcmp(fit.limit, cases[i].limit) != 0)
            fail_msg("case %zu: %u blocks, limited by %s", i, fit.blocks, fit.limit);
        assert_true(fit.occupancy == cases[i].occupancy);
    }
}

SMP_TEST(what_is_no_block_is_refused)
{
    smp_warp_fit fit;
    assert_false(smp_warp_fit_of(60, 32, 0, 256, &fit));
    assert_false(smp_warp_fit_of(90, 32, 0, 0, &fit));
    assert_false(smp_warp_fit_of(90, 32, 0, 1025, &fit));
    assert_int_equal(fit.arch, 0);
}

SMP_TEST(a_damaged_cubin_tells_nothing)
{
    uint32_t registers;
    unsigned char bytes[64] = "\177ELF\2";
    assert_false(smp_warp_registers("", 0, "f", &registers));
    for (size_t i = 5; i < sizeof bytes; i++)
        for (int value = 0; value < 256; value += 51) {
            memset(bytes + 5, 0x40, sizeof bytes - 5);
            bytes[i] = (unsigned char)value;
            assert_false(smp_warp_registers(bytes, sizeof bytes, "f", &registers));
        }
}
