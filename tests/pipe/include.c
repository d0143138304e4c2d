/* Parameters, --set, and texts that include others. */
#include "suite.h"

#include "pipe_case.h"

typedef struct file {
    const char *path, *text;
} file;

typedef struct folder {
    const file *files;
    size_t count;
    int loads;
} folder;

/* A folder in memory: the path seen from the including file's folder, as a loader of files sees it. */
static smp_code load(void *context, const char *including, const char *path, char **text, size_t *length,
                     smp_error *err)
{
    folder *from = context;
    char joined[600];
    const char *slash = strrchr(including, '/');
    snprintf(joined, sizeof joined, "%.*s%s", slash && path[0] != '/' ? (int)(slash - including) + 1 : 0, including,
             path);
    from->loads++;
    for (size_t i = 0; i < from->count; i++)
        if (!strcmp(from->files[i].path, joined)) {
            *length = strlen(from->files[i].text);
            *text = smp_strndup(from->files[i].text, *length);
            return *text ? SMP_OK : smp_fail_memory(err, "text", *length);
        }
    return smp_fail(err, SMP_E_READ, "no file '%s'", joined);
}

static pipe_case parse_in(const char *text, const file *files, size_t count)
{
    folder in = {files, count, 0};
    return pipe_parse_with(text, strlen(text), NULL, 0, load, &in);
}

static pipe_case set(const char *text, const char *name, const char *value)
{
    smp_setting setting = {name, value};
    return pipe_parse_with(text, strlen(text), &setting, 1, NULL, NULL);
}

static void expect(pipe_case c, const char *expected)
{
    char *shown = smp_diags_text(&c.diags, false);
    assert_string_equal(shown, expected);
    smp_free(shown);
    pipe_done(&c);
}

static double sigma_set(const char *declared, const char *value)
{
    char text[200];
    snprintf(text, sizeof text, "param size = %s\nsoften $size\n", declared);
    pipe_case c = set(text, "size", value);
    soften_params params;
    if (c.code)
        pipe_show(&c);
    pipe_params(&c, 0, &params);
    assert_string_equal(c.program->params[0].text, value);
    pipe_done(&c);
    return params.sigma;
}

SMP_TEST(a_setting_replaces_the_declared_value)
{
    assert_true(sigma_set("35px min=3px max=200px", "50px") == 50);
    assert_true(sigma_set("35px", "50") == 50);
    assert_true(sigma_set("35", "50px") == 50);
    assert_true(sigma_set("35 min=3px", "50px") == 50);
    assert_true(sigma_set("35px", "{2*4}") == 8);
    assert_true(sigma_set("{width/2}", "7px") == 7);
}

SMP_TEST(settings_may_be_words_texts_and_lists)
{
    pipe_case c = set("param e = clamp\nsoften 2 edge=$e", "e", "mirror");
    soften_params soften;
    pipe_params(&c, 0, &soften);
    assert_int_equal(soften.edge, 2);
    pipe_done(&c);
    /* A shell takes the quotes away. */
    c = set("param t = \"a b\"\nmeasure name=$t", "t", "hello world # not a comment");
    assert_string_equal(c.program->nodes[0].name, "hello world # not a comment");
    pipe_done(&c);
    c = set("param t = \"a b\"\nmeasure name=$t", "t", "\"quo\\\"ted\"");
    assert_string_equal(c.program->nodes[0].name, "quo\"ted");
    pipe_done(&c);
    c = set("param k = [1 2]\nfilter $k", "k", "[1 2; 3 4]");
    filter_params filter;
    pipe_params(&c, 0, &filter);
    assert_int_equal(filter.kernel.rows, 2);
    assert_true(filter.kernel.values[3] == 4);
    pipe_done(&c);
    c = set("param a = yes\nfilter flip=$a", "a", "no");
    pipe_params(&c, 0, &filter);
    assert_false(filter.flip);
    pipe_done(&c);
}

SMP_TEST(settings_are_checked)
{
    static const char text[] = "param paper = 35px min=3px max=200px\nsoften $paper\n";
    expect(set(text, "papr", "50px"), "--set:1:1: error: this pipeline has no parameter 'papr'\n"
                                      "   1 | papr=50px\n"
                                      "     | ^~~~ did you mean 'paper'?\n"
                                      "     = note: its parameters: paper\n");
    expect(set(text, "paper", "500px"), "--set:1:7: error: '$paper' is 500px, but it must be 3px to 200px\n"
                                        "   1 | paper=500px\n"
                                        "     |       ^~~~~\n");
    expect(set(text, "paper", "3Hz"), "--set:1:7: error: 'paper' is a length, but '3Hz' is a frequency\n"
                                      "   1 | paper=3Hz\n"
                                      "     |       ^~~\n");
    expect(set(text, "paper", "50pz"), "--set:1:7: error: 'paper' must be a number, not '50pz'\n"
                                       "   1 | paper=50pz\n"
                                       "     |       ^~~~\n");
    expect(set(text, "paper", ""), "--set:1:7: error: a value is missing\n"
                                   "   1 | paper=\n"
                                   "     |       ^\n");
    expect(set(text, "paper", "5 px"), "--set:1:9: error: one value was expected, but 'px' follows\n"
                                       "   1 | paper=5 px\n"
                                       "     |         ^~\n");
    expect(set("negate", "x", "1"), "--set:1:1: error: this pipeline has no parameter 'x'\n"
                                    "   1 | x=1\n"
                                    "     | ^\n"
                                    "     = note: it declares no parameters\n");
    smp_setting twice[] = {{"paper", "4px"}, {"paper", "5px"}};
    expect(pipe_parse_with(text, strlen(text), twice, 2, NULL, NULL), "--set:1:1: error: 'paper' is set twice\n"
                                                                      "   1 | paper=5px\n"
                                                                      "     | ^~~~~\n");
}

SMP_TEST(declarations_are_checked)
{
    pipe_one_error("param a = 3px min=5px\nsoften $a", 1, 11, "'$a' is 3px, but it must be at least 5px", NULL);
    pipe_one_error("param a = 3px max=2\nsoften $a", 1, 11, "'$a' is 3px, but it must be at most 2px", NULL);
    pipe_one_error("param a = 3px min=5Hz\nsoften $a", 1, 19, "'a' is a length, but '5Hz' is a frequency", NULL);
    pipe_one_error("param a = 3px min=5 max=2\nsoften $a", 1, 25, "the max of 'a' is below its min", NULL);
    pipe_one_error("param a = clamp min=5\nsoften 2 edge=$a", 1, 11, "'a' has a min or max, but is not a number", NULL);
    pipe_one_error("param a = 3 mim=5\nsoften $a", 1, 13, "'param' does not know 'mim'", "did you mean 'min'?");
    pipe_one_error("param a = 3 4\nsoften $a", 1, 13,
                   "'param' takes one value; what follows is min=, max= or help=", NULL);
    pipe_one_error("param a = 3 help=\"x\" help=\"y\"\nsoften $a", 1, 22, "'help' is given twice", NULL);
    pipe_one_error("param a = 3\nparam a = 4\nsoften $a", 2, 7, "parameter 'a' is declared twice", NULL);
    pipe_one_error("param a = @input\nsoften $a", 1, 11, "a parameter holds a value, not a picture", NULL);
    pipe_one_error("param 2a = 3", 1, 7, "'param' needs a name of letters, digits and _, found '2a'", NULL);
    pipe_one_error("param a 3", 1, 9, "'param' needs '=' after its name, found '3'", NULL);
    pipe_one_error("param", 1, 6, "'param' needs a name of letters, digits and _, found the end of the line", NULL);
    pipe_one_error("soften $a\nparam a = 3", 1, 8, "there is no parameter '$a'", NULL);
    pipe_one_error("param paper = 3\nsoften $papre", 2, 8, "there is no parameter '$papre'", "did you mean '$paper'?");
    pipe_one_error("param a = 3Hz\nsoften $a", 2, 8, "'sigma' is a length, but '$a' (3Hz) is a frequency", NULL);
    pipe_one_error("param a = 3pz\nsoften $a", 2, 8, "unknown unit 'pz' in '3pz'", NULL);
    pipe_one_error("param a = \"x\"\nsoften $a", 2, 8, "'sigma' must be above 0 to 1000 px, not '$a' (x)", NULL);
}

SMP_TEST(bounds_hold_for_values_that_wait_for_a_shape)
{
    pipe_case c = pipe_good("param r = {width/10} max=50px\nparam s = {$r+1px}\nsoften {$s*2}\n");
    soften_params params;
    smp_shape small = {.kind = SMP_IMAGE, .width = 100, .height = 1, .channels = 1}, large = small;
    large.width = 1000;
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &small, NULL, NULL, &params, &c.err), SMP_OK);
    assert_true(params.sigma == 22);
    assert_int_equal(smp_node_params(c.program, &c.program->nodes[0], &large, NULL, NULL, &params, &c.err), SMP_E_PIPE);
    assert_string_equal(c.err.message, "'$r' is 100px, but it must be at most 50px");
    pipe_done(&c);
}

SMP_TEST(an_include_is_a_stage_of_its_own_scope)
{
    static const file files[] = {
        {"common/denoise.pipe", "smempipe 1\nkind image\nparam strength = 0.5 min=0 max=1\nparam size = 2px\n"
                                "light linear\nsoften $size -> @soft\nfrom @input\ncombine by=@soft clip=$strength\n"},
    };
    pipe_case c = parse_in("param s = 0.2\nnegate -> @soft\ninclude \"common/denoise.pipe\" strength={$s*2} -> @clean\n"
                           "combine @soft\ncombine @clean\n",
                           files, 1);
    if (c.diags.count)
        pipe_show(&c);
    assert_int_equal(c.code, SMP_OK);
    assert_int_equal(c.diags.count, 0);
    const smp_program *p = c.program;
    assert_int_equal(p->node_count, 5);
    assert_int_equal(p->nodes[1].input, 0);  /* soften reads what flowed in */
    assert_int_equal(p->nodes[2].input, 0);  /* @input is that too */
    assert_int_equal(p->nodes[2].second, 1); /* its own @soft */
    assert_int_equal(p->nodes[3].input, 2);
    assert_int_equal(p->nodes[3].second, 0); /* the outer @soft */
    assert_int_equal(p->nodes[4].second, 2);
    assert_int_equal(p->nodes[1].light, SMP_LIGHT_LINEAR);
    assert_int_equal(p->nodes[3].light, SMP_LIGHT_ENCODED);
    assert_int_equal(p->param_count, 1); /* only the main text's are public */
    combine_params combine;
    pipe_params(&c, 2, &combine);
    assert_true(combine.clip == 0.4);
    pipe_done(&c);
}

SMP_TEST(a_file_is_loaded_once)
{
    static const file files[] = {{"a.pipe", "negate\ninclude \"b.pipe\"\n"}, {"b.pipe", "soften 2px\n"}};
    folder in = {files, 2, 0};
    static const char text[] = "include \"a.pipe\"\ninclude \"b.pipe\"\ninclude \"a.pipe\"\n";
    pipe_case c = pipe_parse_with(text, strlen(text), NULL, 0, load, &in);
    assert_int_equal(c.code, SMP_OK);
    assert_int_equal(in.loads, 2);
    assert_int_equal(c.program->node_count, 5);
    assert_int_equal(c.program->output, 4);
    for (int i = 0; i < 5; i++)
        assert_int_equal(c.program->nodes[i].input, i - 1);
    pipe_done(&c);
}

SMP_TEST(paths_are_seen_from_the_including_file)
{
    static const file files[] = {{"x/a.pipe", "include \"y/b.pipe\"\n"},
                                 {"x/y/b.pipe", "include \"../c.pipe\"\n"},
                                 {"x/y/../c.pipe", "negate\n"}};
    pipe_case c = parse_in("include \"x/a.pipe\"\n", files, 3);
    assert_int_equal(c.code, SMP_OK);
    assert_int_equal(c.program->node_count, 1);
    pipe_done(&c);
}

SMP_TEST(mistakes_in_an_include_say_where_it_came_from)
{
    static const file files[] = {{"d/a.pipe", "param k = 2\n# twice included, once reported\nsofte $k\n"}};
    expect(parse_in("include \"d/a.pipe\"\ninclude \"d/a.pipe\"\nnegat\n", files, 1),
           "t.pipe:3:1: error: unknown stage 'negat'\n"
           "   3 | negat\n"
           "     | ^~~~~ did you mean 'negate'?\n"
           "d/a.pipe:3:1: error: unknown stage 'softe'\n"
           "   3 | softe $k\n"
           "     | ^~~~~ did you mean 'soften'?\n"
           "     = note: included from t.pipe:1:9\n");
    expect(parse_in("include \"d/a.pipe\" kk=3\n", (const file[]){{"d/a.pipe", "param k = 2\nsoften $k\n"}}, 1),
           "t.pipe:1:20: error: 'd/a.pipe' has no parameter 'kk'\n"
           "   1 | include \"d/a.pipe\" kk=3\n"
           "     |                    ^~\n"
           "     = note: its parameters: k\n");
    expect(parse_in("param k = 2\nsoften $k\ninclude \"a.pipe\"\n", (const file[]){{"a.pipe", "soften $k\n"}}, 1),
           "a.pipe:1:8: error: there is no parameter '$k'\n"
           "   1 | soften $k\n"
           "     |        ^~\n"
           "     = note: an included text does not see it; declare it here and pass it: include ... k=$k\n"
           "     = note: included from t.pipe:3:9\n");
    expect(parse_in("include \"a.pipe\" k=9\n", (const file[]){{"a.pipe", "param k = 2 max=3\nsoften $k\n"}}, 1),
           "t.pipe:1:20: error: '$k' is 9, but it must be at most 3\n"
           "   1 | include \"a.pipe\" k=9\n"
           "     |                    ^\n");
    expect(parse_in("cut 440\ninclude \"a.pipe\"\n", (const file[]){{"a.pipe", "kind image\nnegate\n"}}, 1),
           "a.pipe:1:1: error: this is for a picture, but is given a sound\n"
           "   1 | kind image\n"
           "     | ^~~~~~~~~~\n"
           "     = note: included from t.pipe:2:9\n");
}

SMP_TEST(includes_that_cannot_be_are_errors)
{
    expect(parse_in("include \"none.pipe\"\n", NULL, 0), "t.pipe:1:9: error: cannot include 'none.pipe'\n"
                                                         "   1 | include \"none.pipe\"\n"
                                                         "     |         ^~~~~~~~~~~\n"
                                                         "     = note: no file 'none.pipe'\n");
    expect(pipe_parse("include \"a.pipe\"\n"), "t.pipe:1:9: error: files cannot be included here\n"
                                               "   1 | include \"a.pipe\"\n"
                                               "     |         ^~~~~~~~\n");
    pipe_one_error("include", 1, 1, "'include' needs a file name in double quotes", NULL);
    pipe_one_error("include a.pipe", 1, 9, "'include' needs a file name in double quotes", NULL);
    pipe_one_error("include \"\"", 1, 9, "the file name is empty", NULL);
    static const file bad[] = {{"a.pipe", "negate \xFF\n"}};
    expect(parse_in("include \"a.pipe\"\n", bad, 1),
           "a.pipe:1:8: error: this is not UTF-8 text (byte 0xff)\n"
           "   1 | negate \xEF\xBF\xBD\n"
           "     |        ^\n"
           "     = note: save the file as UTF-8; comments and file names may use any "
           "language\n"
           "     = note: included from t.pipe:1:9\n");
}

SMP_TEST(cycles_are_found)
{
    static const file files[] = {{"a.pipe", "include \"d/b.pipe\"\n"},
                                 {"d/b.pipe", "include \"../a.pipe\"\n"},
                                 {"d/../a.pipe", "include \"d/b.pipe\"\n"}};
    expect(parse_in("include \"./a.pipe\"\n", (const file[]){{"./a.pipe", "include \"a.pipe\"\n"}}, 1),
           "./a.pipe:1:9: error: 'a.pipe' includes itself\n"
           "   1 | include \"a.pipe\"\n"
           "     |         ^~~~~~~~\n"
           "     = note: it is being included already\n"
           "     = note: included from t.pipe:1:9\n");
    expect(parse_in("include \"a.pipe\"\n", files, 3), "d/b.pipe:1:9: error: '../a.pipe' includes itself\n"
                                                       "   1 | include \"../a.pipe\"\n"
                                                       "     |         ^~~~~~~~~~~\n"
                                                       "     = note: it is being included already\n"
                                                       "     = note: included from a.pipe:1:9\n"
                                                       "     = note: included from t.pipe:1:9\n");
    expect(parse_in("include \"x/../t.pipe\"\n", NULL, 0), "t.pipe:1:9: error: 'x/../t.pipe' includes itself\n"
                                                           "   1 | include \"x/../t.pipe\"\n"
                                                           "     |         ^~~~~~~~~~~~~\n");
}

/* A loader for which every file is there, and each includes the next in another folder: no cycle can be seen. */
static smp_code load_deeper(void *context, const char *including, const char *path, char **text, size_t *length,
                            smp_error *err)
{
    (void)including, (void)path, (void)err;
    ++*(int *)context;
    *text = smp_strdup("negate\ninclude \"x/a.pipe\"\n");
    *length = *text ? strlen(*text) : 0;
    return *text ? SMP_OK : SMP_E_MEMORY;
}

static smp_code load_doubling(void *context, const char *including, const char *path, char **text, size_t *length,
                              smp_error *err)
{
    (void)including, (void)path, (void)err;
    ++*(int *)context;
    *text = smp_strdup("include \"x/a.pipe\"\ninclude \"y/a.pipe\"\n");
    *length = *text ? strlen(*text) : 0;
    return *text ? SMP_OK : SMP_E_MEMORY;
}

SMP_TEST(includes_without_end_are_stopped)
{
    static const char text[] = "include \"a.pipe\"\n";
    int loads = 0;
    pipe_case c = pipe_parse_with(text, strlen(text), NULL, 0, load_deeper, &loads);
    assert_int_equal(c.code, SMP_E_PIPE);
    assert_int_equal(c.diags.count, 1);
    assert_string_equal(c.diags.items[0].message, "includes are nested more than 16 deep");
    assert_int_equal(loads, 16);
    pipe_done(&c);
    loads = 0;
    c = pipe_parse_with(text, strlen(text), NULL, 0, load_doubling, &loads);
    assert_int_equal(c.code, SMP_E_PIPE);
    assert_true(loads <= 1000);
    pipe_done(&c);
}

SMP_TESTS_AROUND(pipe_setup, pipe_teardown)
