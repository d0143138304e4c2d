/* The language of access patterns: what teachers write, C's precedence, and one clear diagnostic for each mistake. */
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "lab/counters/pattern.h"

static smp_pattern pattern;

/* The byte offsets of a pattern that must be right; width 0: its type's, else 4. Returns the lanes that take part. */
static uint32_t offsets_of(const char *text, int width, uint32_t active, uint32_t offset[SMP_WARP])
{
    smp_diags diags = {0};
    smp_elements elements;
    smp_layout plain = {0};
    smp_code code = smp_pattern_parse("PATTERN", text, &diags, &pattern);
    width = width ? width : pattern.width ? pattern.width : 4;
    if (!code)
        code = smp_pattern_elements(&pattern, &(smp_pattern_block){.x = 16}, active, width, &diags, &elements);
    if (code) {
        char *message = smp_diags_text(&diags, false);
        print_error("%s", message);
        smp_free(message);
        fail_msg("'%s' is refused", text);
    }
    smp_diags_free(&diags);
    smp_elements_place(&elements, &plain, width, offset);
    return elements.active;
}

static int wavefronts(const char *text, int width)
{
    smp_bank_access access = {.op = SMP_BANK_LOAD};
    access.active = offsets_of(text, width, 0xffffffffu, access.offset);
    access.width = width ? width : pattern.width ? pattern.width : 4;
    return smp_bank_cost_of(&access).wavefronts;
}

/* Expects lane n's access as a formula in C says. */
#define EXPECT(text, formula)                                                                                          \
    do {                                                                                                               \
        uint32_t offset_[SMP_WARP];                                                                                    \
        offsets_of(text, 4, 0xffffffffu, offset_);                                                                     \
        for (int tid = 0; tid < SMP_WARP; tid++)                                                                       \
            if (offset_[tid] != 4 * (uint32_t)(formula))                                                               \
                fail_msg("%s: lane %d at %u, not %u", text, tid, offset_[tid], 4 * (uint32_t)(formula));               \
    } while (0)

SMP_TEST(expressions_are_those_of_c)
{
    EXPECT("tid", tid);
    EXPECT("tid*2", tid * 2);
    EXPECT("  lane  ", tid);
    EXPECT("(tid%8)*4 + tid/8", (tid % 8) * 4 + tid / 8);
    EXPECT("tid ^ 5", tid ^ 5);
    EXPECT("31-tid", 31 - tid);
    EXPECT("31 - -tid - tid", 31);
    EXPECT("64 - tid - 1 - 2", 64 - tid - 1 - 2);
    EXPECT("tid & 3 + 4", tid & (3 + 4));
    EXPECT("tid | 3 ^ 5 & tid", tid | (3 ^ (5 & tid)));
    EXPECT("1 << tid % 4 + 1", 1 << (tid % 4 + 1));
    EXPECT("0x40 >> tid / 16", 0x40 >> tid / 16);
    EXPECT("tid<16 ? tid : tid*2 + 0b1", tid < 16 ? tid : tid * 2 + 1);
    EXPECT("tid < 3 == 1 ? 5 : tid > 30 ? 6 : 7", tid < 3 ? 5 : tid > 30 ? 6 : 7);
    EXPECT("(tid >= 4 && tid <= 8) || !tid", (tid >= 4 && tid <= 8) || !tid);
    EXPECT("~tid & 31", ~tid & 31);
    EXPECT("min(tid, 7) + max(tid, 3) * abs(-2)", (tid < 7 ? tid : 7) + (tid > 3 ? tid : 3) * 2);
    EXPECT("threadIdx.y * 17 + threadIdx.x", tid / 16 * 17 + tid % 16);
    EXPECT("ty*blockDim.x + tx", tid);
    EXPECT("tid != warpSize - 1", tid != 31);
    EXPECT("brev(tid, 5)", (tid & 1) << 4 | (tid & 2) << 2 | (tid & 4) | (tid & 8) >> 2 | (tid & 16) >> 4);
    EXPECT("tid ? 8 / tid : 0", tid ? 8 / tid : 0);
    EXPECT("tid && 8 / tid", tid && 8 / tid);
    EXPECT("32ull + tid*1u", 32 + tid);
}

SMP_TEST(arrays_are_indexed_or_walked)
{
    EXPECT("[32][32] column", tid * 32);
    EXPECT("[32][33] column 2", tid * 33 + 2);
    EXPECT("[32][32] row", tid);
    EXPECT("[32][32] row 3", 96 + tid);
    EXPECT("[64][16] row", tid);
    EXPECT("[16][16] column", tid % 16 * 16 + tid / 16);
    EXPECT("[32][32] diagonal", tid * 33);
    EXPECT("[32][32] diagonal 1", tid * 32 + (tid + 1) % 32);
    EXPECT("[32][32] antidiagonal", tid * 32 + 31 - tid);
    EXPECT("[16][16] diagonal", tid % 16 * 16 + (tid % 16 + tid / 16) % 16);
    EXPECT("[32][33] [tid][0]", tid * 33);
    EXPECT("[32][32][tid][tid ^ 1]", tid * 32 + (tid ^ 1));
    EXPECT("float s[32][33]; s[tid][1]", tid * 33 + 1);
    EXPECT("__shared__ float tile[4][32][32]; tile[2][tid][0];", 2 * 1024 + tid * 32);
    EXPECT("tile[threadIdx.x * 2]", tid % 16 * 2);
    EXPECT("s[1024] [tid*32]", tid * 32);
    EXPECT("[4*8][32+1] column", tid * 33);
    EXPECT("[32][32] [0][0]", 0 * tid);
    EXPECT("[1024] row", tid);
}

SMP_TEST(types_say_the_width)
{
    static const struct {
        const char *text;
        int width;
    } rows[] = {
        {"float tid", 4},
        {"double tid", 8},
        {"float4 [32][8] column", 16},
        {"unsigned char tid", 1},
        {"half tid", 2},
        {"unsigned long long tid", 8},
        {"unsigned tid", 4},
        {"uint8_t [32][32] column", 1},
        {"float2 tid", 8},
        {"tid", 0},
        {"const short tid", 2},
    };
    smp_diags diags = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(smp_pattern_parse("PATTERN", rows[i].text, &diags, &pattern), SMP_OK);
        assert_int_equal(pattern.width, rows[i].width);
    }
    smp_diags_free(&diags);
}

/* Patterns that a course shows. */
SMP_TEST(patterns_of_a_course_cost_what_it_says)
{
    assert_int_equal(wavefronts("float [32][32] row", 0), 1);
    assert_int_equal(wavefronts("float [32][32] column", 0), 32);
    assert_int_equal(wavefronts("float [32][33] column", 0), 1);
    assert_int_equal(wavefronts("float [32][32] diagonal", 0), 1);
    assert_int_equal(wavefronts("double [16][16] row", 0), 2);
    assert_int_equal(wavefronts("double [16][16] column", 0), 32);
    assert_int_equal(wavefronts("double [16][17] column", 0), 2);
    assert_int_equal(wavefronts("tid*2 + 1", 0), 2);
    assert_int_equal(wavefronts("tid*3", 0), 1);
    assert_int_equal(wavefronts("(tid%8)*4 + tid/8", 0), 1);
    assert_int_equal(wavefronts("tid ^ 5", 0), 1);
    assert_int_equal(wavefronts("31 - tid", 0), 1);
    assert_int_equal(wavefronts("float2 tid", 0), 2);
    assert_int_equal(wavefronts("float4 tid", 0), 4);
    assert_int_equal(wavefronts("unsigned char [32][128] column", 0), 32);
    assert_int_equal(wavefronts("0", 0), 1);
}

SMP_TEST(lanes_past_the_array_take_no_part)
{
    uint32_t offset[SMP_WARP];
    assert_int_equal(offsets_of("[4][4] row", 4, 0xffffffffu, offset), 0xffff);
    assert_int_equal(offsets_of("[4][4] column", 4, 0xfff0000fu, offset), 0xf);
    assert_int_equal(offsets_of("[4][4] diagonal", 4, 0xffffffffu, offset), 0xffff);
    assert_int_equal(offsets_of("[16] [tid]", 4, 0xffff, offset), 0xffff); /* indices of other lanes do not count */
}

SMP_TEST(random_numbers_are_the_same_everywhere)
{
    uint32_t offset[SMP_WARP], again[SMP_WARP], other[SMP_WARP], most = 0;
    offsets_of("random(256)", 4, 0xffffffffu, offset);
    offsets_of("random(256)", 4, 0xffffffffu, again);
    offsets_of("random(256, 1)", 4, 0xffffffffu, other);
    assert_memory_equal(offset, again, sizeof offset);
    assert_memory_not_equal(offset, other, sizeof offset);
    for (int lane = 0; lane < SMP_WARP; lane++)
        most = offset[lane] > most ? offset[lane] : most;
    assert_in_range(most, 4 * 128, 4 * 255);
    assert_int_equal(offset[0], 4 * 111); /* a change here changes what people's notes say */
}

SMP_TEST(masks_are_numbers_or_conditions)
{
    static const struct {
        const char *text;
        uint32_t mask;
    } rows[] = {
        {"tid<16", 0xffff},
        {"0xffff", 0xffff},
        {"4294967295", 0xffffffff},
        {"tid % 2 == 0", 0x55555555},
        {"1 << 31", 1u << 31},
        {"0", 0},
        {"tid == 3 || tid > 30", 1u << 3 | 1u << 31},
    };
    smp_diags diags = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t mask;
        assert_int_equal(smp_pattern_mask("--mask", rows[i].text, NULL, &diags, &mask), SMP_OK);
        assert_int_equal(mask, rows[i].mask);
    }
    smp_diags_free(&diags);
}

/* ------------------------------------------------------------------------------------------------ mistakes */

/* Exactly one diagnostic, at this column, that says this. */
static void refuse(const char *text, int column, const char *says)
{
    smp_diags diags = {0};
    smp_elements elements;
    smp_code code = smp_pattern_parse("PATTERN", text, &diags, &pattern);
    if (!code)
        code = smp_pattern_elements(&pattern, NULL, 0xffffffffu, 4, &diags, &elements);
    char *message = smp_diags_text(&diags, false);
    int line, at;
    if (code != SMP_E_USAGE || diags.errors != 1)
        fail_msg("'%s': code %d, %d errors\n%s", text, code, diags.errors, message);
    smp_diags_locate(&diags, diags.items[0].span, &line, &at);
    if (at != column || !strstr(message, says))
        fail_msg("'%s': column %d, not %d, or not '%s' in:\n%s", text, at, column, says, message);
    smp_free(message);
    smp_diags_free(&diags);
}

SMP_TEST(mistakes_have_a_place_and_a_cure)
{
    refuse("", 1, "the pattern ends too early");
    refuse("tidd*2", 1, "did you mean 'tid'?");
    refuse("tid**2", 5, "unexpected '*'");
    refuse("tid*", 5, "the pattern ends too early");
    refuse("2tid", 1, "a product is written with *");
    refuse("tid*0.5", 5, "not a whole number");
    refuse("tid 2", 5, "expected an operator");
    refuse("(tid", 5, "')'");
    refuse("tid)", 4, "unexpected ')'");
    refuse("tid = 3", 5, "unexpected '='");
    refuse("min(tid)", 1, "min takes 2 arguments, not 1");
    refuse("abs(tid, 2)", 1, "abs takes 1 argument, not 2");
    refuse("min", 4, "'(' and arguments");
    refuse("random(0)", 1, "random below a number that is not positive in lane 0");
    refuse("8 / tid", 1, "division by zero in lane 0");
    refuse("8 % (tid - 3)", 1, "division by zero in lane 3");
    refuse("(1 << tid*3) & 1", 2, "a shift by less than 0 or more than 62 bits in lane 21");
    refuse("(9223372036854775807 + tid) & 1", 2, "overflow in lane 1");
    refuse("9223372036854775808", 1, "not a number of 64 bits");
    refuse("tid - 5", 1, "lane 0 is outside: index -5");
    refuse("tid * 100000", 1, "lane 3 is outside: index 300000");
    refuse("[32][32] [tid][tid+1]", 16, "0 to 31 is inside");
    refuse("[32][32]", 1, "which elements do the lanes access?");
    refuse("[32][32] colum", 10, "did you mean 'column'?");
    refuse("[32][32] column 32", 17, "there is no column 32");
    refuse("[32][32] column tid", 17, "which column is a number");
    refuse("[32] column", 6, "a column needs an array of two dimensions");
    refuse("[8][8][8] column", 11, "a column needs an array of two dimensions");
    refuse("[tid][32] row", 2, "an array's size is a number");
    refuse("[0][32] row", 2, "a size of 0 elements");
    refuse("[32][32] [tid]", 1, "as many indices as sizes");
    refuse("[1024][1024] row", 1, "larger than 1 MiB");
    refuse("[1][1][1][1][1][0][0][0][0][tid]", 25, "at most 4 dimensions");
    refuse("[32][33 column", 9, "an operator or ']'");
    refuse("row", 1, "write the array first: [32][32] row");
    refuse("tid + column", 7, "a column of what?");
    refuse("tile[threadIdx.y][threadIdx.x]", 6, "sizes come first");
    refuse("[32,32] column", 4, "unexpected ','");
    refuse("tid; rm -rf /", 6, "unexpected 'rm'");
    refuse("tid\xc3\xaf", 4, "unexpected '\xc3\xaf'");
    refuse("tid \x1b[31m", 5, "unexpected");
    refuse("\xff\xfe", 1, "unexpected");
}

SMP_TEST(hostile_texts_cost_little)
{
    static char text[5000];
    memset(text, '(', 900);
    text[900] = '\0';
    refuse(text, 65, "more than 64 operations inside each other");
    memset(text, '-', 900);
    refuse(text, 64, "more than 64 operations inside each other");
    memset(text, '[', 900);
    refuse(text, 2, "unexpected '['");
    memset(text, '1', 900);
    refuse(text, 1, "not a number of 64 bits");
    for (int i = 0; i < 900; i += 2)
        memcpy(text + i, "1+", 2);
    refuse(text, 1, "too long: over 256 operations");
    memset(text, '1', 4999);
    refuse(text, 1, "at most 1000 characters");
    for (int i = 0; i < 900; i += 4)
        memcpy(text + i, "1?1:", 4);
    text[900] = '\0';
    refuse(text, 255, "more than 64 operations inside each other");
}

/* Every byte string of one and two characters, and many made of the language's own words, either works or says one
 * thing. */
SMP_TEST(any_text_works_or_has_one_diagnostic)
{
    static const char *const words[] = {"tid", "*", "[", "]",  "(",  ")",   "32",     "column", "row",
                                        "?",   ":", ",", "<<", "-",  "min", "random", "float",  "%",
                                        " ",   "0", "~", "x",  "0x", ";",   "&&",     "brev"};
    enum { WORDS = sizeof words / sizeof words[0] };
    uint32_t random = 1;
    for (int i = 0; i < 65536 + 60000; i++) {
        char text[200] = "";
        smp_diags diags = {0};
        smp_elements elements;
        if (i < 65536) {
            text[0] = (char)(i & 255);
            text[1] = (char)(i >> 8);
        }
        for (int k = 0; i >= 65536 && k < 12; k++) {
            random = random * 1664525u + 1013904223u;
            strcat(text, words[(random >> 16) % WORDS]);
        }
        smp_code code = smp_pattern_parse("PATTERN", text, &diags, &pattern);
        if (!code)
            code = smp_pattern_elements(&pattern, NULL, 0xffffffffu, 4, &diags, &elements);
        if (diags.errors != (code != SMP_OK) || (code && code != SMP_E_USAGE))
            fail_msg("'%s': code %d with %d errors", text, code, diags.errors);
        smp_diags_free(&diags);
    }
}
