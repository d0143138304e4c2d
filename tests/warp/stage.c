/* Launches of foreign kernels: what texts say, which blocks and parameters they become. The stage is run by
 * tests/cli/test_kernel_stage.py. */

#include "suite.h"

#include "stages/foreign.h"

static const smp_foreign_param params[] = {{"u64", 0, 8},  {"u64", 8, 8},  {"u32", 16, 4},
                                           {"f32", 20, 4}, {"f64", 24, 8}, {"b32", 32, 4}};
static const smp_foreign_entry entry = {
    .name = "f", .symbol = "f", .params = params, .param_count = 6, .param_bytes = 36};

static smp_io views(int64_t y0, int64_t rows)
{
    smp_io io = {.in = {.width = 100, .height = 60, .channels = 3, .y0 = 0, .rows = 60}};
    io.out = (smp_view){.width = 50, .height = 60, .channels = 1, .y0 = y0, .rows = rows};
    return io;
}

SMP_TEST(shapes_are_read)
{
    smp_foreign_dims d;
    assert_true(smp_foreign_read_dims("256", &d));
    assert_true(d.count == 1 && d.n[0] == 256 && d.n[1] == 1 && d.n[2] == 1);
    assert_true(smp_foreign_read_dims("8x8x4", &d));
    assert_true(d.count == 3 && d.n[2] == 4);
    for (size_t i = 0; i < 8; i++)
        assert_false(smp_foreign_read_dims(
            (const char *const[]){"", "x", "0", "8x", "8x8x8x8", "-1", "99999999999", "8 x8"}[i], &d));
}

SMP_TEST(arguments_are_words_and_numbers)
{
    smp_foreign k = {.entry = &entry, .reach = -1};
    smp_error err = {0};
    unsigned char bytes[SMP_FOREIGN_PARAM_BYTES];
    assert_int_equal(smp_foreign_read_args("( in , out, width, 3.5, 0.25, 7 )", &entry, &k, &err), SMP_OK);
    const smp_io io = views(0, 60);
    smp_foreign_fill(&k, &io, 0x1000, 0x2000, bytes);
    const uint64_t pointers[] = {0x1000, 0x2000};
    const uint32_t width = 100, seven = 7;
    const float f = 3.5f;
    const double d = 0.25;
    assert_memory_equal(bytes, pointers, sizeof pointers);
    assert_memory_equal(bytes + 16, &width, 4);
    assert_memory_equal(bytes + 20, &f, 4);
    assert_memory_equal(bytes + 24, &d, 8);
    assert_memory_equal(bytes + 32, &seven, 4);
    /* a parameter without a type is what is written */
    assert_int_equal(smp_foreign_read_args("in, out, 1, width, 2, 0.5", &entry, &k, &err), SMP_OK);
    smp_foreign_fill(&k, &io, 0, 0, bytes);
    assert_memory_equal(bytes + 20, &(const float){100}, 4);
    assert_memory_equal(bytes + 32, &(const float){0.5f}, 4);
    assert_int_equal(smp_foreign_read_args("in, out, 4294967295, 1, 2, 2.0", &entry, &k, &err), SMP_OK);
    smp_foreign_fill(&k, &io, 0, 0, bytes);
    assert_memory_equal(bytes + 16, &(const uint32_t){UINT32_MAX}, 4);
    assert_memory_equal(bytes + 32, &(const float){2}, 4);
}

SMP_TEST(wrong_arguments_are_refused)
{
    static const char *const wrong[] = {
        "(in, out, width, 3.5, 0.25)",       /* too few */
        "(in, out, width, 3.5, 0.25, 7, 8)", /* too many */
        "(in, out, 1.5, 3.5, 0.25, 7)",      /* an integer */
        "(in, out, 5e9, 3.5, 0.25, 7)",      /* 32 bits */
        "(in, out, 1, 3.5, 0.25, -3000000000)",
        "(3, out, 1, 3.5, 0.25, 7)",   /* a pointer */
        "(in, out, in, 3.5, 0.25, 7)", /* no pointer */
        "(in, out, 1, out, 0.25, 7)",  /* a float */
        "(in, out, 1, nan, 0.25, 7)",  /* no number */
        "(in, , 1, 2, 0.25, 7)",       /* nothing */
        "(in, out, 1, 2, 0.25, 7",     /* no end */
        "",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        smp_foreign k = {.reach = -1};
        smp_error err = {0};
        if (!smp_foreign_read_args(wrong[i], &entry, &k, &err))
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(err.code, SMP_E_PIPE);
    }
}

SMP_TEST(blocks_cover_the_picture)
{
    smp_foreign k = {.tile = {{32, 8, 1}, 2}, .reach = -1};
    const smp_io io = views(0, 60);
    uint32_t grid[3];
    assert_true(smp_foreign_grid(&k, &io, grid));
    assert_true(grid[0] == 2 && grid[1] == 8 && grid[2] == 1);
    k.over_input = true;
    assert_true(smp_foreign_grid(&k, &io, grid));
    assert_true(grid[0] == 4 && grid[1] == 8 && grid[2] == 1);
    k.tile = (smp_foreign_dims){{256, 1, 1}, 1};
    assert_true(smp_foreign_grid(&k, &io, grid));
    assert_true(grid[0] == (100 * 60 * 3 + 255) / 256 && grid[1] == 1);
    k.tile = (smp_foreign_dims){{32, 8, 1}, 3};
    assert_true(smp_foreign_grid(&k, &io, grid));
    assert_true(grid[2] == 3);
    k.grid = (smp_foreign_dims){{7, 70000, 1}, 2};
    assert_false(smp_foreign_grid(&k, &io, grid));
}

SMP_TEST(reach_ends_at_the_picture)
{
    smp_foreign k = {.reach = 2};
    smp_io io = views(0, 10);
    smp_foreign_rows r = smp_foreign_rows_of(&k, &io);
    assert_true(r.in_first == 0 && r.in_count == 12 && r.out_first == 0 && r.out_count == 12);
    io = views(30, 10);
    r = smp_foreign_rows_of(&k, &io);
    assert_true(r.in_first == 28 && r.in_count == 14);
    io = views(55, 5);
    r = smp_foreign_rows_of(&k, &io);
    assert_true(r.in_first == 53 && r.in_count == 7);
}

SMP_TEST(a_file_is_loaded_once)
{
    const smp_foreign_file *file, *again;
    smp_error err = {0};
    assert_int_equal(smp_foreign_open(SMP_SOURCE_DIR "/samples/kernels/blur3.ptx", &file, &err), SMP_OK);
    assert_int_equal(smp_foreign_open(SMP_SOURCE_DIR "/samples/kernels/blur3.ptx", &again, &err), SMP_OK);
    assert_ptr_equal(file, again);
    assert_int_equal(file->count, 2);
    assert_string_equal(file->entries[0].name, "blur3");
    assert_int_equal(file->entries[0].param_count, 6);
    assert_int_equal(smp_foreign_open(SMP_SOURCE_DIR "/samples", &file, &err), SMP_E_READ);
    assert_int_equal(smp_foreign_open(SMP_SOURCE_DIR "/README.md", &file, &err), SMP_E_PIPE);
    assert_null(file);
}
