/* Exact sums against those of Python's fractions, in any order and grouping; moments of files likewise; their bytes. */
#include <math.h>
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "base/exact.h"
#include "stages/shared/reduce/moments.h"

enum { MOST = 12 };

/* sum(Fraction(term)) as float(sum), float(sum - float(sum)): at ties, over carries of many digits, at the ends of the
 * range. */
static const struct {
    int count;
    double terms[MOST], high, low;
} sums[] = {
    {3, {0x1.1c37937e08000p+53, 0x1.0000000000000p+0, -0x1.1c37937e08000p+53}, 0x1.0000000000000p+0, 0x0.0p+0},
    {4,
     {0x1.0000000000000p+53, 0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x0.0000000000001p-1022},
     0x1.0000000000001p+53,
     0x0.0000000000001p-1022},
    {3,
     {0x0.0000000000001p-1022, -0x0.0000000000002p-1022, 0x1.fffffffffffffp+1023},
     0x1.fffffffffffffp+1023,
     -0x0.0000000000001p-1022},
    {2, {0x1.0000000000000p+0, 0x1.0000000000000p-53}, 0x1.0000000000000p+0, 0x1.0000000000000p-53},
    {3,
     {0x1.0000000000000p+0, 0x1.0000000000000p-53, 0x1.0000000000000p-1000},
     0x1.0000000000001p+0,
     -0x1.0000000000000p-53},
    {2, {0x1.0000000000001p+0, 0x1.0000000000000p-53}, 0x1.0000000000002p+0, -0x1.0000000000000p-53},
    {3,
     {-0x1.0000000000000p+0, -0x1.0000000000000p-53, -0x0.0000000000001p-1022},
     -0x1.0000000000001p+0,
     0x1.0000000000000p-53},
    {10,
     {0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4,
      0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4, 0x1.999999999999ap-4},
     0x1.0000000000000p+0,
     0x1.0000000000000p-54},
    {5,
     {0x1.0000000000000p+31, -0x1.0000000000000p+63, 0x1.0000000000000p+95, -0x1.0000000000000p+127,
      0x1.0000000000000p-33},
     -0x1.fffffffe00000p+126,
     -0x1.fffffffe00000p+62},
    {4,
     {0x1.7e43c8800759cp+996, 0x1.0000000000000p+0, -0x1.7e43c8800759cp+996, -0x1.0000000000000p+0},
     0x0.0p+0,
     0x0.0p+0},
    {4,
     {0x0.0000000000001p-1022, 0x0.0000000000001p-1022, 0x0.0000000000001p-1022, -0x1.0000000000000p-1022},
     -0x0.ffffffffffffdp-1022,
     0x0.0p+0},
    {12,
     {0x1.152125425b7b2p-784, 0x1.665f0fbb3e84ep-938, -0x1.68110f5913f13p+211, -0x1.d8ad5eb174f64p+653,
      0x1.39be1ca37417ap+142, 0x1.ec2c0e0045dcep-702, -0x1.50dd9001a6566p-1013, 0x1.c309ba0825acbp-301,
      0x1.85bd63f658226p+80, -0x1.0bc19bafe6860p-399, 0x1.0c5f76eb1135cp+470, 0x1.15d898f61f037p+75},
     -0x1.d8ad5eb174f64p+653,
     0x1.0c5f76eb1135cp+470},
    {12,
     {0x1.75c178af34e81p-705, 0x1.8d91d937f5a19p+647, 0x1.1435fd3cca141p+984, 0x1.45566fb46a844p+574,
      -0x1.dc4315875d214p+26, 0x1.875dfce5ca601p+597, 0x1.9986be3a6cfcep-27, 0x1.bb812645ec117p-337,
      -0x1.e9e041f9ae58ap-966, -0x1.c15f37f54cdf7p-198, 0x1.b6ba3c3c082eap-190, 0x1.84e858631af84p+182},
     0x1.1435fd3cca141p+984,
     0x1.8d91d937f5a1fp+647},
    {12,
     {0x1.1673e2f3915cbp+991, -0x1.25086b499b037p-641, -0x1.94315531482a1p-150, -0x1.b62b8e2e0a81bp-822,
      0x1.f3d1f2b22697fp-1011, -0x1.f86ae9808b92cp+1012, -0x1.421b762ae0371p+618, 0x1.d79ccfc2569f9p+1002,
      -0x1.016b1237ca403p+32, 0x1.530d2e14f0d18p-132, -0x1.f5d5b6aea5ff1p+602, -0x1.bb5d75f33da49p+219},
     -0x1.f7f4f998fbe58p+1012,
     0x1.1bb9600000000p+958},
    {12,
     {-0x1.87052354a14fep+483, -0x1.fc41f7e9d92c8p+751, -0x1.c62ffedeae059p-93, -0x1.7746cffd3e0bbp+11,
      0x1.57994f08869acp+26, 0x1.a18f59c7b00aep-874, -0x1.13ba23c708df9p-504, 0x1.be5db81d9ec77p+870,
      -0x1.fd99aa654f1dfp-992, 0x1.2bd194bc42dedp+831, -0x1.3ce48fca61ddcp-92, -0x1.b157c15a2e56ap+394},
     0x1.be5db81da11f1p+870,
     0x1.94bc42ded0000p+815},
    {12,
     {0x1.55e233c1dd00dp+213, -0x1.afffe34062cb2p-746, 0x1.00edd2ae3b58bp-296, -0x1.888ba104dfcb1p-101,
      -0x1.785453d580c62p+1008, 0x1.b9a045fb38df8p+753, -0x1.469a1f0748b00p-147, 0x1.66b1b8b81bc09p-957,
      0x1.66b4c9ff383fap+535, 0x1.4b28a591d460ep+979, -0x1.aac0d2b8e9e59p-875, -0x1.244e0904e8e24p+776},
     -0x1.785453cb2780fp+1008,
     -0x1.b8ae7c8000000p+953},
    {12,
     {0x1.31b2eba650c0ap+16, 0x1.0c4e415c78264p-618, 0x1.59c3da63b8b21p+838, 0x1.6fa3935bd8876p-107,
      -0x1.aab6eb0a32e0ap-105, -0x1.4e16e5af7a527p+858, -0x1.6f62825c72481p+95, -0x1.fccd723e58fd7p+655,
      0x1.10784cacc1872p-281, -0x1.551958a4ef761p-449, 0x1.e8f8b15e5ff89p+917, -0x1.544bbe7c8697fp+180},
     0x1.e8f8b15e5ff89p+917,
     -0x1.4e16d0133cac3p+858},
    {12,
     {-0x1.e95f546d24908p+568, 0x1.cacd547aca388p+185, -0x1.e133b00ab3e46p-859, -0x1.452ac4cd4a710p-241,
      -0x1.6e8148f510a92p+829, 0x1.4873be5d8f09fp-779, 0x1.def1c4c81e37ap-884, -0x1.9812a7f689173p-65,
      0x1.482f514787a60p+514, 0x1.ff081afd53430p-543, 0x1.a0a304cce0aeap+661, 0x1.143086028c6b5p-261},
     -0x1.6e8148f510a92p+829,
     0x1.a0a304cce0aeap+661},
    {12,
     {0x1.5be714552ddb9p+301, -0x1.8a166d17d87dcp+521, 0x1.276c8faf7514cp-202, 0x1.ea4cd23526e91p+132,
      0x1.ca61a737fdce4p+735, -0x1.2f2361b5d410ep-497, 0x1.343ddc01a0cd7p-307, 0x1.2abcee83fb405p-566,
      0x1.ac25f204ad4a0p+879, 0x1.ea61faec1eb9cp+248, -0x1.9b91a4dcf76c8p-825, 0x1.00070733b7693p-892},
     0x1.ac25f204ad4a0p+879,
     0x1.ca61a737fdce4p+735},
    {12,
     {0x1.2f8809282068bp-321, 0x1.bb15e625bad6fp-699, 0x1.36769a6bd2aabp-802, 0x1.fa66753a55a75p-23,
      0x1.ccc067efd548dp-30, 0x1.c114d5b5866bdp-626, 0x1.5c2426c749a0bp+461, 0x1.5983d24702fcbp+453,
      0x1.bd5925b986368p+236, 0x1.63dae1c6061fdp+885, 0x1.a8b279f013c50p+700, -0x1.dce7f6abdaf6dp-437},
     0x1.63dae1c6061fdp+885,
     0x1.a8b279f013c50p+700},
    {12,
     {0x1.3267f6b1e3d3ap+3, -0x1.594c226540940p-6, 0x1.91c84590f7500p-7, -0x1.a99b4a700d5ecp+5, -0x1.37e008d907c9fp+54,
      -0x1.d6ea96cac8deep-6, -0x1.7caae93bab106p+46, 0x1.1f3612baff347p+5, 0x1.f77f29316412ep+22,
      -0x1.c999dc3fb1020p+14, 0x1.074902c505213p+48, 0x1.2eb11ec57f609p+27},
     -0x1.353f8f8f63873p+54,
     -0x1.5380dce989c85p-1},
    {12,
     {-0x1.be7b8f6b09f9ap+1, 0x1.f5410d014125ap-8, -0x1.37172cd8df830p-9, 0x1.1145b562dbf84p+32, -0x1.ec20420ea0134p+3,
      0x1.081c815ab0fe0p+21, -0x1.a571f67966d74p-7, -0x1.6a0258f7105eap+31, 0x1.735a7b48c2ac6p+41,
      0x1.05ea7976638e8p-10, 0x1.27c1f4eb3e51fp+54, 0x1.1157526cebb1dp+2},
     0x1.27cd9130aec9bp+54,
     -0x1.c26c89af66296p+0},
    {12,
     {0x1.379953299dadep-6, -0x1.4c809a416fa4ap+49, -0x1.320648ee77d54p+33, -0x1.ab01e928e93f2p-1,
      -0x1.0d23da3bc3734p+43, -0x1.3457850d94c8cp+40, 0x1.7ce9374fe8adcp+13, 0x1.7066cdc4a5db4p+25,
      -0x1.2093670d6b060p+49, 0x1.c82d90363515cp+37, -0x1.03c575584ed9dp+39, -0x1.aa89054f00f08p+1},
     -0x1.39042dca36c3bp+50,
     -0x1.21966501809d8p-4},
    {12,
     {-0x1.9af13ac8ad07cp+52, 0x1.754b8f388501ap+35, 0x1.bcab55ebfe3a2p+37, -0x1.8e920c79661eap+48,
      -0x1.9677953aad2b0p+55, -0x1.06d16d5f3ed71p+44, 0x1.bfbaf3faaeb3bp+7, 0x1.e785ff36059bep+9, 0x1.3319bcef437c0p-5,
      -0x1.98802da7c6630p-10, 0x1.8e96fda8455b8p+23, -0x1.8477da1b198ecp+41},
     -0x1.cd194638acdd9p+55,
     -0x1.78613b015e3dcp+0},
    {12,
     {-0x1.1d49119282961p+0, -0x1.516eeb3e3d65ap+41, 0x1.549ef3a039460p+16, -0x1.fe33482f69957p+26,
      -0x1.27da2deedf511p+23, -0x1.16877496c8220p+12, 0x1.dbbb201cf568cp+42, 0x1.8f3a2bec345c0p+32,
      -0x1.1131ba1ab2062p+36, -0x1.cc02ad7e9819dp+22, -0x1.bb800fa64d9e0p+10, -0x1.eb4a2ae7dbda1p-7},
     0x1.2f207280c00c8p+42,
     -0x1.2ee2dd49b8840p-13},
    {12,
     {0x1.43160a49656d7p+16, -0x1.dc985a49d98a4p+9, -0x1.02017587f6519p+55, -0x1.e4bb0615bb7b0p-9,
      -0x1.6fa7646283f26p+38, 0x1.abdc398ae7a68p+21, 0x1.d17a3f0d23245p+33, 0x1.ba70734f78fa3p+20,
      -0x1.fb80e883c4404p+35, -0x1.566c3509b3c77p+13, 0x1.6b6cd645a8a8cp+35, -0x1.ba643e24b1404p+23},
     -0x1.02022f1816a08p+55,
     -0x1.da1c7bdd3abb8p-1},
};

/* Files of n samples with sum s and squared distances m from their own mean; the sum of all, and the squared distances
 * from the mean of all, in fractions, rounded. */
static const struct {
    int count;
    struct {
        int64_t n;
        double s, m;
    } files[MOST];
    double sum, squares;
} moments[] = {
    {5,
     {{7836652, -0x1.ff384d0257531p+28, 0x1.760fef6128a74p+22},
      {83705, 0x1.04d959c142c79p+12, 0x1.21a26e82dab81p+14},
      {89121, 0x1.e64e01578705cp+31, 0x1.baac52740c192p+15},
      {72491, 0x1.ad2716e000fa3p+15, 0x1.1ebf26df30a61p+13},
      {518978, 0x1.0a341b892866dp+18, 0x1.80d865af7f517p+11}},
     0x1.a671171a5a7cdp+31,
     0x1.5112a483f636ep+47},
    {2,
     {{23, 0x1.021bbf863810ap+4, 0x1.5d3658afc0de8p+4}, {375889, 0x1.2c525080852a9p+25, 0x1.2f1d0f98cd098p+18}},
     0x1.2c5258916326cp+25,
     0x1.111385d438c90p+19},
    {4,
     {{1369, 0x1.0dcf830ceac79p+18, 0x1.e740bc44b84d6p+6},
      {96229, -0x1.c6612b58408a8p+13, 0x1.f5c5587efb2f3p+14},
      {30058, 0x1.087c772a5ccaep+28, 0x1.6939ab84b0670p+14},
      {4154570, 0x1.92f4b7b1b3743p+28, 0x1.341979e799e98p+21}},
     0x1.4dd88afd3e64ap+29,
     0x1.2192da192b790p+41},
    {5,
     {{56780915, -0x1.a8c1fb93509d4p+33, 0x1.4269b34f20f1ap+24},
      {3511398, 0x1.9c1bcfcc3866cp+21, 0x1.9953d93123ea0p+20},
      {63650977, 0x1.972027074e25dp+40, 0x1.22b47bd673b18p+22},
      {44881, 0x1.5fa7cebd5c538p+10, 0x1.1281dc3d95affp+13},
      {830, 0x1.03f1661579056p+17, 0x1.834233cacc211p+9}},
     0x1.93ced8a102e98p+40,
     0x1.51f05b77f5462p+54},
    {5,
     {{1257748, -0x1.0d9ccede3f647p+36, 0x1.0d4fac1c710fap+20},
      {9329, -0x1.b142aa6237be3p+28, 0x1.66a4d8a948967p+11},
      {718483, 0x1.da6fbce0efe09p+28, 0x1.323259262c5e9p+19},
      {34, 0x1.aa8d29ef1c16dp+20, 0x1.edd9b2177d296p+2},
      {30, 0x1.8e5815c8d6f08p+20, 0x1.259ab27bbc0d4p+3}},
     -0x1.0d7068e680f46p+36,
     0x1.6107ce13ae221p+50},
    {1, {{50, 0x1.9000000000000p+5, 0x0.0p+0}}, 0x1.9000000000000p+5, 0x0.0p+0},
};

static uint32_t next(uint32_t *state) /* xorshift32 */
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static void shuffle(int *order, int count, uint32_t *state)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(next(state) % (uint32_t)(i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

SMP_TEST(sums_are_those_of_fractions_in_any_order)
{
    uint32_t state = 36;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        smp_exact first = {{0}};
        for (int round = 0; round < 20; round++) {
            int order[MOST];
            double high, low;
            smp_exact parts[3] = {{{0}}};
            shuffle(order, sums[i].count, &state);
            for (int k = 0; k < sums[i].count; k++)
                smp_exact_add(&parts[next(&state) % 3], sums[i].terms[order[k]]);
            smp_exact_join(&parts[1], &parts[2]);
            smp_exact_join(&parts[0], &parts[1]);
            smp_exact_read(&parts[0], &high, &low);
            if (high != sums[i].high || low != sums[i].low)
                fail_msg("sum %zu is %a + %a, not %a + %a", i, high, low, sums[i].high, sums[i].low);
            if (round == 0)
                first = parts[0];
            assert_memory_equal(&first, &parts[0], sizeof first);
        }
    }
}

SMP_TEST(what_is_taken_away_again_leaves_nothing)
{
    static const smp_exact zero = {{0}};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        smp_exact sum = {{0}};
        for (int k = 0; k < sums[i].count; k++)
            smp_exact_add(&sum, sums[i].terms[k]);
        for (int k = 0; k < sums[i].count; k++)
            smp_exact_add(&sum, -sums[i].terms[k]);
        assert_memory_equal(&sum, &zero, sizeof sum);
    }
}

SMP_TEST(sums_survive_their_bytes)
{
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        smp_exact sum = {{0}}, read;
        smp_packer bytes = {0};
        for (int k = 0; k < sums[i].count; k++)
            smp_exact_add(&sum, sums[i].terms[k]);
        smp_exact_pack(&sum, &bytes);
        assert_false(bytes.failed);
        smp_unpacker from = {.data = bytes.data, .size = bytes.size};
        assert_true(smp_exact_unpack(&from, &read));
        assert_int_equal(from.at, bytes.size);
        assert_memory_equal(&read, &sum, sizeof sum);
        for (size_t size = 0; size < bytes.size; size++) {
            from = (smp_unpacker){.data = bytes.data, .size = size};
            assert_false(smp_exact_unpack(&from, &read));
        }
        smp_free(bytes.data);
    }
}

SMP_TEST(digits_that_no_sum_has_are_refused)
{
    static const struct {
        uint64_t first, count;
        int64_t digit;
    } wrong[] = {{70, 1, 1}, {0, 71, 1},        {3, 0, 0}, {0, 1, -1}, {0, 1, INT64_C(1) << 32},
                 {0, 1, 0},  {69, 1, INT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        smp_packer bytes = {0};
        smp_exact read;
        smp_pack_uint(&bytes, wrong[i].first);
        smp_pack_uint(&bytes, wrong[i].count);
        for (uint64_t k = 0; k < wrong[i].count; k++)
            smp_pack_int(&bytes, wrong[i].digit);
        smp_unpacker from = {.data = bytes.data, .size = bytes.size};
        assert_false(smp_exact_unpack(&from, &read));
        smp_free(bytes.data);
    }
}

SMP_TEST(moments_are_those_of_fractions_in_any_order)
{
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++)
        for (int round = 0; round < 10; round++) {
            int order[MOST];
            smp_moments parts[2] = {{0}};
            shuffle(order, moments[i].count, &state);
            for (int k = 0; k < moments[i].count; k++) {
                const int at = order[k];
                smp_moments one;
                smp_moments_of(&(smp_stats_chunk){.sum = moments[i].files[at].s,
                                                  .squares = moments[i].files[at].m,
                                                  .count = moments[i].files[at].n},
                               &one);
                smp_moments_join(&parts[next(&state) % 2], &one);
            }
            smp_moments_join(&parts[0], &parts[1]);
            const smp_stats_chunk all = smp_moments_read(&parts[0]);
            if (all.sum != moments[i].sum || all.squares != moments[i].squares)
                fail_msg("case %zu: sum %a, squares %a; not %a, %a", i, all.sum, all.squares, moments[i].sum,
                         moments[i].squares);
        }
}

/* ------------------------------------------------------------------------------------------------ packed values */

SMP_TEST(numbers_have_one_form)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT64_C(1) << 63, UINT64_MAX};
    static const uint8_t wrong[][11] = {
        {0x80},                                                             /* goes on, and does not */
        {0x80, 0x00},                                                       /* 0 in two bytes */
        {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02},       /* 2^64 and more */
        {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x01}, /* eleven bytes */
    };
    static const size_t sizes[] = {1, 2, 10, 11};
    smp_packer bytes = {0};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        smp_pack_uint(&bytes, values[i]);
        smp_pack_int(&bytes, (int64_t)values[i]);
    }
    smp_pack_double(&bytes, -0.1);
    smp_pack_text(&bytes, "caf\xC3\xA9");
    smp_unpacker from = {.data = bytes.data, .size = bytes.size};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(smp_unpack_uint(&from) == values[i]);
        assert_true(smp_unpack_int(&from) == (int64_t)values[i]);
    }
    assert_true(smp_unpack_double(&from) == -0.1);
    char *text = smp_unpack_copy(&from);
    assert_string_equal(text, "caf\xC3\xA9");
    assert_false(from.failed);
    assert_int_equal(from.at, from.size);
    smp_free(text);
    smp_free(bytes.data);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        from = (smp_unpacker){.data = wrong[i], .size = sizes[i]};
        assert_int_equal(smp_unpack_uint(&from), 0);
        assert_true(from.failed);
    }
}

SMP_TEST(texts_and_counts_are_checked)
{
    static const uint8_t longer[] = {4, 'a', 'b', 'c'}, zero[] = {3, 'a', 0, 'c'}, fits[] = {3, 'a', 'b', 'c'};
    char text[4];
    smp_unpacker from = {.data = longer, .size = sizeof longer};
    smp_unpack_text(&from, text, sizeof text);
    assert_true(from.failed);
    from = (smp_unpacker){.data = zero, .size = sizeof zero};
    assert_null(smp_unpack_copy(&from));
    assert_true(from.failed);
    from = (smp_unpacker){.data = fits, .size = sizeof fits};
    smp_unpack_text(&from, text, 3);
    assert_true(from.failed);
    from = (smp_unpacker){.data = fits, .size = sizeof fits};
    smp_unpack_text(&from, text, 4);
    assert_false(from.failed);
    assert_string_equal(text, "abc");
    from = (smp_unpacker){.data = fits, .size = sizeof fits};
    assert_int_equal(smp_unpack_count(&from, 1), 3);
    from = (smp_unpacker){.data = fits, .size = sizeof fits};
    assert_int_equal(smp_unpack_count(&from, 2), 0);
    assert_true(from.failed);
    from = (smp_unpacker){.data = fits, .size = sizeof fits};
    assert_int_equal(smp_unpack_upto(&from, 2), 0);
    assert_true(from.failed);
}
