/* Numbers, units, arithmetic, and text: the small parts of the language. */
#include "suite.h"

#include "pipe_case.h"

#include <locale.h>
#include <math.h>

#include "base/text/text.h"
#include "pipe/arena.h"
#include "pipe/language/lex.h"
#include "pipe/values/units.h"

SMP_TEST(numbers_are_decimal_and_whole)
{
    static const struct {
        const char *text;
        smp_number result;
        double value;
        smp_unit unit;
    } cases[] = {
        {"2", SMP_NUMBER_OK, 2, SMP_UNIT_NONE},          {"-3.25", SMP_NUMBER_OK, -3.25, SMP_UNIT_NONE},
        {"+.5", SMP_NUMBER_OK, .5, SMP_UNIT_NONE},       {"5.", SMP_NUMBER_OK, 5, SMP_UNIT_NONE},
        {"1e3", SMP_NUMBER_OK, 1000, SMP_UNIT_NONE},     {"1.5E-2px", SMP_NUMBER_OK, 0.015, SMP_UNIT_PX},
        {"0.1", SMP_NUMBER_OK, 0.1, SMP_UNIT_NONE},      {"2px", SMP_NUMBER_OK, 2, SMP_UNIT_PX},
        {"35%", SMP_NUMBER_OK, 0.35, SMP_UNIT_FRACTION}, {"440Hz", SMP_NUMBER_OK, 440, SMP_UNIT_HZ},
        {"3.5kHz", SMP_NUMBER_OK, 3500, SMP_UNIT_HZ},    {"2s", SMP_NUMBER_OK, 2, SMP_UNIT_S},
        {"20ms", SMP_NUMBER_OK, 0.02, SMP_UNIT_S},       {"-3dB", SMP_NUMBER_OK, -3, SMP_UNIT_DB},
        {"-1dBFS", SMP_NUMBER_OK, -1, SMP_UNIT_DB},      {"90deg", SMP_NUMBER_OK, 90, SMP_UNIT_DEG},
        {"8bit", SMP_NUMBER_OK, 8, SMP_UNIT_BIT},        {"2pz", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},
        {"2 px", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},     {"2hz", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},
        {"2,5", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},      {"0x10", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},
        {"1e", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},       {"1.2.3", SMP_NUMBER_UNIT, 0, SMP_UNIT_NONE},
        {"nan", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},      {"inf", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},
        {"-", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},        {".", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},
        {"", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},         {"--1", SMP_NUMBER_NONE, 0, SMP_UNIT_NONE},
        {"1e999", SMP_NUMBER_LARGE, 0, SMP_UNIT_NONE},   {"1e308kHz", SMP_NUMBER_LARGE, 0, SMP_UNIT_NONE},
        {"1e-999", SMP_NUMBER_OK, 0, SMP_UNIT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        smp_quantity quantity;
        size_t unit_at;
        smp_number result = smp_quantity_read(cases[i].text, strlen(cases[i].text), &quantity, &unit_at);
        if (result != cases[i].result ||
            (result == SMP_NUMBER_OK && (quantity.value != cases[i].value || quantity.unit != cases[i].unit)))
            fail_msg("'%s' gives %d, %.17g, unit %d", cases[i].text, (int)result, quantity.value, (int)quantity.unit);
    }
}

SMP_TEST(numbers_do_not_follow_the_locale)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < sizeof commas / sizeof commas[0]; i++)
        set = setlocale(LC_NUMERIC, commas[i]);
    if (!set)
        skip(); /* no locale with a decimal comma is installed */
    char probe[32], text[SMP_NUMBER_TEXT];
    snprintf(probe, sizeof probe, "%g", 1.5);
    smp_quantity quantity;
    size_t unit_at;
    smp_number result = smp_quantity_read("2.5px", 5, &quantity, &unit_at);
    smp_number_text(text, 2.5);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(probe, "1,5");
    assert_int_equal(result, SMP_NUMBER_OK);
    assert_true(quantity.value == 2.5);
    assert_string_equal(text, "2.5");
}

SMP_TEST(numbers_print_as_short_as_they_read_back)
{
    static const struct {
        double value;
        smp_unit unit;
        const char *text;
    } cases[] = {
        {0, SMP_UNIT_NONE, "0"},
        {100, SMP_UNIT_NONE, "100"},
        {0.1, SMP_UNIT_NONE, "0.1"},
        {-2.5, SMP_UNIT_PX, "-2.5px"},
        {1.0 / 3, SMP_UNIT_NONE, "0.3333333333333333"},
        {48000, SMP_UNIT_HZ, "48000Hz"},
        {0.005, SMP_UNIT_FRACTION, "0.5%"},
        {0.35, SMP_UNIT_FRACTION, "35%"},
        {1, SMP_UNIT_FRACTION, "1"},
        {2, SMP_UNIT_FRACTION, "2"},
        {1e20, SMP_UNIT_NONE, "1e+20"},
        {-6, SMP_UNIT_DB, "-6dB"},
        {123456789, SMP_UNIT_NONE, "123456789"},
    };
    char text[SMP_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(smp_quantity_text(text, cases[i].value, cases[i].unit), cases[i].text);
    /* Whatever fraction a percentage makes prints as something that reads back as the same fraction. */
    for (int i = 1; i < 1000; i++) {
        double value = i / 1000.0;
        smp_quantity back;
        size_t unit_at;
        smp_quantity_text(text, value, SMP_UNIT_FRACTION);
        assert_int_equal(smp_quantity_read(text, strlen(text), &back, &unit_at), SMP_NUMBER_OK);
        assert_true(back.value == value);
    }
}

SMP_TEST(utf8_is_decoded_strictly)
{
    static const struct {
        const char *bytes;
        size_t length, used;
        uint32_t code;
    } cases[] = {
        {"a", 1, 1, 'a'},
        {"\xC3\xB6", 2, 2, 0xF6},
        {"\xE6\x97\xA5", 3, 3, 0x65E5},
        {"\xF0\x9F\x98\x80", 4, 4, 0x1F600},
        {"\xC0\x80", 2, 1, SMP_UTF8_INVALID},         /* overlong */
        {"\xE0\x80\xAF", 3, 1, SMP_UTF8_INVALID},     /* overlong */
        {"\xED\xA0\x80", 3, 1, SMP_UTF8_INVALID},     /* surrogate */
        {"\xF4\x90\x80\x80", 4, 1, SMP_UTF8_INVALID}, /* past U+10FFFF */
        {"\xC3", 1, 1, SMP_UTF8_INVALID},             /* cut short */
        {"\xE6\x97", 2, 1, SMP_UTF8_INVALID},
        {"\x80", 1, 1, SMP_UTF8_INVALID},
        {"\xFF", 1, 1, SMP_UTF8_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t code;
        assert_int_equal(smp_utf8_decode(cases[i].bytes, cases[i].length, &code), cases[i].used);
        assert_int_equal(code, cases[i].code);
    }
    assert_int_equal(smp_utf8_width('a'), 1);
    assert_int_equal(smp_utf8_width(0x301), 0);   /* combining acute */
    assert_int_equal(smp_utf8_width(0x65E5), 2);  /* ideograph */
    assert_int_equal(smp_utf8_width(0x1F600), 2); /* emoji */
    assert_int_equal(smp_utf8_width(0x444), 1);
    assert_true(smp_utf8_unprintable(0x1B));
    for (const uint32_t *at = (const uint32_t[]){0x7F, 0x80, 0x9B, 0x9F, 0x61C, 0x200E, 0x200F, 0x2028, 0x202A, 0x202E,
                                                 0x2066, 0x2069, 0};
         *at; at++)
        assert_true(smp_utf8_unprintable(*at));
    assert_false(smp_utf8_unprintable('\t'));
}

SMP_TEST(shown_text_is_cut_between_characters)
{
    char buffer[SMP_SHOWN], text[200];
    memset(text, 'a', sizeof text);
    memcpy(text + 59, "\xE6\x97\xA5", 3);
    smp_shown(buffer, text, 150);
    assert_int_equal(strlen(buffer), 59 + 3);
    assert_string_equal(buffer + 58, "a...");
}

SMP_TEST(nearest_finds_typing_mistakes_only)
{
    static const char *const words[] = {"sigma", "edge", "truncate", "by"};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"sigam", "sigma"},
        {"Sigma", "sigma"},
        {"sgma", "sigma"},
        {"egde", "edge"},
        {"trunctae", "truncate"},
        {"radius", NULL},
        {"x", NULL},
        {"bz", "by"},
        {"", NULL},
        {"ed", NULL},
        {"sigmoidal", NULL},
        {"a-word-that-is-much-longer-than-any-name-of-the-table", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *near = smp_nearest(cases[i].word, strlen(cases[i].word), words, 4);
        if (near != cases[i].nearest && (!near || !cases[i].nearest || strcmp(near, cases[i].nearest)))
            fail_msg("'%s' gives '%s'", cases[i].word, near ? near : "nothing");
    }
    static const char *const others[] = {"match", "notch"}; /* two edits of five letters are another word */
    assert_null(smp_nearest("pitch", 5, others, 2));
    assert_null(smp_nearest("nosuch", 6, others, 2));
}

static double sigma_of(const char *expression)
{
    char text[256];
    soften_params params;
    snprintf(text, sizeof text, "param size = 35px\nparam n = 3\nsoften {%s} truncate={$n+1px/1px+0*$size/1px}\n",
             expression);
    pipe_case c = pipe_good(text);
    pipe_params(&c, 0, &params);
    pipe_done(&c);
    return params.sigma;
}

SMP_TEST(arithmetic_follows_the_usual_rules)
{
    assert_true(sigma_of("1+2*3") == 7);
    assert_true(sigma_of("(1+2)*3") == 9);
    assert_true(sigma_of("10-4-3") == 3);
    assert_true(sigma_of("24/4/2") == 3);
    assert_true(sigma_of("2--3") == 5);
    assert_true(sigma_of("-(2-5)") == 3);
    assert_true(sigma_of("$size/2") == 17.5);
    assert_true(sigma_of("$n*2px") == 6);
    assert_true(sigma_of("min(4, 3, 5)") == 3);
    assert_true(sigma_of("max(1px,$size , 2)") == 35);
    assert_true(sigma_of("round(2.5)") == 3);
    assert_true(sigma_of("round($size/3)") == 12);
    assert_true(sigma_of("50%*$size") == 17.5);
    assert_true(sigma_of("width/100") == 6.4);
    assert_true(sigma_of("min(width,height)/48") == 10);
    assert_true(sigma_of("channels*1px") == 3);
    assert_true(sigma_of("1e1") == 10);
    assert_true(sigma_of("3") == 3);
    assert_true(sigma_of("1+\\\n2") == 3);
}

SMP_TEST(arithmetic_checks_units_before_any_input)
{
    pipe_one_error("soften {2px+3Hz}", 1, 12, "cannot add a length and a frequency", NULL);
    pipe_one_error("soften {width-1s}", 1, 14, "cannot subtract a length and a duration", NULL);
    pipe_one_error("soften {width*height}", 1, 14, "cannot multiply a length by a length", NULL);
    pipe_one_error("soften {1/2px}", 1, 10, "cannot divide a plain number by a length", NULL);
    pipe_one_error("soften {max(1px,2dB)}", 1, 9, "cannot compare a length and a level", NULL);
    pipe_one_error("soften 2px truncate={width/100}", 1, 21,
                   "'truncate' is a plain number, but '{width/100}' is a length", NULL);
    pipe_one_error("cut {width}", 1, 5, "'cutoff' is a frequency, but '{width}' is a length", NULL);
    pipe_case c = pipe_good("cut {1/20ms}\ncut {rate*2ms*1Hz}\ncut 440 fade={2/100Hz}\n");
    pipe_done(&c);
}

SMP_TEST(arithmetic_reports_its_mistakes)
{
    pipe_one_error("soften {}", 1, 9, "nothing stands between the braces", NULL);
    pipe_one_error("soften {2+}", 1, 11, "a value is missing before '}'", NULL);
    pipe_one_error("soften {(2+3}", 1, 9, "this '(' is never closed", NULL);
    pipe_one_error("soften {2+3)}", 1, 12, "this ')' closes nothing", NULL);
    pipe_one_error("soften {2 3}", 1, 11, "an operator is missing before this", NULL);
    pipe_one_error("soften {2/0}", 1, 8, "division by zero", NULL);
    pipe_one_error("soften {1e300*1e300}", 1, 8, "the result is too large", NULL);
    pipe_one_error("soften {1e999}", 1, 9, "this number is too large", NULL);
    pipe_one_error("soften {2pz}", 1, 10, "unknown unit 'pz'", "did you mean 'px'?");
    pipe_one_error("soften {widht/2}", 1, 9, "unknown name 'widht' in arithmetic", "did you mean 'width'?");
    pipe_one_error("soften {sqrt(2)}", 1, 9, "unknown name 'sqrt' in arithmetic", NULL);
    pipe_one_error("soften {min(2)}", 1, 9, "min takes two values or more, not 1", NULL);
    pipe_one_error("soften {round(1,2)}", 1, 9, "round takes one value, not 2", NULL);
    pipe_one_error("soften {round}", 1, 9, "this is a function", "write round(...)");
    pipe_one_error("soften {@input}", 1, 9, "arithmetic is done with numbers, not with pictures", NULL);
    pipe_one_error("soften {$}", 1, 9, "'$' needs the name of a parameter", NULL);
    pipe_one_error("soften {2*3}px", 1, 13, "a blank is missing before 'px'", NULL);
    pipe_one_error("param e = clamp\nsoften {$e*2}", 2, 9, "'$e' is 'clamp', not a number", NULL);
    pipe_one_error("soften {2", 1, 8, "this '{' has no closing '}' on its line", "close it with }");
}

SMP_TEST(tokens_carry_their_places)
{
    static const char text[] = "\xEF\xBB\xBFname key=2px \"a # b\\\"\" $x @y {1+2}[1;2]-> # comment\r\nlast\\\n  word";
    static const struct {
        smp_token_kind kind;
        const char *text;
        bool apart;
    } tokens[] = {
        {SMP_TOKEN_WORD, "name", true},
        {SMP_TOKEN_WORD, "key", true},
        {SMP_TOKEN_EQUALS, "=", false},
        {SMP_TOKEN_WORD, "2px", false},
        {SMP_TOKEN_STRING, "\"a # b\\\"\"", true},
        {SMP_TOKEN_VALUE, "$x", true},
        {SMP_TOKEN_TAP, "@y", true},
        {SMP_TOKEN_BRACE, "{1+2}", true},
        {SMP_TOKEN_OPEN, "[", false},
        {SMP_TOKEN_WORD, "1", false},
        {SMP_TOKEN_SEMICOLON, ";", false},
        {SMP_TOKEN_WORD, "2", false},
        {SMP_TOKEN_CLOSE, "]", false},
        {SMP_TOKEN_ARROW, "->", false},
        {SMP_TOKEN_LINE, "", true},
        {SMP_TOKEN_WORD, "last", true},
        {SMP_TOKEN_WORD, "word", true},
        {SMP_TOKEN_END, "", false},
    };
    smp_diags diags = {0};
    smp_lexer lexer = {.text = text, .length = sizeof text - 1, .diags = &diags};
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        smp_token token = smp_lex(&lexer);
        if (token.kind != tokens[i].kind || token.apart != tokens[i].apart || token.length != strlen(tokens[i].text) ||
            memcmp(text + token.start, tokens[i].text, token.length) != 0)
            fail_msg("token %zu: kind %d, '%.*s', apart %d", i, (int)token.kind, (int)token.length, text + token.start,
                     token.apart);
    }
    assert_int_equal(diags.count, 0);
    smp_diags_free(&diags);
}

SMP_TEST(arena_refuses_past_its_limit)
{
    smp_arena arena = {.limit = 64 << 10};
    while (smp_arena_alloc(&arena, 1000))
        ;
    assert_true(arena.failed);
    assert_true(arena.full);
    assert_true(arena.used <= arena.limit);
    smp_arena_free(&arena);
    assert_int_equal(smp_alloc_live(), 0);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)
