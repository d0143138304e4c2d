/* Our own deflate for filtered rows, undone by zlib: io/png_runs.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/png_runs.h"

enum { MOST = 1 << 18, ROOM = 2 * MOST + 4096, GUARD = 0xA5, GUARDS = 64 };
static uint8_t data[MOST], packed[ROOM + GUARDS], back[MOST + 1];

static uint32_t seed;

static uint32_t next_random(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static size_t pack(size_t size, size_t room)
{
    memset(packed + room, GUARD, GUARDS);
    size_t made = smp_png_runs_pack(packed, room, data, size);
    assert_true(made <= room);
    for (int i = 0; i < GUARDS; i++)
        assert_int_equal(packed[room + (size_t)i], GUARD);
    return made;
}

/* Two in a row, as blocks of a picture are: the second begins where the first ended. */
static size_t check(size_t size, const char *what)
{
    size_t made = pack(size, ROOM);
    assert_true(made > 0);
    z_stream z = {0};
    assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
    for (int turn = 0; turn < 2; turn++) {
        z.next_in = packed;
        z.avail_in = (uInt)made;
        z.next_out = back;
        z.avail_out = (uInt)size + 1;
        int status = inflate(&z, Z_SYNC_FLUSH);
        if (status != Z_OK || z.avail_in || z.avail_out != 1 || memcmp(back, data, size) != 0)
            fail_msg("%s of %zu bytes: status %d, %u bytes left, %u missing", what, size, status, z.avail_in, z.avail_out - 1);
    }
    inflateEnd(&z);
    return made;
}

static void every_small_size_comes_back(void **context)
{
    (void)context;
    for (size_t size = 1; size < 200; size++) {
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)next_random();
        check(size, "noise");
        memset(data, 0, size);
        check(size, "zeros");
    }
}

static void runs_of_every_length_come_back(void **context)
{
    (void)context;
    for (size_t run = 1; run < 1100; run += run < 300 ? 1 : 7)
        for (size_t before = 0; before < 5; before++) {
            memset(data, 7, before);
            memset(data + before, 0, run);
            memset(data + before + run, 9, 20);
            check(before + run + 20, "a run");
        }
}

/* Zeros and small values, as filtered photographs have, and now and then anything. */
static void filtered_rows_come_back_and_shrink(void **context)
{
    (void)context;
    for (int zeros = 0; zeros < 8; zeros++) {
        for (size_t i = 0; i < MOST; i++) {
            uint32_t r = next_random();
            data[i] = (int)(r % 8) < zeros ? 0 : (uint8_t)(r % 4096 == 9 ? r >> 16 : (r >> 12) % 5 - 2);
        }
        assert_true(check(MOST, "a filtered row") < MOST / 2);
    }
}

/* What comes in the sample is rare behind it, and what is common behind it is not in the sample: the longest codes, one
 * after the other. */
static void what_the_sample_lacks_comes_back(void **context)
{
    (void)context;
    for (size_t i = 0; i < MOST; i++)
        data[i] = i % 8192 < 1024 ? (uint8_t)(i % 2 + 1) : (uint8_t)(next_random() % 200 + 50);
    check(MOST, "rare bytes");
}

/* Counts that grow like these make the longest codes that there can be: they must be cut short. */
static void skewed_counts_make_no_code_too_long(void **context)
{
    (void)context;
    size_t a = 1, b = 1, at = 0;
    for (int symbol = 200; at + b < 1024; symbol--) {
        memset(data + at, symbol, b);
        at += b;
        size_t sum = a + b;
        a = b;
        b = sum;
    }
    check(at, "Fibonacci's counts");
    for (size_t i = at; i < MOST; i++)
        data[i] = (uint8_t)i;
    check(MOST, "Fibonacci's counts, then all bytes");
}

static void little_room_is_refused_and_not_overrun(void **context)
{
    (void)context;
    for (size_t i = 0; i < 20000; i++)
        data[i] = (uint8_t)next_random();
    size_t fits = check(20000, "noise");
    assert_int_equal(pack(20000, fits + 200), fits);
    for (size_t room = 1; room < fits; room += 97)
        assert_int_equal(pack(20000, room), 0);
}

static void the_cost_of_a_sample_is_about_its_size(void **context)
{
    (void)context;
    for (size_t i = 0; i < MOST; i++)
        data[i] = (uint8_t)(next_random() % 7 < 3 ? 0 : next_random() % 11);
    size_t cost = smp_png_runs_cost(data, MOST), made = check(MOST, "a sample");
    assert_in_range(cost, made - made / 50, made + made / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size_comes_back),
        cmocka_unit_test(runs_of_every_length_come_back),
        cmocka_unit_test(filtered_rows_come_back_and_shrink),
        cmocka_unit_test(what_the_sample_lacks_comes_back),
        cmocka_unit_test(skewed_counts_make_no_code_too_long),
        cmocka_unit_test(little_room_is_refused_and_not_overrun),
        cmocka_unit_test(the_cost_of_a_sample_is_about_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
