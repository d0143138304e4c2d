/* Command lines: every type of option in every spelling, arguments, and what is said about mistakes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#include "base/alloc.h"
#include "cli/options.h"

typedef struct settings {
    bool quiet, verbose, help;
    int64_t count;
    uint64_t memory;
    double limit;
    const char *name, *report;
    int color;
    smp_strings stages, pairs, rest;
    const char *pipe, *in;
} settings;

static const char *const colors[] = {"auto", "always", "never", NULL};
static const smp_option first_rows[] = {
    {"count", 'c', SMP_O_INT, offsetof(settings, count), .fallback = "7", .argument = "N", .help = "x", .min = 0,
     .max = 100},
    {"memory", 'm', SMP_O_SIZE, offsetof(settings, memory), .size = 4096, .argument = "N", .help = "x"},
    {"limit", 0, SMP_O_NUMBER, offsetof(settings, limit), .fallback = "0.5", .argument = "N", .help = "x", .min = 0,
     .max = 1},
    {"name", 'n', SMP_O_STRING, offsetof(settings, name), .argument = "TEXT", .help = "x"},
    {"report", 0, SMP_O_STRING, offsetof(settings, report), .argument = "FILE", .help = "x", .flags = SMP_O_OPTIONAL},
    {"color", 0, SMP_O_CHOICE, offsetof(settings, color), .fallback = "never", .help = "x", .choices = colors},
    {"stage", 'e', SMP_O_LIST, offsetof(settings, stages), .argument = "STAGE", .help = "x"},
    {"set", 0, SMP_O_PAIRS, offsetof(settings, pairs), .argument = "NAME=VALUE", .help = "x"},
    {0},
};
static const smp_option second_rows[] = {
    {"help", 'h', SMP_O_FLAG, offsetof(settings, help), .help = "x", .flags = SMP_O_LEAVES},
    {"quiet", 'q', SMP_O_FLAG, offsetof(settings, quiet), .help = "x"},
    {"verbose", 'v', SMP_O_FLAG, offsetof(settings, verbose), .help = "x"},
    {0},
};
static const smp_argument_row arguments[] = {
    {"P.pipe", offsetof(settings, pipe), .unless = "stage", .help = "x"},
    {"IN", offsetof(settings, in), .help = "x"},
    {"REST", offsetof(settings, rest), .optional = true, .many = true, .help = "x"},
    {0},
};
static const smp_command command = {
    .name = "try",
    .help = "x",
    .settings_size = sizeof(settings),
    .groups = {{"first", first_rows}, {"second", second_rows}},
    .arguments = arguments,
};

static smp_error err;
static settings set;

/* Parses the words of a line separated by '|'. */
static smp_code parse(const char *line)
{
    static char text[512];
    char *words[64];
    int count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = line[0] ? strtok(text, "|") : NULL; word; word = strtok(NULL, "|"))
        words[count++] = word;
    err = (smp_error){0};
    return smp_options_parse(&command, count, words, &set, NULL, &err);
}

static void expect_done(const char *line)
{
    if (parse(line))
        fail_msg("%s: %s", line, err.message);
}

static void expect_refused(const char *line, const char *message, const char *hint)
{
    smp_code code = parse(line);
    smp_options_free(&command, &set);
    if (code != SMP_E_USAGE)
        fail_msg("%s was accepted", line);
    assert_string_equal(err.message, message);
    assert_string_equal(err.hint, hint);
}

SMP_TEST(defaults_come_from_the_table)
{
    expect_done("p|i");
    assert_int_equal(set.count, 7);
    assert_int_equal(set.memory, 4096);
    assert_true(set.limit == 0.5);
    assert_int_equal(set.color, 2);
    assert_null(set.name);
    assert_null(set.report);
    assert_string_equal(set.pipe, "p");
    assert_string_equal(set.in, "i");
    assert_int_equal(set.rest.count, 0);
    smp_options_free(&command, &set);
}

SMP_TEST(values_follow_or_are_joined)
{
    expect_done("--count=3|--memory|2K|p|-n|text|--limit|1|i|--color=auto|a|b|c");
    assert_int_equal(set.count, 3);
    assert_int_equal(set.memory, 2048);
    assert_true(set.limit == 1);
    assert_int_equal(set.color, 0);
    assert_string_equal(set.name, "text");
    assert_int_equal(set.rest.count, 3);
    assert_string_equal(set.rest.items[2], "c");
    smp_options_free(&command, &set);
}

SMP_TEST(letters_bundle)
{
    expect_done("-qvc9|p|i");
    assert_true(set.quiet && set.verbose);
    assert_int_equal(set.count, 9);
    smp_options_free(&command, &set);
    expect_done("-vntext|p|i");
    assert_string_equal(set.name, "text");
    smp_options_free(&command, &set);
}

SMP_TEST(lists_grow_and_replace_the_pipe_argument)
{
    expect_done("-e|one|--stage=two|-ethree|--set|a=1|--set=b=x=y|in.png");
    assert_int_equal(set.stages.count, 3);
    assert_string_equal(set.stages.items[0], "one");
    assert_string_equal(set.stages.items[2], "three");
    assert_string_equal(set.pairs.items[1], "b=x=y");
    assert_null(set.pipe);
    assert_string_equal(set.in, "in.png");
    smp_options_free(&command, &set);
}

SMP_TEST(a_dash_is_an_argument_and_two_end_options)
{
    expect_done("p|-|--|--quiet|-x");
    assert_string_equal(set.in, "-");
    assert_false(set.quiet);
    assert_int_equal(set.rest.count, 2);
    assert_string_equal(set.rest.items[1], "-x");
    smp_options_free(&command, &set);
}

SMP_TEST(an_optional_value_is_only_joined)
{
    expect_done("--report|p|i");
    assert_string_equal(set.report, "");
    assert_string_equal(set.pipe, "p");
    smp_options_free(&command, &set);
    expect_done("--report=r.json|p|i");
    assert_string_equal(set.report, "r.json");
    smp_options_free(&command, &set);
}

SMP_TEST(help_needs_no_arguments)
{
    char *words[] = {(char[]){"-h"}};
    bool chunks = false;
    assert_int_equal(smp_options_parse(&command, 1, words, &set, &chunks, &err), SMP_OK);
    assert_true(chunks && set.help);
    smp_options_free(&command, &set);
}

SMP_TEST(the_last_of_two_values_counts)
{
    expect_done("--count=3|--count=4|p|i");
    assert_int_equal(set.count, 4);
    smp_options_free(&command, &set);
}

SMP_TEST(unknown_options_get_a_suggestion)
{
    expect_refused("--cuont=3|p|i", "unknown option '--cuont'", "did you mean '--count'?");
    expect_refused("--coun=3|p|i", "unknown option '--coun'", "did you mean '--count'?"); /* no prefixes */
    expect_refused("--xyzzy|p|i", "unknown option '--xyzzy'", "smempipe try --help lists the options");
    expect_refused("-z|p|i", "unknown option '-z'", "smempipe try --help lists the options");
    expect_refused("-quiet|p|i", "unknown option '-quiet'", "did you mean '--quiet'?");
    expect_refused("-set|p|i", "unknown option '-set'", "did you mean '--set'?");
}

SMP_TEST(wrong_values_say_what_is_taken)
{
    expect_refused("--count=101|p|i", "'101' is not a valid value for --count",
                   "it takes a whole number from 0 to 100");
    expect_refused("--count=3x|p|i", "'3x' is not a valid value for --count", "it takes a whole number from 0 to 100");
    expect_refused("--count=|p|i", "'' is not a valid value for --count", "it takes a whole number from 0 to 100");
    expect_refused("--count|99999999999999999999|p|i", "'99999999999999999999' is not a valid value for --count",
                   "it takes a whole number from 0 to 100");
    expect_refused("--limit=nan|p|i", "'nan' is not a valid value for --limit", "it takes a number from 0 to 1");
    expect_refused("--memory=2X|p|i", "'2X' is not a valid value for --memory",
                   "it takes a whole number, with K, M, G or T for powers of 1024");
    expect_refused("--color=nevre|p|i", "--color takes no 'nevre'",
                   "did you mean 'never'? It takes auto, always, never");
    expect_refused("--set=a|p|i", "--set takes name=value, not 'a'", "write --set a=VALUE");
    expect_refused("--set==1|p|i", "--set takes name=value, not '=1'", "write --set name=VALUE");
    expect_refused("--quiet=1|p|i", "--quiet takes no value", "write --quiet alone");
    expect_refused("p|i|--name", "--name takes a value", "write --name TEXT");
    expect_refused("p|i|-qn", "--name takes a value", "write --name TEXT");
}

SMP_TEST(missing_arguments_are_named)
{
    expect_refused("", "P.pipe is missing", "write smempipe try P.pipe IN; P.pipe is x");
    expect_refused("p q", "IN is missing", "write smempipe try 'p q' IN; IN is x");
    expect_refused("-e|x", "IN is missing", "write smempipe try -e 'x' IN; IN is x");
}

SMP_TEST(sizes_are_whole_numbers_of_units)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0", 0}, {"17", 17}, {"1K", 1024}, {"3m", 3u << 20}, {"16G", UINT64_C(16) << 30}, {"1T", UINT64_C(1) << 40}};
    static const char *const bad[] = {
        "", "K", "-1", "+1", " 1", "1 ", "1.5G", "1KB", "1KK", "18446744073709551616", "99999999T"};
    uint64_t value;
    char text[32];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(smp_parse_size(good[i].text, &value));
        assert_int_equal(value, good[i].value);
        smp_size_text(text, sizeof text, value);
        uint64_t again;
        assert_true(smp_parse_size(text, &again));
        assert_int_equal(again, value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(smp_parse_size(bad[i], &value));
    smp_size_text(text, sizeof text, 2000000000);
    assert_string_equal(text, "2000000000");
    smp_size_text(text, sizeof text, UINT64_C(16) << 30);
    assert_string_equal(text, "16G");
}

SMP_TEST(running_out_of_memory_anywhere_leaks_nothing)
{
    uint64_t live = smp_alloc_live(), nth = 0;
    smp_code code;
    do {
        smp_alloc_fail_at(++nth);
        code = parse("-e|1|-e|2|--set|a=b|i|r|s|t|u|v|w|x|y|z");
        smp_alloc_fail_at(0);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        smp_options_free(&command, &set);
        assert_int_equal(smp_alloc_live(), live);
    } while (code);
    assert_true(nth > 4);
}
