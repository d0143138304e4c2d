/* Bytes looked up by vectors are the table's, whatever way: by shuffles of 16 and by permutations of 128. Stages take
 * only the fastest that a processor has. */
#include "suite.h"

#include "kernel_case.h"

typedef int64_t look_up_fn(uint8_t *to, const uint8_t *from, int64_t n, uint8_t (*table)[256], int channels);

enum { LONGEST = 1400, CHANNELS = 4, UNTOUCHED = 0xa5 };

static uint8_t next_byte(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return (uint8_t)(*random >> 24);
}

/* For each length: whole pixels are done, as many as are said; nothing behind them is touched. */
__attribute__((unused)) static void check(look_up_fn *look_up, int channels)
{
    uint8_t table[CHANNELS][256], from[LONGEST], to[LONGEST];
    int64_t most = 0;
    uint32_t random = 1;
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < 256; i++)
            table[c][i] = next_byte(&random);
    for (int i = 0; i < LONGEST; i++)
        if (i < 256 * CHANNELS)
            from[i] = (uint8_t)(i / channels);
        else
            from[i] = next_byte(&random);
    for (int n = 0; n <= LONGEST - LONGEST % channels; n += channels) {
        for (int i = 0; i < LONGEST; i++)
            to[i] = UNTOUCHED;
        const int64_t done = look_up(to, from, n, table, channels);
        assert_in_range(done, 0, n);
        assert_int_equal(done % channels, 0);
        for (int i = 0; i < LONGEST; i++)
            assert_int_equal(to[i], i < done ? table[i % channels][from[i]] : UNTOUCHED);
        most = done > most ? done : most;
    }
    assert_true(most >= 256 * channels); /* every index of every channel */
}

#if defined(__x86_64__)
look_up_fn look_up_vectors_v3, look_up_vectors_v4, look_up_permuted;
#endif

SMP_TEST(shuffles_of_32_bytes_find_what_the_table_holds)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        check(look_up_vectors_v3, 1);
        return;
    }
#endif
    skip();
}

SMP_TEST(shuffles_of_64_bytes_find_what_the_table_holds)
{
#if defined(__x86_64__)
    if (case_has_isa(SMP_ISA_V4)) {
        check(look_up_vectors_v4, 1);
        return;
    }
#endif
    skip();
}

SMP_TEST(permutations_find_what_each_channels_table_holds)
{
#if defined(__x86_64__)
    if (case_has_isa(SMP_ISA_V4) && __builtin_cpu_supports("avx512vbmi")) {
        for (int channels = 1; channels <= CHANNELS; channels++)
            check(look_up_permuted, channels);
        return;
    }
#endif
    skip();
}
