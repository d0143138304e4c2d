/* Texts from strangers: huge, deep, broken, random; and memory that runs out at every point. Each must end in a program
 * or in an error, soon, with nothing left behind. */
#include "suite.h"

#include "pipe_case.h"

#include <time.h>

#include "../fuzz/fuzz_pipe.c"
#include "base/text/text.h"
#include "pipe/limits.h"

static const char sample[] = "# every construct once\n"
                             "smempipe 1\n"
                             "kind image\n"
                             "param size = 35px min=3px max=200px help=\"strokes\"\n"
                             "param s = {width/100} max=1000px\n"
                             "param k = [0 -1 0; -1 5 -1; 0 -1 0]\n"
                             "negate\n"
                             "soften {$size/2 + min(1px, width)} edge=mirror -> @paper\n"
                             "from @input\n"
                             "light linear\n"
                             "filter [1 2 1;\n 2 {4*$s/1px} 2; 1 2 1] taps=31 \\\n flip=no\n"
                             "filter $k scale=auto\n"
                             "combine by=@paper clip=0.5%\n"
                             "choose 90deg depth=8bit\n"
                             "soften $s\n"
                             "save \"deep/thumb.png\"\n"
                             "measure name=\"p \\\"q\\\"\" bins=16\n";

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* of this process: others may load the machine */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Parses; whatever comes of it must be freed, and be quick (a generous limit: sanitizers are slow). */
static smp_code survive(const char *text, size_t length)
{
    double start = seconds();
    pipe_case c = pipe_parse_with(text, length, NULL, 0, NULL, NULL);
    smp_code code = c.code;
    char *shown = smp_diags_text(&c.diags, true), *json = smp_diags_json(&c.diags);
    assert_non_null(shown);
    assert_non_null(json);
    assert_int_equal(code != SMP_OK, c.diags.errors > 0 || code == SMP_E_LIMIT);
    smp_free(shown);
    smp_free(json);
    pipe_done(&c);
    double took = seconds() - start;
    if (took > 5)
        fail_msg("took %.1f s", took);
    return code;
}

/* A text of `count` pieces between a head and a tail. */
static smp_code survive_repeated(const char *head, const char *piece, size_t count, const char *tail)
{
    smp_text text = {0};
    smp_text_put(&text, head, strlen(head));
    for (size_t i = 0; i < count; i++)
        smp_text_put(&text, piece, strlen(piece));
    smp_text_put(&text, tail, strlen(tail));
    size_t length = text.length;
    char *all = smp_text_take(&text);
    smp_code code = survive(all, length);
    smp_free(all);
    return code;
}

SMP_TEST(the_sample_is_good)
{
    pipe_case c = pipe_good(sample);
    assert_int_equal(c.program->node_count, 8);
    pipe_done(&c);
}

SMP_TEST(deep_nesting_is_refused)
{
    static const char *const pieces[] = {"(", "min(1,", "-", "+", "1+(", "{", "max((", "round("};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        smp_code code = survive_repeated("soften {", pieces[i], 100000, "1}\n");
        assert_int_equal(code, pieces[i][0] == '-' || pieces[i][0] == '+' ? SMP_OK : SMP_E_PIPE);
    }
    assert_int_equal(survive_repeated("filter ", "[", 500000, "\n"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("filter ", "[\n", 200000, "\n"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("", "filter [\n", 100000, "\n"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("filter [1 ", "[", 200000, "]"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("filter [", "1;", 200000, "]"), SMP_E_PIPE);
    char text[400] = "soften {";
    for (int i = 0; i < 64; i++)
        strcat(text, "(");
    strcat(text, "2");
    for (int i = 0; i < 64; i++)
        strcat(text, ")");
    strcat(text, "}");
    assert_int_equal(survive(text, strlen(text)), SMP_OK);
}

SMP_TEST(huge_texts_are_refused_or_read)
{
    assert_int_equal(survive_repeated("", "negate\n", 200000, ""), SMP_E_PIPE); /* more than 1 MiB */
    assert_int_equal(survive_repeated("", "negate\n", 140000, ""), SMP_E_PIPE); /* more statements than allowed */
    assert_int_equal(survive_repeated("", "negate\n", SMP_MAX_NODES, ""), SMP_OK);
    assert_int_equal(survive_repeated("", "\n", 1 << 20, ""), SMP_OK);
    assert_int_equal(survive_repeated("# ", "x", 1000000, ""), SMP_OK);
    assert_int_equal(survive_repeated("measure name=\"", "x", 1000000, "\"\n"), SMP_OK);
    assert_int_equal(survive_repeated("", "x", 1000000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("soften ", "9", 1000000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("soften", " 1", 500000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("soften", " a=1", 250000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("soften 1", " \\\n", 300000, ""), SMP_OK);
    assert_int_equal(survive_repeated("filter [", "1 ", 60000, "]\n"), SMP_OK);
    assert_int_equal(survive_repeated("filter [", "1 ", 500000, "]\n"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("soften {1", "+1", 400000, "}\n"), SMP_E_PIPE);
    assert_int_equal(survive_repeated("", "negate -> @a\n", 80000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("", "from @nothing\n", 70000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("", "\"\n", 500000, ""), SMP_E_PIPE);
    assert_int_equal(survive_repeated("", "$ \x01 {", 200000, ""), SMP_E_PIPE);
}

SMP_TEST(many_names_stay_quick)
{
    smp_text text = {0};
    for (int i = 0; i < 4900; i++)
        smp_text_print(&text, "negate -> @tap%d\nfrom @tap%d\n", i, i);
    size_t length = text.length;
    char *all = smp_text_take(&text);
    assert_int_equal(survive(all, length), SMP_OK);
    smp_free(all);
    for (int i = 0; i < 9000; i++)
        smp_text_print(&text, "from @gone%d\n", i);
    length = text.length;
    all = smp_text_take(&text);
    assert_int_equal(survive(all, length), SMP_E_PIPE);
    smp_free(all);
}

/* Each parameter doubles the one before: 2^60 steps if nobody counts. */
SMP_TEST(arithmetic_that_doubles_is_stopped)
{
    smp_text text = {0};
    smp_text_print(&text, "param p0 = {width}\n");
    for (int i = 1; i < 60; i++)
        smp_text_print(&text, "param p%d = {$p%d+$p%d}\n", i, i - 1, i - 1);
    smp_text_print(&text, "soften $p59\n");
    size_t length = text.length;
    char *all = smp_text_take(&text);
    assert_int_equal(survive(all, length), SMP_E_PIPE);
    smp_free(all);
    /* Right-nested through parameters: the stack is what grows. */
    smp_text_print(&text, "param p0 = {width}\n");
    for (int i = 1; i < 900; i++)
        smp_text_print(&text, "param p%d = {1px+(1px+$p%d)}\n", i, i - 1);
    smp_text_print(&text, "soften $p899\n");
    length = text.length;
    all = smp_text_take(&text);
    assert_int_equal(survive(all, length), SMP_E_PIPE);
    smp_free(all);
}

/* One large matrix in every stage costs memory out of proportion to the text. */
SMP_TEST(memory_is_bounded)
{
    smp_text text = {0};
    smp_text_print(&text, "param k = [");
    for (int i = 0; i < 60000; i++)
        smp_text_print(&text, "1 ");
    smp_text_print(&text, "]\n");
    for (int i = 0; i < 5000; i++)
        smp_text_print(&text, "filter $k\n");
    size_t length = text.length;
    char *all = smp_text_take(&text);
    uint64_t live = smp_alloc_live();
    assert_int_equal(survive(all, length), SMP_E_LIMIT);
    assert_true(smp_alloc_peak() < live + ((uint64_t)SMP_MAX_MEMORY * 3) / 2);
    smp_free(all);
}

SMP_TEST(bytes_that_are_no_text_are_refused)
{
    pipe_case c = pipe_parse_with("negate\0negate\n", 14, NULL, 0, NULL, NULL);
    assert_int_equal(c.code, SMP_E_PIPE);
    assert_int_equal(c.diags.count, 1);
    assert_string_equal(c.diags.items[0].message, "this is not a text: it holds a null byte (0x00)");
    pipe_done(&c);
    static const char *const texts[] = {"\xFF\xFE", "negate \xC3", "\xED\xA0\x80", "measure name=\"\xC0\x80\"", "\x80"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        c = pipe_parse(texts[i]);
        assert_int_equal(c.code, SMP_E_PIPE);
        assert_int_equal(c.diags.count, 1);
        pipe_done(&c);
    }
}

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static size_t edit(char *text, size_t length, size_t most)
{
    static const char *const scraps[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         "\"",
                                         "$",
                                         "@",
                                         "->",
                                         "=",
                                         ";",
                                         "#",
                                         "\\\n",
                                         "(",
                                         ")",
                                         "1e9",
                                         "include \"x\"",
                                         "include \"none\"",
                                         "\xC3",
                                         "\n",
                                         "min(",
                                         "@input",
                                         "$size",
                                         "2px",
                                         "width",
                                         "/0",
                                         "param ",
                                         "\t",
                                         "\r",
                                         "-",
                                         "0x"};
    size_t at = 1 + random_below((uint32_t)length - 1);
    uint32_t what = random_below(4);
    const char *scrap = scraps[random_below(sizeof scraps / sizeof scraps[0])];
    size_t n = strlen(scrap);
    if (what == 0) {
        text[at] = (char)random_below(256);
    } else if (what == 1) {
        size_t cut = random_below(20);
        cut = cut < length - at ? cut : length - at;
        memmove(text + at, text + at + cut, length - at - cut);
        length -= cut;
    } else if (length + n < most) {
        memmove(text + at + n, text + at, length - at);
        memcpy(text + at, scrap, n);
        length += n;
    }
    return length;
}

SMP_TEST(mutations_of_a_pipeline_never_crash)
{
    char text[2048];
    random_state = 20240517;
    for (int round = 0; round < 1500; round++) {
        size_t length = sizeof sample - 1;
        text[0] = (char)random_below(16);
        memcpy(text + 1, sample, length);
        length++;
        for (uint32_t edits = 1 + random_below(6); edits > 0 && length >= 2; edits--)
            length = edit(text, length, sizeof text);
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
    }
    for (int round = 0; round < 500; round++) {
        size_t length = 1 + random_below(200);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(round % 2 ? random_below(256) : 32 + random_below(95));
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
    }
}

static smp_code load_common(void *context, const char *including, const char *path, char **text, size_t *length,
                            smp_error *err)
{
    static const char common[] =
        "param strength = 0.5\nparam t = \"x\"\nsoften {$strength*width} -> @s\ncombine @s\nmeasure name=$t\n";
    (void)context, (void)including, (void)path;
    *text = smp_strndup(common, sizeof common - 1);
    *length = *text ? sizeof common - 1 : 0;
    return *text ? SMP_OK : smp_fail_memory(err, "text", sizeof common);
}

/* Everything that a command does with a text. False when it was the memory that failed. */
static bool whole_use(const char *text, bool expect_good)
{
    static const smp_setting settings[] = {{"size", "50px"}};
    smp_diags diags = {0};
    smp_program *program;
    smp_error err = {0};
    smp_code code =
        smp_program_parse("t.pipe", text, strlen(text), settings, 1, load_common, NULL, &diags, &program, &err);
    bool memory = code != SMP_E_MEMORY;
    assert_true(code == SMP_E_MEMORY || code == (expect_good ? SMP_OK : SMP_E_PIPE));
    char *shown = smp_diags_text(&diags, false), *json = smp_diags_json(&diags);
    memory &= shown && json;
    smp_shape shape = {.kind = SMP_IMAGE, .width = 640, .height = 480, .channels = 3};
    for (size_t i = 0; program && i < program->node_count; i++) {
        char params[256];
        code = smp_node_params(program, &program->nodes[i], &shape, NULL, NULL, params, &err);
        assert_true(code == SMP_OK || code == SMP_E_MEMORY);
        char *words = code ? NULL : smp_params_text(program->nodes[i].stage, params);
        memory &= words != NULL;
        smp_free(words);
    }
    smp_free(shown);
    smp_free(json);
    smp_program_free(program);
    smp_diags_free(&diags);
    return memory;
}

SMP_TEST(memory_may_run_out_at_any_point)
{
    smp_text good = {0}, bad = {0};
    smp_text_print(&good, "%sinclude \"c.pipe\" strength=0.1 t=\"y\"\n", sample);
    smp_text_print(&bad,
                   "%sinclude \"c.pipe\" strenth=0.1\nsoftem 2px\nsoften 2pz sigam=3\nfrom @papr\nblur\n[\nsoften "
                   "$siz\nparam x = 3 mni=2\n",
                   sample);
    char *texts[] = {smp_text_take(&good), smp_text_take(&bad)};
    for (int i = 0; i < 2; i++) {
        uint64_t live = smp_alloc_live();
        bool done = false;
        for (uint64_t nth = 1; !done && nth < 20000; nth++) {
            uint64_t before = smp_alloc_count();
            smp_alloc_fail_at(nth);
            bool memory = whole_use(texts[i], i == 0);
            done = smp_alloc_count() - before < nth; /* it got through without reaching the Nth */
            smp_alloc_fail_at(0);
            /* A failed allocation must not pass for success. */
            if (memory != done)
                fail_msg("text %d, allocation %llu: %s", i, (unsigned long long)nth,
                         memory ? "its failure went unseen" : "failed without cause");
            assert_int_equal(smp_alloc_live(), live);
        }
        assert_true(done);
    }
    smp_free(texts[0]);
    smp_free(texts[1]);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)
