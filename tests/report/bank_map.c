/* Maps of the banks: what they show, that they fit, and that nothing of a stranger's text leaks into markup. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "lab/report/bank_map.h"
#include "lab/report/bank_words.h"
#include "report/text.h"

static smp_bank_access strided(int width, uint32_t stride)
{
    smp_bank_access access = {.op = SMP_BANK_LOAD, .width = width, .active = 0xffffffffu};
    for (uint32_t lane = 0; lane < SMP_WARP; lane++)
        access.offset[lane] = lane * stride;
    return access;
}

/* The text of a map; the caller frees it. */
static char *map_text(smp_bank_access access, bool color)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    smp_bank_map_text(to, &access, color);
    fclose(to);
    return text;
}

static char *map_svg(smp_bank_access access, const char *title, const char *subtitle)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    smp_bank_map_svg(to, &access, title, subtitle);
    fclose(to);
    return text;
}

static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

SMP_TEST(a_two_way_conflict_takes_two_lines)
{
    char *text = map_text(strided(4, 8), false);
    const char *expected =
        "bank 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31\n"
        "  1: 0  .  1  .  2  .  3  .  4  .  5  .  6  .  7  .  8  .  9  . 10  . 11  . 12  . 13  . 14  . 15  .\n"
        "  2:16  . 17  . 18  . 19  . 20  . 21  . 22  . 23  . 24  . 25  . 26  . 27  . 28  . 29  . 30  . 31  .\n";
    assert_string_equal(text, expected);
    free(text);
}

SMP_TEST(lanes_of_one_word_share_a_cell)
{
    char *text = map_text(strided(4, 0), false);
    assert_non_null(strstr(text, "\n  1: 0+ ."));
    assert_int_equal(occurrences(text, "\n"), 2);
    free(text);
}

SMP_TEST(turns_and_advice_are_told)
{
    char text[300];
    const smp_bank_access column = strided(4, 128), row = strided(4, 4), pairs = strided(8, 8);
    assert_true(smp_bank_turns_text(text, sizeof text, &column));
    assert_string_equal(text, "lanes 0, 1, 2, 3 and 28 more want different words of bank 0");
    assert_true(smp_bank_advice_text(text, sizeof text, &column, 1, "tile"));
    assert_string_equal(text, "pad tile by 1 element of 4 bytes after each 32 (a row of 32 becomes one of 33): 1 "
                              "wavefront");
    smp_bank_access two = row;
    two.offset[8] = 128; /* bank 0, which lane 0 wants, too */
    assert_true(smp_bank_turns_text(text, sizeof text, &two));
    assert_string_equal(text, "lanes 0 and 8 want different words of bank 0");
    assert_false(smp_bank_turns_text(text, sizeof text, &row));
    assert_false(smp_bank_turns_text(text, sizeof text, &pairs)); /* two phases, no conflict */
    assert_false(smp_bank_advice_text(text, sizeof text, &(smp_bank_access){.width = 4}, 1, NULL));
}

SMP_TEST(every_map_fits_the_terminal)
{
    for (int width = 1; width <= 16; width *= 2)
        for (uint32_t stride = 0; stride <= 256; stride += 16) {
            char *text = map_text(strided(width, stride), false);
            for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
                if (strlen(line) > SMP_TEXT_WIDTH)
                    fail_msg("%zu columns: %s", strlen(line), line);
            free(text);
        }
}

SMP_TEST(colour_adds_codes_and_nothing_else)
{
    char *plain = map_text(strided(8, 16), false);
    char *painted = map_text(strided(8, 16), true), *to = painted;
    assert_non_null(strstr(painted, "\033["));
    for (const char *from = painted; *from;) {
        if (*from == '\033')
            from = strchr(from, 'm') + 1;
        else
            *to++ = *from++;
    }
    *to = '\0';
    assert_string_equal(painted, plain);
    free(plain);
    free(painted);
}

SMP_TEST(phases_of_wide_accesses_have_headings)
{
    char *text = map_text(strided(8, 8), false);
    assert_non_null(strstr(text, "phase 1 of 2: lanes 0-15\n"));
    assert_non_null(strstr(text, "phase 2 of 2: lanes 16-31\n"));
    free(text);
}

SMP_TEST(svg_has_a_cell_for_each_lane)
{
    char *svg = map_svg(strided(4, 8), "tid*2", NULL);
    assert_int_equal(occurrences(svg, "class=\"first\""), 16);
    assert_int_equal(occurrences(svg, "class=\"later\""), 16);
    assert_non_null(strstr(svg, "wavefront 2, bank 30: lane 31, byte 248"));
    assert_non_null(strstr(svg, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_non_null(strstr(svg, "<style>"));
    free(svg);
}

/* Wavefronts of JSON name the banks that serve, each with its lanes. */
SMP_TEST(json_has_the_schedule)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    const smp_bank_access access = strided(4, 128);
    smp_json json;
    assert_non_null(to);
    smp_json_begin(&json, to, true);
    smp_json_object(&json, NULL);
    smp_bank_access_json(&json, &access, "tile");
    smp_json_end(&json, '}');
    fclose(to);
    assert_non_null(strstr(text, "\"wavefronts\": 32, \"ideal\": 1, "));
    assert_non_null(strstr(text, "\"turns\": \"lanes 0, 1, 2, 3 and 28 more want different words of bank 0\""));
    assert_non_null(strstr(text, "\"advice\": \"pad tile by 1 element of 4 bytes after each 32 "));
    assert_int_equal(occurrences(text, "\"turn\": "), 32);
    assert_non_null(strstr(text, "{\"phase\": 0, \"turn\": 31, \"bank_lanes\": [0, 2147483648]}"));
    free(text);
}

SMP_TEST(titles_are_escaped)
{
    char *svg = map_svg(strided(4, 4), "<script>\"tid\" & 5\001</script>", NULL);
    assert_null(strstr(svg, "<script>"));
    assert_non_null(strstr(svg, "&lt;script&gt;&quot;tid&quot; &amp; 5?&lt;/script&gt;"));
    free(svg);
}

SMP_TEST(long_titles_are_cut_and_kept_for_screen_readers)
{
    char title[301];
    memset(title, 'x', 300);
    title[300] = '\0';
    char *svg = map_svg(strided(4, 4), title, "two");
    assert_int_equal(occurrences(svg, title), 1); /* the label */
    assert_non_null(strstr(svg, "xxxxx: two\">"));
    assert_non_null(strstr(svg, "x\xe2\x80\xa6</text>"));
    assert_non_null(strstr(svg, ">two</text>"));
    free(svg);
}

SMP_TEST(lanes_are_named_in_runs)
{
    char text[120];
    assert_string_equal(smp_bank_lanes_text(text, sizeof text, 0xffffffffu, " "), "0-31");
    assert_string_equal(smp_bank_lanes_text(text, sizeof text, 0x8000000bu, " "), "0 1 3 31");
    assert_string_equal(smp_bank_lanes_text(text, sizeof text, 0x00000e01u, ", "), "0, 9-11");
    assert_string_equal(smp_bank_lanes_text(text, sizeof text, 0, " "), "");
    char small[6];
    smp_bank_lanes_text(small, sizeof small, 0x55555555u, " ");
    assert_true(strlen(small) < sizeof small);
}
