/* matmul: its definition on known products, what fits together and what is said when it does not, and that every
 * variant, instruction set and GPU kernel gives the same bits at awkward sizes. */
#include "suite.h"

#include "gpu_case.h"

#include "matmul/matmul.h"

extern const smp_stage smp_stage_matmul;

typedef struct params { /* as the stage declares them */
    smp_operand with;
    int side;
} params;
enum { RIGHT, LEFT };

static smp_shape matrix(int64_t rows, int64_t columns, int channels, smp_format format)
{
    return case_shape(columns, rows, channels, format);
}

/* ------------------------------------------------------------------------------------------------ the definition */

SMP_TEST(a_product_of_two_by_three_and_three_by_two)
{
    static const float l[] = {1, 2, 3, 4, 5, 6}, r[] = {7, 8, 9, 10, 11, 12}, product[] = {58, 64, 139, 154};
    for (int side = 0; side < 2; side++) {
        smp_shape two = matrix(2, 3, 1, SMP_F32), three = matrix(3, 2, 1, SMP_F32);
        kernel_case c = kernel_case_in(&smp_stage_matmul, &(params){.with = {.is_tap = true}, .side = side},
                                       side == LEFT ? three : two);
        c.in_storage = SMP_F32, c.out_storage = SMP_F32;
        c.by = side == LEFT ? &two : &three;
        picture in = picture_make(&c.in, SMP_F32), with = picture_make(c.by, SMP_F32), out;
        for (int i = 0; i < 6; i++) {
            picture_set(side == LEFT ? &with : &in, i % 3, i / 3, 0, l[i]);
            picture_set(side == LEFT ? &in : &with, i % 2, i / 2, 0, r[i]);
        }
        kernel_case_naive(&c, &in, &with, &out);
        for (int i = 0; i < 4; i++)
            assert_float_equal(picture_get(&out, i % 2, i / 2, 0), product[i], 0);
        picture_free(&in);
        picture_free(&with);
        picture_free(&out);
    }
}

SMP_TEST(integers_are_fractions_of_full_scale)
{
    assert_float_equal(smp_matmul_value(255.f * 37.f, 255.f), 37.f, 0); /* one row of the identity in u8 */
    assert_float_equal(smp_matmul_value(65535.f * 40000.f, 65535.f), 40000.f, 0);
}

SMP_TEST(zeros_are_positive_and_nan_is_one)
{
    assert_false(signbit(smp_matmul_value(-0.f, 1.f)));
    assert_int_equal(smp_bits(smp_matmul_value(-NAN, 1.f)), 0x7fc00000);
}

/* ------------------------------------------------------------------------------------------------ the same bits */

static const int64_t sizes[][3] = {/* rows, inner, columns */
                                   {1, 1, 1},      {1, 70, 1},     {70, 1, 65},   {1, 33, 129},
                                   {129, 33, 1},   {31, 32, 33},   {33, 31, 32},  {65, 65, 65},
                                   {128, 16, 128}, {129, 17, 127}, {13, 200, 33}, {20, 200, 530}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void check_product(const int64_t size[3], int side, int channels, bool one, smp_format format, smp_format with,
                          smp_format stored, case_values values, uint64_t seed)
{
    kernel_case c = {.stage = &smp_stage_matmul,
                     .params = &(params){.with = {.is_tap = true}, .side = side},
                     .in_storage = values == CASE_CODES ? format : SMP_F32,
                     .out_storage = stored,
                     .values = values,
                     .seed = seed};
    smp_shape l = matrix(size[0], size[1], side == LEFT && one ? 1 : channels, side == LEFT ? with : format);
    smp_shape r = matrix(size[1], size[2], side == RIGHT && one ? 1 : channels, side == LEFT ? format : with);
    c.in = side == LEFT ? r : l;
    c.by = side == LEFT ? &l : &r;
    kernel_case_check(&c);
}

SMP_TEST(every_instruction_set_gives_the_same_bits)
{
    static const int channels[] = {1, 3, 4, 2};
    uint64_t seed = 1;
    for (int i = 0; i < SIZES; i++)
        for (int side = 0; side < 2; side++) {
            const smp_format format = (smp_format)(seed % 3), with = (smp_format)(seed / 2 % 3);
            check_product(sizes[i], side, i == SIZES - 1 ? 1 : channels[seed % 4], seed % 5 == 0, format, with,
                          seed % 2 ? SMP_F32 : format, seed % 3 == 1 ? CASE_ANY : CASE_CODES, seed);
            seed++;
        }
    for (int f = 0; f < 9; f++)
        check_product(sizes[5], f % 2, 3, false, (smp_format)(f % 3), (smp_format)(f / 3), (smp_format)(f % 3),
                      CASE_CODES, seed++);
}

SMP_TEST(every_gpu_variant_gives_the_same_bits)
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 33}, {65, 1}, {33, 31}, {32, 130}, {129, 20}};
    static const char *const with[] = {"transpose -> @b", "rotate 90 -> @b"};
    uint64_t seed = 1;
    for (int i = 0; i < 6; i++)
        for (int side = 0; side < 2; side++) {
            const int channels = (int)(seed % 3) * 3 / 2 + 1; /* 1, 2, 4 */
            const gpu_case c = {
                .lines = {with[seed % 2], "from @input", side ? "matmul with=@b side=left" : "matmul with=@b"},
                .in = case_shape(shapes[i][0], shapes[i][1], channels, (smp_format)(seed / 3 % 3)),
                .values = CASE_CODES,
                .seed = seed};
            gpu_case_check(&c);
            seed++;
        }
}

SMP_TEST(rows_may_lie_anywhere)
{
    static const int64_t rows[][3] = {{130, 33, 131}, {131, 20, 258}};
    for (int i = 0; i < 4; i++) {
        const int side = i % 2, channels = i < 2 ? 1 : 3;
        const smp_shape l = matrix(rows[i / 2][0], rows[i / 2][1], channels, SMP_F32);
        const smp_shape r = matrix(rows[i / 2][1], rows[i / 2][2], channels, SMP_F32);
        kernel_case c =
            kernel_case_in(&smp_stage_matmul, &(params){.with = {.is_tap = true}, .side = side}, side == LEFT ? r : l);
        c.in_storage = SMP_F32, c.out_storage = SMP_F32;
        c.by = side == LEFT ? &l : &r;
        c.values = CASE_REALS;
        c.seed = (uint64_t)i;
        gpu_views_check(&c);
    }
}

/* ------------------------------------------------------------------------------------------------ shared memory */

SMP_TEST(padding_takes_the_conflicts_of_a_stored_column_away)
{
    const gpu_case c = {.lines = {"matmul with=@input"}, .in = case_shape(64, 64, 1, SMP_F32)};
    const gpu_case large = {.lines = {"matmul with=@input"},
                            .in = case_shape(144, 144, 1, SMP_F32)}; /* a block inside */
    static const struct {
        const char *variant, *kernel;
        bool conflicts;
    } cases[] = {
        {"tiled", "matmul_tiled", true}, {"padded", "matmul_padded", false}, {"register", "matmul_register", false}};
    for (int i = 0; i < 3; i++) {
        smp_trace trace = {0};
        gpu_case_trace(i == 2 ? &large : &c, cases[i].variant, 0, &trace);
        assert_int_equal(gpu_conflicts(&trace, cases[i].kernel, SMP_SHARED_STORE) > 0, cases[i].conflicts);
        assert_int_equal(gpu_conflicts(&trace, cases[i].kernel, SMP_SHARED_LOAD), 0);
        if (i == 2) /* two lanes of four share 16 bytes: half the wavefronts of a 16-byte load */
            for (size_t k = 0; k < trace.count; k++)
                assert_int_equal(trace.launches[k].ops[SMP_SHARED_LOAD].wavefronts,
                                 2 * trace.launches[k].ops[SMP_SHARED_LOAD].instructions);
        smp_trace_free(&trace);
    }
}

/* ------------------------------------------------------------------------------------------------ what fits */

static smp_code plan_of(smp_shape in, smp_shape with, int side, smp_shape *out, smp_error *err)
{
    const params p = {.with = {.is_tap = true}, .side = side};
    smp_node_plan work = {.out = in, .access = SMP_WHOLE};
    *err = (smp_error){0};
    const smp_code code = smp_stage_matmul.plan(&p, &in, &with, &work, err);
    *out = work.out;
    return code;
}

SMP_TEST(the_product_has_the_rows_of_the_left_and_the_columns_of_the_right)
{
    smp_error err;
    smp_shape out;
    assert_int_equal(plan_of(matrix(4, 5, 3, SMP_U8), matrix(5, 7, 1, SMP_F32), RIGHT, &out, &err), SMP_OK);
    assert_int_equal(out.height, 4);
    assert_int_equal(out.width, 7);
    assert_int_equal(out.channels, 3);
    assert_int_equal(out.format, SMP_U8);
    assert_int_equal(plan_of(matrix(4, 5, 3, SMP_U8), matrix(7, 4, 3, SMP_F32), LEFT, &out, &err), SMP_OK);
    assert_int_equal(out.height, 7);
    assert_int_equal(out.width, 5);
}

SMP_TEST(what_does_not_fit_is_told_with_both_sizes)
{
    smp_error err;
    smp_shape out;
    assert_int_equal(plan_of(matrix(4, 5, 1, SMP_F32), matrix(7, 4, 1, SMP_F32), RIGHT, &out, &err), SMP_E_PIPE);
    assert_string_equal(err.message,
                        "the matrices do not fit: 'with' (7 x 4) has 7 rows, the picture (4 x 5) 5 columns");
    assert_string_equal(err.hint, "they fit on the other side: side=left");
    assert_int_equal(plan_of(matrix(4, 5, 1, SMP_F32), matrix(7, 5, 1, SMP_F32), RIGHT, &out, &err), SMP_E_PIPE);
    assert_string_equal(err.hint, "they fit with one of them transposed");
    assert_int_equal(plan_of(matrix(4, 5, 1, SMP_F32), matrix(9, 8, 1, SMP_F32), LEFT, &out, &err), SMP_E_PIPE);
    assert_string_equal(err.message,
                        "the matrices do not fit: 'with' (9 x 8) has 8 columns, the picture (4 x 5) 4 rows");
    assert_int_equal(plan_of(matrix(5, 5, 3, SMP_F32), matrix(5, 5, 2, SMP_F32), RIGHT, &out, &err), SMP_E_PIPE);
    assert_string_equal(err.message, "the channels do not match: the picture has 3, 'with' 2");
    assert_int_equal(plan_of(matrix(INT64_MAX / 8, 1, 1, SMP_F32), matrix(1, 1000, 1, SMP_F32), RIGHT, &out, &err),
                     SMP_E_LIMIT);
}
