/* The JSON writer: layout, escapes, numbers that read back, bytes that are no UTF-8. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "report/json.h"

/* Collects what is written between open_text and text_of. */
static char *buffer;
static size_t length;

static FILE *open_text(void)
{
    FILE *to = open_memstream(&buffer, &length);
    assert_non_null(to);
    return to;
}

static void expect_text(FILE *to, const char *want)
{
    assert_int_equal(fclose(to), 0);
    assert_string_equal(buffer, want);
    free(buffer);
}

SMP_TEST(nested_values_are_indented)
{
    smp_json json;
    FILE *to = open_text();
    smp_json_begin(&json, to, false);
    smp_json_object(&json, NULL);
    smp_json_string(&json, "name", "a");
    smp_json_array(&json, "list");
    smp_json_integer(&json, NULL, -3);
    smp_json_bool(&json, NULL, true);
    smp_json_end(&json, ']');
    smp_json_array(&json, "empty");
    smp_json_end(&json, ']');
    smp_json_string(&json, "nothing", NULL);
    smp_json_end(&json, '}');
    expect_text(
        to,
        "{\n  \"name\": \"a\",\n  \"list\": [\n    -3,\n    true\n  ],\n  \"empty\": [],\n  \"nothing\": null\n}\n");
}

SMP_TEST(compact_values_take_one_line)
{
    smp_json json;
    FILE *to = open_text();
    const double values[] = {1, 2.5, NAN};
    smp_json_begin(&json, to, true);
    smp_json_object(&json, NULL);
    smp_json_object(&json, "o");
    smp_json_bool(&json, "b", false);
    smp_json_end(&json, '}');
    smp_json_numbers(&json, "n", values, 3);
    smp_json_end(&json, '}');
    smp_json_object(&json, NULL);
    smp_json_end(&json, '}');
    expect_text(to, "{\"o\": {\"b\": false}, \"n\": [1, 2.5, null]}\n{}\n");
}

static void expect_quoted(const char *value, const char *want)
{
    smp_json json;
    FILE *to = open_text();
    smp_json_begin(&json, to, true);
    smp_json_string(&json, NULL, value);
    expect_text(to, want);
}

SMP_TEST(special_characters_are_escaped)
{
    expect_quoted("a\"b\\c", "\"a\\\"b\\\\c\"");
    expect_quoted("\n\r\t", "\"\\n\\r\\t\"");
    expect_quoted("\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"");
    expect_quoted("täst \xf0\x9f\x90\x88", "\"täst \xf0\x9f\x90\x88\"");
}

SMP_TEST(bytes_that_are_no_utf8_become_the_replacement_character)
{
    expect_quoted("latin\xe9.png", "\"latin\xef\xbf\xbd.png\"");
    expect_quoted("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                                 /* overlong */
    expect_quoted("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");                 /* a surrogate */
    expect_quoted("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* past U+10FFFF */
    expect_quoted("\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"");                                 /* cut short */
}

static void expect_number(double value, const char *want)
{
    smp_json json;
    FILE *to = open_text();
    smp_json_begin(&json, to, true);
    smp_json_number(&json, NULL, value);
    expect_text(to, want);
}

SMP_TEST(numbers_are_short_and_infinities_null)
{
    expect_number(0.1, "0.1");
    expect_number(255, "255");
    expect_number(-24000000, "-24000000");
    expect_number(1e300, "1e+300");
    expect_number(1.0 / 3, "0.3333333333333333");
    expect_number(NAN, "null");
    expect_number(INFINITY, "null");
    expect_number(-INFINITY, "null");
}

SMP_TEST(numbers_read_back_as_the_same_double)
{
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value, read;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        smp_json json;
        FILE *to = open_text();
        smp_json_begin(&json, to, true);
        smp_json_number(&json, NULL, value);
        assert_int_equal(fclose(to), 0);
        read = strtod(buffer, NULL);
        assert_memory_equal(&read, &value, sizeof value);
        free(buffer);
    }
}

SMP_TEST(nesting_past_the_depth_does_not_overrun)
{
    smp_json json;
    FILE *to = open_text();
    smp_json_begin(&json, to, true);
    for (int i = 0; i < 100; i++)
        smp_json_array(&json, NULL);
    for (int i = 0; i < 100; i++)
        smp_json_end(&json, ']');
    assert_in_range(json.depth, 0, 31);
    assert_int_equal(fclose(to), 0);
    free(buffer);
}
